"""A pipe that holds some pages, so that both of its ends can work at the same time."""

import contextlib
import fcntl
from typing import IO

HELD_BYTES = 1024 * 1024
"""As much as Linux gives an ordinary account; 64 kB of it are there unasked."""


def widened(pipe: IO[bytes] | None) -> IO[bytes]:
    """The pipe of a process that was started with one, as wide as the system allows."""
    if pipe is None:
        raise RuntimeError("the process was started without pipes")
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        with contextlib.suppress(OSError):  # the account has used up what it may hold in pipes
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, HELD_BYTES)
    return pipe
