"""Decides when to claim, from which job and how many items."""

from collections import Counter
from collections.abc import Sequence

import msgspec

from headgate.core.fair_turns import Contender, Turns
from headgate.core.item import ClaimedItem
from headgate.core.sizing import ClaimSizer
from headgate.engine.board import FlightBoard
from headgate.engine.buffer import Buffer
from headgate.engine.gates.tree import GateTree
from headgate.engine.job_runtime import JobRuntime, JobRuntimes
from headgate.engine.lane import BUFFER_PATIENCE_S, LEASE_SLACK_S
from headgate.ports.clock import Clock
from headgate.ports.items import ClaimRequest, GateFilter, HeldLease, ItemStore
from headgate.ports.jobs import JobStore, RowReads, WorkDemand
from headgate.ports.store import Notifier, Store


class Scope(msgspec.Struct, frozen=True):
    """The items that a worker may claim. `alone` asks for suspects, one at a time."""

    worker: str
    jobs: tuple[int, ...] | None = None
    alone: bool = False
    ids: tuple[int, ...] | None = None
    """If set, only these items, which belong to the one job in `jobs`."""


class DispatchTimes(msgspec.Struct, frozen=True):
    """Time between reads of the store, and the standstill after which our leases are in doubt."""

    poll_s: float
    doubt_s: float


class DispatchDeps(msgspec.Struct, frozen=True):
    items: ItemStore
    jobs: JobStore
    notifier: Notifier
    clock: Clock
    board: FlightBoard
    gates: GateTree
    rows: RowReads


def dispatch_deps(store: Store, clock: Clock, board: FlightBoard, gates: GateTree) -> DispatchDeps:
    return DispatchDeps(store.items, store.jobs, store.notifier, clock, board, gates, store.rows)


