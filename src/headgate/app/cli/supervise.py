"""Workers, interrupts and command hints that `run`, `queue run` and `worker` share."""

import asyncio
import shlex
import signal
import sys
from collections.abc import Callable, Collection, Sequence
from types import TracebackType
from typing import Self

from headgate.app.cli.runtime import CliContext
from headgate.app.processes.launcher import ProcessLauncher
from headgate.app.settings import Settings
from headgate.app.telemetry import LogObserver
from headgate.core.redact_text import redacted
from headgate.core.words import agreeing, counted
from headgate.engine.supervisor import RunReport, Supervisor, Work
from headgate.ports.store import Store

SIGNALS = (signal.SIGINT, signal.SIGTERM)
FORGOTTEN = frozenset({"--new", "--retry-failed"})
"""Flags that `same_command` leaves out: they must not apply a second time."""


class Interrupts:
    """Calls `hit` with 1 for the first SIGINT or SIGTERM, with 2 for the second, and so on."""

    def __init__(self, hit: Callable[[int], None]) -> None:
        self._hit = hit
        self.count = 0

    def __enter__(self) -> Self:
        loop = asyncio.get_running_loop()
        for number in SIGNALS:
            loop.add_signal_handler(number, self._received)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        loop = asyncio.get_running_loop()
        for number in SIGNALS:
            loop.remove_signal_handler(number)

    def _received(self) -> None:
        self.count += 1
        self._hit(self.count)


def build_supervisor(cli: CliContext, settings: Settings, store: Store) -> Supervisor:
    return Supervisor(
        store=store,
        launcher=ProcessLauncher(settings),
        clock=cli.clock,
        observer=LogObserver(settings.log.level),
        policies=settings.policies,
    )


async def supervise(
    supervisor: Supervisor, work: Work, on_interrupt: Callable[[int], None]
) -> RunReport:
    """Run workers. One interrupt lets running items finish; a second one requeues them."""

    def hit(count: int) -> None:
        supervisor.stop()
        on_interrupt(count)

    with Interrupts(hit):
        return await supervisor.run(work)


def stopping(count: int, running: int) -> str:
    if count > 1:
        return "stopping the running items; they run again later…"
    if not running:
        return "stopping…"
    them = agreeing(running, "it", "them")
    return f"finishing {counted(running, 'running item')}… press Ctrl-C again to stop {them} now"


def same_command(arguments: Sequence[str] | None = None, without: Collection[str] = ()) -> str:
    """The command line that resumes this command, without secrets.

    Options in `without` are left out, each with its value.
    """
    given = sys.argv[1:] if arguments is None else arguments
    words = iter(word for word in given if word not in FORGOTTEN)
    kept = []
    for word in words:
        if word in without:
            next(words, None)
        elif word.partition("=")[0] not in without:
            kept.append(redacted(word))
    return shlex.join(["headgate", *kept])


SHARED = ("--db", "-c", "--server")
"""Options that name the store or the server; each has a value."""


def command_here(words: str, arguments: Sequence[str] | None = None) -> str:
    given = iter(sys.argv[1:] if arguments is None else arguments)
    kept = []
    for word in given:
        if word in SHARED:
            kept += [word, redacted(next(given, ""))]
        elif word.partition("=")[0] in SHARED:
            kept.append(redacted(word))
    return " ".join(["headgate", words, *([shlex.join(kept)] if kept else [])])
