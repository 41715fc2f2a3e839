"""Which process is which: names that outlive pid reuse, and what the machine says of them."""

import os
import signal
import socket
from pathlib import Path

import msgspec
import psutil

MEGABYTE = 1024 * 1024
_START_FIELD = 19
"""Position of the start time in /proc/PID/stat after the command name."""
_DEAD = frozenset("ZX")
"""States of a process that has ended but is not forgotten."""


class ProcessName(msgspec.Struct, frozen=True):
    """Names one process for ever."""

    host: str
    boot_id: str
    pid: int
    started_ticks: int


def this_host() -> str:
    """The name of this machine."""
    return socket.gethostname()


def boot_id() -> str:
    """A name for the time since this machine was started."""
    file = Path("/proc/sys/kernel/random/boot_id")
    return file.read_text().strip() if file.exists() else str(int(psutil.boot_time()))


def started_ticks(pid: int) -> int | None:
    """When a process began, on a clock that nobody can set; None if it is gone.

    A zombie is gone: in a container whose first process buries nobody, it may stay for ever.
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
    try:
        return int(psutil.Process(pid).create_time() * 100)
    except psutil.NoSuchProcess:
        return None


def name_of(pid: int) -> ProcessName:
    """The name of a living process of this machine."""
    return ProcessName(this_host(), boot_id(), pid, started_ticks(pid) or 0)


def is_gone(name: ProcessName) -> bool:
    """Whether a process of this machine is certainly dead; never true for other machines'."""
    if name.host != this_host():
        return False
    if name.boot_id != boot_id():
        return True
    return started_ticks(name.pid) != name.started_ticks


def is_stopped(pid: int) -> bool:
    """Whether a process is frozen (SIGSTOP) or already dead."""
    try:
        return psutil.Process(pid).status() in {
            psutil.STATUS_STOPPED,
            psutil.STATUS_TRACING_STOP,
            psutil.STATUS_ZOMBIE,
        }
    except psutil.NoSuchProcess:
        return True


def resident_mb(pid: int) -> float:
    """How much memory a process holds."""
    try:
        return float(psutil.Process(pid).memory_info().rss) / MEGABYTE
    except psutil.NoSuchProcess:
        return 0.0


def machine_is_pressed() -> bool:
    """Whether memory is nearly gone or far more wants to run than there are cores."""
    if psutil.virtual_memory().percent > 95:
        return True
    return os.getloadavg()[0] > 4 * (os.cpu_count() or 1)


def cause_of_exit(code: int) -> str:
    """An exit code in words."""
    if code < 0:
        named = {number.value: number.name for number in signal.Signals}
        return f"killed by {named.get(-code, f'signal {-code}')}"
    return f"exited with code {code}"
