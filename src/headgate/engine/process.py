"""Processes of this machine: unique names, states and memory, and whether the machine is busy.

A name is not mistaken for another process that has the same pid later. Linux answers from /proc.
psutil is used elsewhere, because loading it takes as long as a command.
"""

import os
import signal
import socket
from pathlib import Path

import msgspec

_START_FIELD = 19
"""Position of the start time in /proc/PID/stat after the command name."""
_DEAD = frozenset("ZX")
"""States of a process that has ended but still has an entry."""


class ProcessName(msgspec.Struct, frozen=True):
    """A name that no other process ever has."""

    host: str
    boot_id: str
    pid: int
    started_ticks: int


def this_host() -> str:
    return socket.gethostname()


def boot_id() -> str:
    file = Path("/proc/sys/kernel/random/boot_id")
    if file.exists():
        return file.read_text().strip()
    import psutil  # noqa: PLC0415  only without /proc

    return str(int(psutil.boot_time()))


def started_ticks(pid: int) -> int | None:
    """When a process began, on a clock that cannot be set; None if it is gone.

    A zombie counts as gone: PID 1 of a container may not reap zombies.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return None if fields[0] in _DEAD else int(fields[_START_FIELD])
    except FileNotFoundError:
        pass
    except ProcessLookupError:
        return None
    if Path("/proc/self/stat").exists():
        return None
    import psutil  # noqa: PLC0415  only without /proc

    try:
        return int(psutil.Process(pid).create_time() * 100)
    except psutil.NoSuchProcess:
        return None


def process_name(pid: int) -> ProcessName:
    return ProcessName(this_host(), boot_id(), pid, started_ticks(pid) or 0)


def is_gone(name: ProcessName) -> bool:
    """True if a process of this machine is certainly dead; never true for other machines."""
    if name.host != this_host():
        return False
    if name.boot_id != boot_id():
        return True
    return started_ticks(name.pid) != name.started_ticks


def cause_of_exit(code: int) -> str:
    if code < 0:
        named = {number.value: number.name for number in signal.Signals}
        return f"killed by {named.get(-code, f'signal {-code}')}"
    return f"exited with code {code}"


class Forks:
    """Counts forks. Asking the system for the process id twice per row costs 1 % of a drain."""

    count = 0
    """Forks between the process that loaded this module and this process."""


def _count_fork() -> None:
    Forks.count += 1


os.register_at_fork(after_in_child=_count_fork)


def end_if_forked(home: int) -> None:
    """End this process if a handler forked it: `home` is `Forks.count` before the handler ran.

    The child holds a copy of the worker, which would go on as a second one. A child that ends by
    itself, as those of `multiprocessing` do, never comes here.
    """
    if Forks.count != home:
        os._exit(0)


MEGABYTE = 1024 * 1024
FULL = 0.95
"""The machine counts as busy above this share of memory in use."""
_PROC = Path("/proc")
_HALTED = frozenset("TtZX")
"""States in /proc/PID/stat: stopped, stopped by a debugger, zombie, dead."""


def is_stopped(pid: int) -> bool:
    """True if a process is frozen (SIGSTOP) or already dead."""
    if not _has_proc():
        return _psutil_is_stopped(pid)
    stat = _read(f"{pid}/stat")
    return stat is None or stat.rpartition(")")[2].split()[0] in _HALTED


def resident_mb(pid: int) -> float:
    if not _has_proc():
        return _psutil_resident(pid) / MEGABYTE
    statm = _read(f"{pid}/statm")
    return 0.0 if statm is None else int(statm.split()[1]) * os.sysconf("SC_PAGESIZE") / MEGABYTE


def machine_is_busy() -> bool:
    """True if memory is nearly used up or the load is far above the number of cores."""
    return memory_in_use() > FULL or os.getloadavg()[0] > 4 * (os.cpu_count() or 1)


def memory_in_use() -> float:
    """The share of the machine's memory that cannot be given to a process without swapping."""
    fields = (line.partition(":") for line in (_read("meminfo") or "").splitlines())
    sizes = {name: int(rest.split()[0]) for name, _, rest in fields}
    if "MemAvailable" not in sizes:
        return _psutil_memory_in_use()
    return 1 - sizes["MemAvailable"] / sizes["MemTotal"]


def _has_proc() -> bool:
    return (_PROC / "self" / "stat").exists()


def _read(name: str) -> str | None:
    try:
        return (_PROC / name).read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None


def _psutil_is_stopped(pid: int) -> bool:
    import psutil  # noqa: PLC0415  see above

    halted = {psutil.STATUS_STOPPED, psutil.STATUS_TRACING_STOP, psutil.STATUS_ZOMBIE}
    try:
        return psutil.Process(pid).status() in halted
    except psutil.NoSuchProcess:
        return True


def _psutil_resident(pid: int) -> float:
    import psutil  # noqa: PLC0415  see above

    try:
        return float(psutil.Process(pid).memory_info().rss)
    except psutil.NoSuchProcess:
        return 0.0


def _psutil_memory_in_use() -> float:
    import psutil  # noqa: PLC0415  see above

    return float(psutil.virtual_memory().percent) / 100
