"""What the machine says of its processes and of itself.

Linux answers from /proc. psutil answers elsewhere, for it takes as long to load as a command runs.
"""

import os
from pathlib import Path

MEGABYTE = 1024 * 1024
FULL = 0.95
"""The share of the memory in use beyond which the machine is pressed."""
_PROC = Path("/proc")
_HALTED = frozenset("TtZX")
"""States in /proc/PID/stat: stopped, stopped by a debugger, zombie, dead."""


def is_stopped(pid: int) -> bool:
    """Whether a process is frozen (SIGSTOP) or already dead."""
    if not _has_proc():
        return _psutil_is_stopped(pid)
    stat = _read(f"{pid}/stat")
    return stat is None or stat.rpartition(")")[2].split()[0] in _HALTED


def resident_mb(pid: int) -> float:
    """How much memory a process holds."""
    if not _has_proc():
        return _psutil_resident(pid) / MEGABYTE
    statm = _read(f"{pid}/statm")
    return 0.0 if statm is None else int(statm.split()[1]) * os.sysconf("SC_PAGESIZE") / MEGABYTE


def machine_is_pressed() -> bool:
    """Whether memory is nearly gone or far more wants to run than there are cores."""
    return memory_in_use() > FULL or os.getloadavg()[0] > 4 * (os.cpu_count() or 1)


def memory_in_use() -> float:
    """The share of the machine's memory that nothing could be given without swapping."""
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
