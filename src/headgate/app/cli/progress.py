"""The progress of a job, and what limits it.

A live bar shows it on a terminal; otherwise a line is printed every few seconds.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

from headgate.app.cli.output import Output
from headgate.app.cli.render.times import by_the_clock, wait_in_words
from headgate.core.errors import HeadgateError, StoreError, UnknownJob
from headgate.core.gates.keys import gate_name
from headgate.core.gates.wait import WaitKind
from headgate.core.job import Counts, Job
from headgate.core.status import FINISHED, ITEM_DISPLAY, ItemStatus, JobState
from headgate.core.words import counted
from headgate.engine.eta import Band, HoldPeriod, Meter, band_in_words
from headgate.engine.gate_control import JobGates
from headgate.engine.why import LimitedBy, limit_of_run
from headgate.ports.clock import Clock
from headgate.ports.reads import ReadStore
from headgate.ports.store import Store

if TYPE_CHECKING:
    from rich.console import RenderableType

    from headgate.app.cli.live_bar import LiveBar


FindLimit = Callable[[], Awaitable[LimitedBy]]
ReadLines = Callable[[], Awaitable[Sequence[str]]]
"""Reads lines about a job that are shown below its counters."""
CountChosen = Callable[[int], Awaitable[Counts | None]]
"""Counts the chosen rows of a job; returns None if all rows were chosen."""


def limit_finder(store: Store, gates: JobGates, job_id: int, count: CountChosen) -> FindLimit:
    """A function that finds what limits a job that this command's own workers run.

    It returns an empty `LimitedBy` while the store is unreachable.
    """

    async def find() -> LimitedBy:
        try:
            return await limit_of_run(store, gates, job_id, await count(job_id))
        except HeadgateError:  # the workers report the error
            return LimitedBy()

    return find


async def nothing_known() -> LimitedBy:
    return LimitedBy()


async def no_lines() -> Sequence[str]:
    return ()


def limit_text(limit: LimitedBy, now_us: int) -> str:
    """`limited by wikidata: the learned rate, 4.9/s`; empty at full speed."""
    wait = limit.wait
    if wait is None or wait.kind is WaitKind.RUNNING:
        return ""
    words = wait_in_words(wait, now_us)
    if not wait.why.startswith(f"{gate_name(wait.gate)}: "):
        return words
    views = limit.reading.views if limit.reading else ()
    others = sum(view.holds for view in views) - 1
    more = f" (and {counted(others, 'other gate')})" if others > 0 else ""
    return f"limited by {words}{more}"


TICK_S = 0.25
LINE_S = 5.0
"""Seconds between two lines, without a live bar."""
LONGEST_S = 300.0
"""Longest pause between two lines in seconds; the pause doubles while nothing changes."""
PAUSE_CHECK_S = 1.0
"""Seconds between two checks whether the job was paused."""
LIMIT_CHECK_S = 1.0
"""Seconds between two checks of what limits the job's speed."""


