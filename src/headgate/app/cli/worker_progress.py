"""The progress of a worker: one live line on a terminal, otherwise a line every few seconds."""

import asyncio
import contextlib
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Self

from headgate.app.cli.output import Output
from headgate.app.cli.progress import LINE_S, limit_text, rate_text
from headgate.core.errors import HeadgateError
from headgate.core.gates.config import GateLimits
from headgate.core.gates.wait import WaitKind
from headgate.core.job import Counts, Job
from headgate.core.status import UNFINISHED
from headgate.engine.eta import Meter
from headgate.engine.gate_control import JobGates
from headgate.engine.why import limit_of_job
from headgate.ports.clock import Clock
from headgate.ports.reads import JobQuery
from headgate.ports.store import Store

if TYPE_CHECKING:
    from headgate.app.cli.live_bar import LiveBar

TICK_S = 1.0
"""Seconds between two checks of the jobs."""
WATCHED = 50
"""Number of unfinished jobs that are shown, the newest ones."""


class WorkerProgress:
    """Shows what a worker does while the block runs; prints only changes."""

    def __init__(
        self,
        screen: Output,
        clock: Clock,
        store: Store,
        limits: GateLimits,
        jobs: tuple[int, ...] | None,
    ) -> None:
        self._screen = screen
        self._clock = clock
        self._store = store
        self._limits = limits
        self._chosen = jobs
        self._gates: dict[int, JobGates] = {}
        self._before: dict[int, int] = {}
        """Finished items of each job when it was first seen."""
        self._finished: dict[int, int] = {}
        """Finished items of each job now, or when the job ended."""
        self._ended: set[int] = set()
        self._meter = Meter()
        self._live: LiveBar | None = None
        self._task: asyncio.Task[None] | None = None
        self._printed = ""
        self._printed_s = clock.monotonic()

    async def __aenter__(self) -> Self:
        if not self._screen.quiet:
            if self._screen.live:
                # Imported for a terminal only: importing Rich takes longer than most commands.
                from headgate.app.cli.live_bar import LiveBar  # noqa: PLC0415

                self._live = LiveBar(self._screen.stderr)
            self._task = asyncio.create_task(self._watch())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        if self._live is not None:
            self._live.stop()

    async def _watch(self) -> None:
        while True:
            with contextlib.suppress(HeadgateError):  # the workers report the error
                self._show(await self._words())
            await self._clock.sleep(TICK_S)

    async def _words(self) -> str:
        """The progress in one line; empty if no items are left."""
        found = [(job, await self._store.reads.counts(job.id)) for job in await self._jobs()]
        finished = await self._count({job.id: counts.finished for job, counts in found})
        self._meter.add(self._clock.monotonic(), finished)
        open_ones = [(job, counts) for job, counts in found if counts.open]
        if not open_ones:
            return ""
        rate = self._meter.rate()
        rows = sum(counts.open for _, counts in open_ones)
        parts = [_named(open_ones), f"{finished:,} finished", f"{rows:,} left"]
        parts += [rate_text(rate)] if rate is not None else []
        parts += [cause] if (cause := await self._cause(open_ones[0][0])) else []
        return " · ".join(parts)

    async def _count(self, finished: Mapping[int, int]) -> int:
        """The items that were finished since the start, also in jobs that have ended."""
        for job_id in self._finished.keys() - finished.keys() - self._ended:
            self._finished[job_id] = (await self._store.reads.counts(job_id)).finished
            self._ended.add(job_id)
        self._finished |= finished
        for job_id, count in finished.items():
            self._before.setdefault(job_id, count)
        return sum(self._finished.values()) - sum(self._before.values())

    async def _jobs(self) -> list[Job]:
        reads = self._store.reads
        if self._chosen is not None:
            return [await reads.job(job_id) for job_id in self._chosen]
        return (await reads.jobs(JobQuery(states=UNFINISHED, limit=WATCHED, configs=False)))[::-1]

    async def _cause(self, job: Job) -> str:
        """What limits `job`; a missing worker does not count, because this is a worker."""
        gates = self._gates.setdefault(job.id, JobGates(self._store, self._limits, job.id))
        limit = await limit_of_job(self._store, gates, job.id)
        if limit.at is None or limit.wait is None or limit.wait.kind is WaitKind.WORKER:
            return ""
        return limit_text(limit, limit.at.now_us)

    def _show(self, words: str) -> None:
        if self._live is not None:
            from headgate.app.cli.live_bar import plain_line  # noqa: PLC0415  see __aenter__

            self._live.show(plain_line(words))
            return
        is_time = self._clock.monotonic() - self._printed_s >= LINE_S
        if words and words != self._printed and is_time:
            self._printed_s, self._printed = self._clock.monotonic(), words
            self._screen.say(words)


def _named(jobs: list[tuple[Job, Counts]]) -> str:
    if len(jobs) == 1:
        return f"job {jobs[0][0].id}"
    return f"{len(jobs)} jobs"
