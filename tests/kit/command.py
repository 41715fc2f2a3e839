"""A running `headgate` command with all its processes, to be waited for, frozen and killed."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeVar

import psutil

Answer = TypeVar("Answer")

EXECUTABLE = Path(sys.executable).with_name("headgate")
STEP_S = 0.005
PATIENCE_S = 1_200.0 if os.environ.get("HEADGATE_SOAK") == "1" else 120.0
"""How long a broken program may keep us; a storm at full size takes its time."""


def until(
    condition: Callable[[], Answer | None], timeout_s: float = PATIENCE_S, what: str = ""
) -> Answer:
    """Wait until the condition is true and return what it said, or fail after the timeout."""
    deadline = time.monotonic() + timeout_s
    while True:
        asked = time.monotonic()
        if answer := condition():
            return answer
        if asked > deadline:
            raise AssertionError(f"waited {timeout_s:g} s in vain{f' for {what}' if what else ''}")
        # A question that takes long must not slow down what it waits for.
        time.sleep(max(STEP_S, 3 * (time.monotonic() - asked)))


def living(processes: list[psutil.Process]) -> list[psutil.Process]:
    """The processes that still run; a zombie only waits for its parent."""
    alive = []
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            if process.status() != psutil.STATUS_ZOMBIE:
                alive.append(process)
    return alive


class Ended(NamedTuple):
    """How a command ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON document on standard output."""
        return json.loads(self.out)


class Command:
    """One command in a process group of its own; leaving the block kills what is left of it."""

    def __init__(
        self,
        folder: Path,
        words: list[str],
        environment: Mapping[str, str],
        stderr: int | None = None,
    ) -> None:
        """`stderr`: a descriptor to write talk to, instead of a file that `talk` reads."""
        number = len(list(folder.glob("command-*.out")))
        self._out = folder / f"command-{number}.out"
        self._err = folder / f"command-{number}.err"
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self._process = subprocess.Popen(
                [str(EXECUTABLE), *words],
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err if stderr is None else stderr,
                start_new_session=True,
            )
        self.pid = self._process.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.kill()

    @property
    def running(self) -> bool:
        """Whether the command itself has not ended yet."""
        return self._process.poll() is None

    @property
    def talk(self) -> str:
        """What it has written to standard error until now."""
        return self._err.read_text()

    @property
    def said(self) -> str:
        """What it has written to standard output until now, in whole lines."""
        return "".join(self._out.read_text().rpartition("\n")[:2])

    @property
    def workers(self) -> list[psutil.Process]:
        """Its living children."""
        try:
            return living(psutil.Process(self.pid).children(recursive=True))
        except psutil.NoSuchProcess:
            return []

    def wait(self, timeout_s: float = PATIENCE_S) -> Ended:
        """How it ended, once it has."""
        try:
            code = self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still running after {timeout_s:g} s:\n{self.talk}") from None
        return Ended(code, self._out.read_text(), self.talk)

    def interrupt(self) -> None:
        """Ctrl-C: a terminal sends it to every process of the command."""
        os.killpg(self.pid, signal.SIGINT)

    def freeze(self) -> None:
        """Stop every process of the command where it is; returns when they stand still."""
        members = [psutil.Process(self.pid), *self.workers]
        os.killpg(self.pid, signal.SIGSTOP)
        until(
            lambda: {member.status() for member in members} == {psutil.STATUS_STOPPED},
            what="every process to stand still",
        )

    def wake(self) -> None:
        """Let all of them go on."""
        os.killpg(self.pid, signal.SIGCONT)

    def kill(self) -> None:
        """Kill -9 of every process at once; returns when the command is gone."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()

    def kill_supervisor(self) -> None:
        """Kill -9 of the parent alone."""
        os.kill(self.pid, signal.SIGKILL)
        self._process.wait()
