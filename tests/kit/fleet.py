"""Several processes on one real ledger, and a provider that answers them, in virtual time."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any, NamedTuple

from headgate.app.http_factory import HttpFactory
from headgate.app.settings import Settings
from headgate.core.errors import StoreUnreachable
from headgate.core.gates.config import GatePolicy
from headgate.core.provider import ProviderPolicy
from headgate.engine.gates.tree import GateClosed
from headgate.ports.gate import Route, Turn
from headgate.ports.limits import Exchange, LimitLedger, Proposal
from headgate.stores.sqlite import SqliteStore
from tests.kit.answers import Answer, Request, Script, always
from tests.kit.virtual_time import START_S, ProcessClock, Timeline, resolve

ROUTE = Route("api", "example.org", "api.example.org")
MINE = Turn("me", 1)
REQUEST = Request("GET", "/", {"host": ROUTE.host})
LATENCY_S = 0.05


class Arrival(NamedTuple):
    """One request as the provider saw it, in seconds since the beginning."""

    at_s: float
    process: int
    status: int
    in_flight: int
    """How many were there with it."""


class TimedLedger:
    """A real ledger whose answers are there before virtual time goes on; it may go away."""

    LOOK_S = 0.1
    PATIENCE_S = 0.5

    def __init__(
        self, ledger: LimitLedger, timeline: Timeline, clock: ProcessClock, urgent: list[Proposal]
    ) -> None:
        self._ledger = ledger
        self._timeline = timeline
        self._clock = clock
        self._urgent = urgent
        """Of all processes: as long as there are no new ones, the ledger need not be asked."""
        self._known = -1
        self.gone = False
        self.errors: list[Exception] = []
        """Raised by the next exchanges, one by each."""

    async def exchange(self, proposals: Sequence[Proposal], keys: Sequence[str]) -> Exchange:
        """As the ledger, if it is there."""
        await self._reach()
        if self.errors:
            raise self.errors.pop()
        self._urgent += [proposal for proposal in proposals if proposal.urgent]
        async with self._timeline.busy():
            return await self._ledger.exchange(proposals, keys)

    async def wait_urgent(self, timeout_s: float) -> bool:
        """Look as often as the real one does, but on the virtual clock."""
        give_up_at = self._clock.monotonic() + timeout_s
        while self._clock.monotonic() < give_up_at:
            await self._reach()
            if self._known != len(self._urgent) and await self._look():
                return True
            await self._clock.sleep(self.LOOK_S)
        return False

    async def _look(self) -> bool:
        self._known = len(self._urgent)
        async with self._timeline.busy():
            return await self._ledger.wait_urgent(0.0)

    async def _reach(self) -> None:
        if self.gone:
            await self._clock.sleep(self.PATIENCE_S)
            raise StoreUnreachable


class Process:
    """The gates of one process, and lanes that always have something to send."""

    def __init__(
        self, fleet: "Fleet", number: int, clock: ProcessClock, ledger: TimedLedger
    ) -> None:
        self._fleet = fleet
        self._number = number
        self._retired = False
        self.clock = clock
        self.ledger = ledger
        store: Any = SimpleNamespace(jobs=None, limits=ledger)
        self.traffic = HttpFactory(fleet.settings, store, str(number), clock, Random(number))

    def retire(self) -> None:
        """Have nothing more to send; what is under way or in line still goes its way."""
        self._retired = True

    async def lane(self) -> None:
        """Send one after the other: what is refused is sent again, as items are."""
        while not self._retired:
            try:
                permit = await self.traffic.gates.enter(ROUTE, MINE, {}, 30.0)
            except GateClosed as closed:
                fault = closed.ending
                await self.clock.sleep(getattr(fault, "retry_after_s", None) or 0.1)
                continue
            sent_s = self.clock.monotonic()
            try:
                answer = await self._fleet.ask(self._number, self.clock)
                headers = {name.lower(): value for name, value in answer.headers}
                permit.answered(answer.status, headers, self.clock.monotonic() - sent_s)
            finally:
                permit.release()


class Fleet:
    """What the test holds in its hand."""

    def __init__(self, settings: Settings, timeline: Timeline) -> None:
        self.settings = settings
        self.timeline = timeline
        self.script: Script = always(Answer(200))
        self.seen: list[Arrival] = []
        self.processes: list[Process] = []
        self.lanes: list[asyncio.Task[None]] = []
        self._in_flight = 0

    def time(self) -> float:
        """Seconds since the beginning."""
        return self.timeline.now_s - START_S

    async def run(self, seconds: float) -> None:
        """Let time pass."""
        await self.timeline.run_until(self.timeline.now_s + seconds)
        for lane in self.lanes:
            if lane.done():
                lane.result()  # what went wrong in it

    async def ask(self, process: int, clock: ProcessClock) -> Answer:
        """What the provider answers; the way there is half of the way there and back."""
        answered: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()

        def arrive() -> bool:
            self._in_flight += 1
            answer = self.script(REQUEST)
            self.seen.append(Arrival(self.time(), process, answer.status, self._in_flight))
            self.timeline.at(self.timeline.now_s + answer.delay_s, lambda: leave(answer))
            return False

        def leave(answer: Answer) -> bool:
            self._in_flight -= 1
            clock.later(LATENCY_S / 2, lambda: resolve(answered, answer))
            return False

        # Once sent it is on its way, whatever becomes of its sender.
        self.timeline.at(self.timeline.now_s + LATENCY_S / 2, arrive)
        return await answered

    def arrivals(self, since_s: float, until_s: float = float("inf")) -> list[Arrival]:
        """What the provider saw within a time."""
        return [each for each in self.seen if since_s <= each.at_s < until_s]

    def refused(self, since_s: float = 0.0, until_s: float = float("inf")) -> int:
        """How many of them were too many."""
        return sum(each.status == 429 for each in self.arrivals(since_s, until_s))

    def delivered(self, since_s: float, until_s: float) -> float:
        """Requests a second that were taken."""
        taken = [each for each in self.arrivals(since_s, until_s) if each.status == 200]
        return len(taken) / (until_s - since_s)

    def busiest(self, window_s: float = 1.0, since_s: float = 0.0) -> int:
        """The most requests that arrived within any such window."""
        times = [each.at_s for each in self.arrivals(since_s)]
        first, most = 0, 0
        for last, at_s in enumerate(times):
            while times[first] <= at_s - window_s:
                first += 1
            most = max(most, last - first + 1)
        return most


@asynccontextmanager
async def fleet(
    folder: Path,
    processes: int = 4,
    *,
    lanes: int = 16,
    policy: ProviderPolicy | None = None,
    wrong_by_s: Mapping[int, float] | None = None,
    longest_wait_s: float = 60.0,
) -> AsyncIterator[Fleet]:
    """A number of processes, which work as soon as time passes."""
    settings = Settings(
        providers={"api": policy or ProviderPolicy()},
        gates=GatePolicy(longest_wait_s=longest_wait_s),
    )
    made = Fleet(settings, Timeline())
    urgent: list[Proposal] = []
    async with AsyncExitStack() as stack:
        for number in range(processes):
            clock = ProcessClock(made.timeline, wrong_by_s=(wrong_by_s or {}).get(number, 0.0))
            store = await stack.enter_async_context(
                SqliteStore(folder / "headgate.db", now=clock.now)
            )
            process = Process(
                made, number, clock, TimedLedger(store.limits, made.timeline, clock, urgent)
            )
            made.processes.append(process)
        # Not before all stores are open: that takes real time, in which others would go on.
        for process in made.processes:
            made.lanes += [asyncio.create_task(process.lane()) for _ in range(lanes)]
        try:
            yield made
        finally:
            for lane in made.lanes:
                lane.cancel()
            await asyncio.wait(made.lanes)
            for process in made.processes:
                process.ledger.gone = False
                await process.traffic.close()
