"""What the machine says of its processes and of itself."""

import os

import psutil

MEGABYTE = 1024 * 1024


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
