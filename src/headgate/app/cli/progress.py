"""How far a job is: a live bar on a terminal, a line now and then elsewhere."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self

from rich.console import Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from headgate.app.cli.screen import Screen
from headgate.app.cli.shapes import by_the_clock
from headgate.core.errors import StoreError, UnknownJob
from headgate.core.job import Counts, Job
from headgate.core.status import JobState
from headgate.engine.explain import Meter, band_in_words
from headgate.ports.clock import Clock
from headgate.ports.reads import ReadStore

TICK_S = 0.25
LINE_S = 5.0
"""Between two lines where no terminal can redraw one."""
LOOK_S = 1.0
"""Between two looks at whether somebody paused the job."""
WONDER_S = 2.0
"""Between two looks at what limits the job's speed."""


async def nothing_known() -> str:
    """No cause is known."""
    return ""


class Progress:
    """Shows a job's counters while the block runs; reads them a few times a second, never rows."""

    def __init__(
        self,
        screen: Screen,
        clock: Clock,
        reads: ReadStore,
        job_id: int,
        cause: Callable[[], Awaitable[str]] = nothing_known,
    ) -> None:
        self._screen = screen
        self._clock = clock
        self._reads = reads
        self._job_id = job_id
        self._find_cause = cause
        self._cause = ""
        self._meter = Meter()
        self._counts = Counts()
        self._reading = False
        self._note = ""
        self._live: Live | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._spoke_at = clock.monotonic()
        self._looked_s = clock.monotonic()
        self._paused = False

    async def __aenter__(self) -> Self:
        """Begin to show, unless nobody wants to see."""
        if not self._screen.quiet:
            if self._screen.live:
                self._live = Live(console=self._screen.talk, auto_refresh=False, transient=True)
                self._live.start()
            self._tasks = [asyncio.create_task(each) for each in (self._watch(), self._wonder())]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop and clear the line; the summary that follows says the rest."""
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with contextlib.suppress(asyncio.CancelledError):
                await task
        if self._live is not None:
            self._live.stop()

    def reading(self) -> None:
        """The source is being read: rows come in, nothing is worked on yet."""
        self._reading = True
        self._meter = Meter()

    def working(self) -> None:
        """The source is read: from now on items are finished."""
        self._reading = False
        self._meter = Meter()

    def note(self, text: str, *, aloud: bool = True) -> None:
        """Show a remark under the bar, such as what an interrupt does; `aloud` also without one."""
        self._note = text
        if self._live is None and aloud:
            self._screen.say(text)

    @property
    def counts(self) -> Counts:
        """The counters as last read."""
        return self._counts

    async def _watch(self) -> None:
        while True:
            # A store that is away for a moment, or a job that was deleted, is the concern of
            # those who work; the bar only waits.
            with contextlib.suppress(StoreError, UnknownJob):
                self._counts = await self._reads.counts(self._job_id)
                moved = self._counts.total if self._reading else self._counts.finished
                self._meter.add(self._clock.monotonic(), moved)
                await self._look_for_pause()
                self._show()
            await self._clock.sleep(TICK_S)

    async def _wonder(self) -> None:
        while True:
            await self._clock.sleep(WONDER_S)
            self._cause = "" if self._reading else await self._find_cause()

    async def _look_for_pause(self) -> None:
        now_s = self._clock.monotonic()
        if now_s - self._looked_s < LOOK_S:
            return
        self._looked_s = now_s
        job = await self._reads.job(self._job_id)
        paused = job.state is JobState.PAUSED
        if paused != self._paused:
            self._paused = paused
            self.note(_pause_in_words(job, self._clock.now()) if paused else "going on")

    def _show(self) -> None:
        if self._live is not None:
            self._live.update(self._bar(), refresh=True)
        elif self._clock.monotonic() - self._spoke_at >= LINE_S:
            self._spoke_at = self._clock.monotonic()
            self._screen.say(" · ".join(self.words()))

    def words(self) -> list[str]:
        """The state of the job in a few words."""
        rate = self._meter.rate()
        speed = [f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s"] if rate is not None else []
        counts = self._counts
        if self._reading:
            return [f"reading: {counts.total:,} rows", *speed]
        eta = band_in_words(self._meter.eta(counts.open))
        left = [f"{eta} left"] if speed and counts.open else []
        cause = [self._cause] if self._cause and counts.open else []
        return [f"{counts.finished:,} of {counts.total:,}", *self._details(), *speed, *left, *cause]

    def _details(self) -> list[str]:
        counts = self._counts
        shown = [f"done {counts.done:,}", f"not found {counts.not_found:,}"]
        shown.append(f"errors {counts.error:,}")
        shown += [f"skipped {counts.skipped:,}"] if counts.skipped else []
        shown += [f"to review {counts.review:,}"] if counts.review else []
        return shown

    def _bar(self) -> RenderableType:
        if self._reading:
            return Text(" · ".join(self.words()))
        counts = self._counts
        rate = self._meter.rate()
        line = Table.grid(padding=(0, 2, 0, 0), expand=True)
        line.add_column(ratio=1)
        for _ in range(4):
            line.add_column(no_wrap=True, justify="right")
        line.add_row(
            ProgressBar(total=max(counts.total, 1), completed=counts.finished),
            f"{counts.finished / max(counts.total, 1):.0%}",
            f"{counts.finished:,} of {counts.total:,}",
            f"{rate:,.0f}/s" if rate is not None else "",
            f"{band_in_words(self._meter.eta(counts.open))} left" if counts.open else "",
        )
        details = Text()
        for number, part in enumerate([*self._details(), f"claimed {counts.processing:,}"]):
            details.append(" · " if number else "", "dim")
            details.append(part, "red" if part.startswith("errors") and counts.error else "")
        cause = self._cause if counts.open else ""
        remarks = [Text(cause, "dim", no_wrap=True, overflow="ellipsis")] if cause else []
        remarks += [Text(self._note, "yellow")] if self._note else []
        return Group(line, details, *remarks)


def _pause_in_words(job: Job, now_us: int) -> str:
    if job.resume_at is None:
        why = f": {job.pause_reason}" if job.pause_reason else ""
        return f"paused{why}; go on with: headgate jobs resume {job.id}"
    return f"paused until {by_the_clock(job.resume_at, now_us)}: {job.pause_reason}"
