"""The control pipe between a child process and its parent.

The child's standard input carries its configuration, then the command to stop; its end means
that the parent is gone.
"""

import asyncio
import ctypes
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

STOP = b"stop\n"
STOP_NOW = b"now\n"
ORPHANED = 2
PR_SET_PDEATHSIG = 1


def die_with_parent() -> None:
    """Ask Linux to kill us when our parent dies, even while a handler holds the interpreter."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


WORDS = frozenset({signal.SIGINT, signal.SIGTERM})
"""Ctrl-C reaches every process of the terminal; systemd signals every process of a service."""


def ignore_signals() -> None:
    """Ignore terminal signals; the parent decides."""
    for each in WORDS:
        signal.signal(each, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, WORDS)


@contextmanager
def signals_blocked() -> Iterator[None]:
    """Block signals while a process is started, so that it starts with them blocked."""
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, WORDS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def take_stdin() -> BinaryIO:
    """Take over standard input: a handler, or a program that it starts, reads nothing."""
    control_pipe = os.fdopen(os.dup(0), "rb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return control_pipe


def read_config(control_pipe: BinaryIO) -> bytes:
    """The first line; exits if the parent closed the pipe without one."""
    line = control_pipe.readline()
    if not line:
        os._exit(ORPHANED)
    return line


def watch_parent(
    control_pipe: BinaryIO,
    loop: asyncio.AbstractEventLoop,
    stop: Callable[[], object],
    stop_now: Callable[[], object],
) -> None:
    """Handle commands in a thread; exit at once when the parent is gone."""

    def listen() -> None:
        for command in control_pipe:
            if command == STOP:
                loop.call_soon_threadsafe(stop)
            elif command == STOP_NOW:
                loop.call_soon_threadsafe(stop_now)
        os._exit(ORPHANED)

    threading.Thread(target=listen, name="control_pipe", daemon=True).start()
