"""The processes of one contender, in process groups of their own."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from benchmarks.measurement import FailedError

STOP_S = 30.0


class Processes:
    def __init__(self, commands: Sequence[Sequence[str]], folder: Path) -> None:
        self._talk = folder / "talk.log"
        with self._talk.open("wb") as talk:
            self._all = [
                subprocess.Popen(
                    words,
                    cwd=folder,
                    stdin=subprocess.DEVNULL,
                    stdout=talk,
                    stderr=talk,
                    start_new_session=True,
                )
                for words in commands
            ]

    def check(self) -> None:
        """All of them must still be at work."""
        if any(each.poll() is not None for each in self._all):
            words = self._talk.read_text(errors="replace").strip().splitlines() or ["no message"]
            raise FailedError(f"it ended too early: {words[-1]}")

    def stop(self) -> None:
        """Ask all of them to end; what is deaf to it is killed."""
        for each in self._all:
            # Not Ctrl-C: what is started in the background of a shell ignores that.
            self._send(each, signal.SIGTERM)
        for each in self._all:
            with contextlib.suppress(subprocess.TimeoutExpired):
                each.wait(STOP_S)
            self._send(each, signal.SIGKILL)
            each.wait()

    @staticmethod
    def _send(process: subprocess.Popen[bytes], sign: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, sign)


@contextmanager
def running(commands: Sequence[Sequence[str]], folder: Path) -> Iterator[Processes]:
    with ExitStack() as stack:
        processes = Processes(commands, folder)
        stack.callback(processes.stop)
        yield processes