class Progress:
    """Shows a job's counters while the block runs. Reads counters only, never rows."""

    def __init__(
        self,
        screen: Output,
        clock: Clock,
        reads: ReadStore,
        job_id: int,
        find_limit: FindLimit = nothing_known,
    ) -> None:
        self._screen = screen
        self._clock = clock
        self._reads = reads
        self._job_id = job_id
        self._count: Callable[[], Awaitable[Counts]] = lambda: reads.counts(job_id)
        self._find_limit = find_limit
        self._read_lines: ReadLines = no_lines
        self._lines: Sequence[str] = ()
        self._limit = LimitedBy()
        self._limit_s = clock.monotonic()
        self._meter = Meter()
        self._counts = Counts()
        self._reading = False
        self._note = ""
        self._failing = ""
        self._printed: set[str] = set()
        self._hint = ""
        self._live: LiveBar | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._printed_s = clock.monotonic()
        self._pause_checked_s = clock.monotonic()
        self._state: object = None
        self._changed_s = clock.monotonic()
        self._paused = False

    async def __aenter__(self) -> Self:
        if not self._screen.quiet:
            if self._screen.live:
                from headgate.app.cli.live_bar import LiveBar  # noqa: PLC0415  see `_bar`

                self._live = LiveBar(self._screen.stderr)
            self._tasks = [
                asyncio.create_task(each) for each in (self._watch(), self._find_limits())
            ]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with contextlib.suppress(asyncio.CancelledError):
                await task
        if self._live is not None:
            self._live.stop()

    def reading(self) -> None:
        self._reading = True
        self._meter = Meter()

    def working(self) -> None:
        self._reading = False
        self._meter = Meter()

    def note(self, text: str, *, aloud: bool = True) -> None:
        """Show a remark below the bar; with `aloud`, print it if no bar is shown."""
        self._note = text
        if self._live is None and aloud:
            self._screen.say(text)

    def only(self, count: Callable[[], Awaitable[Counts]]) -> None:
        """Show the counters that `count` returns, instead of those of the whole job."""
        self._count = count
        self._meter = Meter()

    def below(self, read: ReadLines) -> None:
        """Show these lines below the counters, and read them again each second."""
        self._read_lines = read

    def failing(self, remark: str, kind: str, hint: str = "") -> None:
        """Show which rows fail; without a bar, print a line for each new kind of failure."""
        self._failing = remark
        if remark and kind not in self._printed and self._live is None:
            self._printed.add(kind)
            self._screen.say(remark, "red")
        if hint and hint != self._hint:
            self._hint = hint
            if self._live is None:
                self._screen.say(hint, "yellow")

    @property
    def counts(self) -> Counts:
        return self._counts

    async def _watch(self) -> None:
        while True:
            # The workers report a store that is unreachable or a job that was deleted; the
            # bar only waits.
            with contextlib.suppress(StoreError, UnknownJob):
                self._counts = await self._count()
                moved = self._counts.total if self._reading else self._counts.finished
                self._meter.add(self._clock.monotonic(), moved)
                await self._check_pause()
                self._show()
            await self._clock.sleep(TICK_S)

    async def _find_limits(self) -> None:
        while True:
            self._limit = LimitedBy() if self._reading else await self._find_limit()
            self._limit_s = self._clock.monotonic()
            with contextlib.suppress(StoreError, UnknownJob):
                self._lines = await self._read_lines()
            await self._clock.sleep(LIMIT_CHECK_S)

    @property
    def _cause(self) -> str:
        """What limits the job, with the remaining time as of now."""
        at = self._limit.at
        if at is None or not self._counts.open:
            return ""
        since_us = int((self._clock.monotonic() - self._limit_s) * 1_000_000)
        return limit_text(self._limit, at.now_us + since_us)

    def _eta(self) -> Band | None:
        if self._limit.is_untimed:
            return None
        held = self._limit.held
        if held is not None:
            since_s = self._clock.monotonic() - self._limit_s
            held = HoldPeriod(max(held.seconds - since_s, 0.0), held.per_s)
        return self._meter.eta(self._counts.open, held)

    async def _check_pause(self) -> None:
        now_s = self._clock.monotonic()
        if now_s - self._pause_checked_s < PAUSE_CHECK_S:
            return
        self._pause_checked_s = now_s
        job = await self._reads.job(self._job_id)
        paused = job.state is JobState.PAUSED
        if paused != self._paused:
            self._paused = paused
            self.note(_pause_text(job, self._clock.now()) if paused else "resumed")

    def _show(self) -> None:
        if self._live is not None:
            self._live.show(self._bar())
        elif self._clock.monotonic() - self._printed_s >= self._line_interval_s():
            self._printed_s = self._clock.monotonic()
            self._screen.say(" · ".join(self.words()))
            for line in self._lines:
                self._screen.say(f"  {line}")

    def _line_interval_s(self) -> float:
        """Seconds until the next line; grows while nothing changes."""
        state = (self._counts, self._reading, bool(self._cause))
        if state != self._state:
            self._state, self._changed_s = state, self._clock.monotonic()
        return min(max(LINE_S, self._printed_s - self._changed_s), LONGEST_S)

    def words(self) -> list[str]:
        rate = self._meter.rate()
        speed = [rate_text(rate)] if rate is not None else []
        counts = self._counts
        if self._reading:
            return [f"reading: {counted(counts.total, 'row')}", *speed]
        eta = band_in_words(self._eta())
        left = [f"{eta} left"] if speed and counts.open and not self._limit.is_untimed else []
        cause = [self._cause] if self._cause else []
        return [f"{counts.finished:,} of {counts.total:,}", *self._details(), *speed, *left, *cause]

    def troubles(self) -> tuple[str, str]:
        """What limits the job, and which rows fail; a text in both is shown once."""
        wait = self._limit.wait
        if not self._failing or wait is None or wait.kind is not WaitKind.RETRY:
            return self._cause, self._failing
        when = self._cause.partition("; ")[2]
        return "", f"{self._failing}; {when}" if when else self._failing

    def _details(self) -> list[str]:
        finished = [status for status in ItemStatus if status in FINISHED]
        always = [status for status in finished if ITEM_DISPLAY[status].always_counted]
        others = [status for status in finished if status not in always and self._counts.of(status)]
        return [
            f"{ITEM_DISPLAY[status].noun(0)} {self._counts.of(status):,}"
            for status in (*always, *others)
        ]

    def _bar(self) -> "RenderableType":
        # Imported for a terminal only: importing Rich takes longer than a short job.
        from headgate.app.cli.live_bar import Remarks, bar, plain_line  # noqa: PLC0415

        if self._reading:
            return plain_line(" · ".join(self.words()))
        counts = self._counts
        rate = self._meter.rate()
        speed = rate_text(rate) if rate is not None else ""
        is_timed = counts.open and not self._limit.is_untimed
        left = f"{band_in_words(self._eta())} left" if is_timed else ""
        remarks = Remarks(*self.troubles(), self._hint, self._note, self._lines)
        return bar(counts, speed, left, self._details(), remarks)


def rate_text(per_s: float) -> str:
    """Items per second, with a decimal below 10."""
    return f"{per_s:,.0f}/s" if per_s >= 10 or not per_s else f"{per_s:.1f}/s"


def _pause_text(job: Job, now_us: int) -> str:
    if job.resume_at is None:
        why = f": {job.pause_reason}" if job.pause_reason else ""
        return f"paused{why}; continue with: headgate jobs resume {job.id}"
    return f"paused until {by_the_clock(job.resume_at, now_us)}: {job.pause_reason}"
