"""Reads process states and memory use from the operating system.

Linux answers from /proc. psutil is used elsewhere, because loading it takes as long as a command.
"""

import os
from pathlib import Path

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


def machine_is_pressed() -> bool:
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