class Dispatcher:
    """Keeps the buffer filled. With `until_idle`, ends when nothing is due and nothing runs."""

    CROWDED_S = 0.2
    """Seconds before the next claim if the gates of a job have all the items that they can use."""
    SOON_S = 0.005
    """Shortest rest in seconds if more items are due soon."""
    GOLDEN = 0.618
    """The fractional parts of its multiples are spread evenly over 0 to 1."""
    EMPTY_CLAIMS = 3
    """Empty claims in a row that are accepted although items are due: others may be faster."""

    def __init__(
        self,
        scope: Scope,
        deps: DispatchDeps,
        runtimes: JobRuntimes,
        buffer: Buffer,
        sizer: ClaimSizer,
        patience: DispatchTimes,
    ) -> None:
        self._scope = scope
        self._deps = deps
        self._runtimes = runtimes
        self._buffer = buffer
        self._sizer = sizer
        self._clock = deps.clock
        self._patience = patience
        self._poll_s = patience.poll_s
        self._turns = Turns()
        self._last_gate: dict[int, str] = {}
        self._contenders: list[Contender] = []
        self._refreshed_s = float("-inf")
        self._claim_began_s = 0.0
        self._next_due_s: float | None = None
        self._crowded = False
        self._empty_claims = 0
        """Claims in a row that leased nothing although items were due."""
        self._due_to_retries: dict[int, float] = {}
        """By job: the fraction of an item that earlier claims still owe to retries."""
        self._trials = 0
        self.stopping = False

    async def run(self, until_s: float | None = None, *, until_idle: bool = False) -> None:
        """Claim until stopped, until the time is over, or until nothing is due."""
        while not self._over(until_s):
            size = 1 if self._scope.alone else self._sizer.size()
            await self._wait_for_room(size)
            if self._over(until_s):
                return
            claimed = await self._claim(size if self._scope.alone else self._wanted(size))
            if claimed and self._in_doubt():
                await self.return_items(claimed)
            elif claimed:
                self._deps.board.claimed(self._claim_began_s, size)
                self._buffer.put(claimed, self._clock.monotonic())
            elif self._contenders:
                continue  # another job may have items
            elif until_idle:
                return
            else:
                await self._rest()

    async def _wait_for_room(self, size: int) -> None:
        if self._scope.alone:
            # Lease the next suspect only when the one before has ended, whatever that takes.
            await self._buffer.wait_hungry()
        else:
            # The next claim runs while the lanes work on the items of the one before.
            await self._buffer.wait_low(size)

    def _wanted(self, size: int) -> int:
        """One claim size, but enough for every lane that has nothing to do."""
        return max(size, self._buffer.hungry - len(self._buffer))

    def _in_doubt(self) -> bool:
        """The claim was slow enough that we may have been frozen and have lost its leases."""
        return self._clock.monotonic() - self._claim_began_s > self._patience.doubt_s

    def stop(self) -> None:
        self.stopping = True
        self._buffer.wake()

    def _over(self, until_s: float | None) -> bool:
        return self.stopping or (until_s is not None and self._clock.monotonic() >= until_s)

    async def _claim(self, size: int) -> list[ClaimedItem]:
        contender = await self._next_contender()
        if contender is None:
            return []
        work = await self._runtimes.prepare(contender.job_id)
        if work is None:
            self._drop(contender)
            return []
        if work.handler.memory_mb:
            self._deps.board.may_use(work.handler.memory_mb)
        # Several jobs share the buffer, so that each gets a turn within one slice.
        share = max(size // min(len(self._contenders), 8), self._least(work))
        share, is_trial = self._room(work, share)
        if share <= 0:
            self._crowded = True
            self._drop(contender)
            return []
        request = ClaimRequest(
            self._scope.worker,
            contender.job_id,
            share,
            work.limit_s + LEASE_SLACK_S,
            self._scope.alone,
            retries=0 if is_trial else self._retries(contender.job_id, share),
            ids=self._scope.ids,
            skipped=self._elsewhere() if is_trial else 0.0,
        )
        self._claim_began_s = self._clock.monotonic()
        claimed = await self._take(request, work)
        if is_trial:
            claimed = [msgspec.structs.replace(item, elsewhere=True) for item in claimed]
        self._empty_claims = 0 if claimed else self._empty_claims + 1
        if len(claimed) < share:
            self._drop(contender)
        return claimed

    def _retries(self, job_id: int, share: int) -> int:
        """Items of a claim that are reserved for due retries."""
        owed = self._due_to_retries.get(job_id, 0.0) + share * self._sizer.retry_share
        self._due_to_retries[job_id] = owed % 1
        return int(owed)

    def _elsewhere(self) -> float:
        """A different position in the input for each trial: bad rows often come together."""
        self._trials += 1
        return self._trials * self.GOLDEN % 1

    def _room(self, work: JobRuntime, share: int) -> tuple[int, bool]:
        """Items out of `share` that the gates of a job can use soon, and whether they are trials.

        A trial goes to a host that did not answer. A row that never failed is the better probe.
        """
        gates, waiting = self._deps.gates, self._buffer.count(work.job.id)
        trials = None
        if work.handler.gate_of is not None:  # such jobs claim by gate
            gates.make_room(work.job.id)
        else:
            trials = gates.hosts.trials(work.job.id)
        if trials is not None:
            share = min(share, trials - waiting)
        room = gates.room(work.job.id, work.handler.provider or "")
        if room is not None:
            share = min(share, room - waiting)
        return share, trials is not None

    async def _take(self, request: ClaimRequest, work: JobRuntime) -> list[ClaimedItem]:
        """Claim in input order, or in turn from the gates that are open."""
        if work.handler.gate_of is None or request.ids is not None:
            return await self._deps.items.claim(request)
        shut = tuple(sorted(self._deps.gates.shut()))
        after = self._last_gate.get(request.job_id, "")
        filtered = msgspec.structs.replace(request, gates=GateFilter(shut, after))
        claimed = await self._deps.items.claim(filtered)
        rounds = [(item.gate <= after, item.gate) for item in claimed]
        self._last_gate[request.job_id] = max(rounds, default=(True, ""))[1]
        return claimed if work.handler.pack else interleaved(claimed)

    def _least(self, work: JobRuntime) -> int:
        """A claim that is smaller than a pack could not fill one."""
        return 1 if self._scope.alone else work.handler.pack or 1

    async def _next_contender(self) -> Contender | None:
        now_s = self._clock.monotonic()
        if not self._contenders or now_s - self._refreshed_s > self._poll_s:
            await self._refresh(now_s)
        return self._turns.next(self._contenders)

    async def _refresh(self, now_s: float) -> None:
        demand = await self._demand()
        found = demand.suspects if self._scope.alone else demand.contenders
        unrunnable = self._runtimes.unrunnable
        self._contenders = [each for each in found if each.job_id not in unrunnable]
        self._refreshed_s = now_s
        due_s = demand.next_due_in_s
        # If something is due that we may not claim, such as a suspect, another process takes it.
        is_for_others = due_s is not None and due_s <= 0.0 and not self._contenders
        self._next_due_s = None if is_for_others else due_s

    async def _demand(self) -> WorkDemand:
        scope = self._scope
        if scope.ids is not None and scope.jobs:
            return await self._deps.rows.demand_for(scope.jobs[0], scope.ids)
        return await self._deps.jobs.demand(scope.jobs, None)

    def _drop(self, contender: Contender) -> None:
        self._contenders = [each for each in self._contenders if each != contender]

    async def _rest(self) -> None:
        due_s = self._next_due_s
        # Items that gates hold back are due already, so another read would find them at once.
        held = self._crowded or self._empty_claims > self.EMPTY_CLAIMS
        least_s, self._crowded = (self.CROWDED_S if held else self.SOON_S), False
        rest_s = self._poll_s if due_s is None else min(self._poll_s, max(due_s, least_s))
        await self._deps.notifier.wait(rest_s)
        self._refreshed_s = float("-inf")

    async def return_waiting(self) -> int:
        return await self.return_items(self.take_waiting())

    def take_waiting(self) -> list[ClaimedItem]:
        """Remove every item that is leased but not started, so that no lane can take it."""
        return self._buffer.remove_all()

    async def return_job(self, job_id: int) -> int:
        return await self.return_items(self._buffer.remove_job(job_id))

    async def return_stale(self) -> int:
        """Hand back items that waited too long for a lane: their lease could end in the handler."""
        moment_s = self._clock.monotonic() - BUFFER_PATIENCE_S
        return await self.return_items(self._buffer.remove_claimed_before(moment_s))

    def waiting_jobs(self) -> set[int]:
        return self._buffer.job_ids()

    async def extend(self, items: Sequence[ClaimedItem], lease_s: float) -> int:
        held = [HeldLease(item.id, item.epoch) for item in items]
        return await self._deps.items.extend(self._scope.worker, held, lease_s)

    async def return_items(self, items: list[ClaimedItem]) -> int:
        if not items:
            return 0
        held = [HeldLease(item.id, item.epoch) for item in items]
        return await self._deps.items.release(self._scope.worker, held)


def interleaved(items: list[ClaimedItem]) -> list[ClaimedItem]:
    """Order items by taking one from each gate in turn, so that lanes wait at different gates.

    Not for packs: the items of a pack should have the same gate.
    """
    earlier: Counter[str] = Counter()
    place: dict[int, int] = {}
    for item in items:
        place[item.id] = earlier[item.gate]
        earlier[item.gate] += 1
    return sorted(items, key=lambda item: place[item.id])
