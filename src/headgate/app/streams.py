"""Standard streams that are always open, and a standard error that never raises.

A full disk or a closed pipe behind standard error must not end a process that writes a line.
"""

import io
import os
import sys
from typing import Any, TextIO

STANDARD_ERROR = 2


class Lost:
    def __init__(self) -> None:
        self.lines = 0


LOST = Lost()


class _Unfailing(io.RawIOBase):
    """Writes to a descriptor; output that cannot be written is dropped and counted."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def isatty(self) -> bool:
        return os.isatty(self._descriptor)

    def write(self, data: Any, /) -> int:
        try:
            return os.write(self._descriptor, data)
        except OSError:
            LOST.lines += 1
            return len(data)


def unfailing(descriptor: int) -> TextIO:
    """A text stream on a descriptor; writing to it never raises an OSError."""
    buffered = io.BufferedWriter(_Unfailing(descriptor))
    return io.TextIOWrapper(buffered, "utf-8", errors="backslashreplace", line_buffering=True)


def go_on_without_readers(*, stdout: bool = False) -> None:
    """Drop messages of this process that cannot be written, instead of raising.

    With `stdout`, also for standard output, which is for messages in child processes.
    """
    if _descriptor_of(sys.stderr) == STANDARD_ERROR:
        sys.stderr = unfailing(STANDARD_ERROR)
    if stdout:
        sys.stdout = unfailing(1)


def open_missing_streams() -> None:
    """Point closed standard streams to the null device.

    Otherwise the next opened file would get the descriptor of a closed stream, and its output.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            nowhere = os.open(os.devnull, os.O_RDWR)
            if nowhere != number:
                os.dup2(nowhere, number)
                os.close(nowhere)
            os.set_inheritable(number, True)  # noqa: FBT003  its only form
            setattr(sys, name, open(number, "r" if number == 0 else "w", closefd=False))  # noqa: SIM115  it stays open


def flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            LOST.lines += 1


def _descriptor_of(stream: TextIO) -> int | None:
    try:
        return stream.fileno()
    except (OSError, ValueError):  # a stream without a file, as in tests
        return None
