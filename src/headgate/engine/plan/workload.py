"""The workload of a plan: its requests, the assumed provider, and what earlier calls show."""

from collections import Counter
from collections.abc import Sequence

import msgspec

from headgate.core.call import Call, CallKind
from headgate.core.gates.budget import BudgetState, Cap, Cost
from headgate.core.gates.state import GateState
from headgate.core.pacing.pace import UNLIMITED
from headgate.core.pacing.state import PaceState
from headgate.core.rate import Ceilings, Limit
from headgate.engine.gate_control import state_in
from headgate.ports.limits import LimitLedger
from headgate.ports.reads import ReadStore


class Assumed(msgspec.Struct, frozen=True):
    """A provider's real limits, for each credential; without limits it accepts everything."""

    limits: tuple[Limit, ...] = ()
    cap: int | None = None
    """Requests that it accepts at once."""
    tells: bool = False
    """The headers of every answer declare the limit."""
    says_when: bool = False
    """A refusal says when to try again."""


class Workload(msgspec.Struct, frozen=True):
    requests: int
    lanes: int = 32
    """Items in flight at once, over all processes."""
    processes: int = 1
    credentials: int = 1
    latency_s: float = 0.2
    ceilings: Ceilings = UNLIMITED
    """Configured limits, for each credential."""
    assumed: Assumed = Assumed()
    remembered: tuple[PaceState, ...] = ()
    """Learned states, credential by credential; the other credentials start with none."""
    caps: tuple[Cap, ...] = ()
    """Budgets, for each credential."""
    spent: tuple[BudgetState | None, ...] = ()
    """Spent parts of the budgets, credential by credential."""
    cost: Cost = {}
    """The cost of one request."""

    @property
    def answerable(self) -> float:
        """Requests a second that the lanes can have answered."""
        return self.lanes / self.latency_s

    def bounds(self) -> list[Limit]:
        """All limits that apply in the long run, in requests, for each credential."""
        spent = [
            Limit(cap.limit.count / cost, cap.limit.seconds)
            for cap in self.caps
            if (cost := self.cost.get(cap.name, 0.0)) > 0
        ]
        return [*self.assumed.limits, *self.ceilings.limits, *spent]

    @property
    def allowed(self) -> float:
        """Requests a second that all limits and the lanes let through in the long run."""
        rates = (limit.count / limit.seconds * self.credentials for limit in self.bounds())
        return min([*rates, self.answerable])


def provider_from_pace(state: PaceState) -> Assumed | None:
    """The provider that a learned pace describes; None if no limit is known yet."""
    cap = int(state.cap.known) if state.cap is not None and state.cap.known else None
    says_when = state.stop.told_s > 0
    if state.told:
        return Assumed((Limit(state.told_rate, 1.0),), cap, tells=True, says_when=says_when)
    if state.window is not None:
        limit = Limit(state.window.count, state.window.seconds)
        return Assumed((limit,), cap, says_when=says_when)
    if state.rate.known is not None:
        return Assumed((Limit(state.rate.known, 1.0),), cap, says_when=says_when)
    return Assumed((), cap, says_when=says_when) if cap else None


PAGE = 2_000
PAGES = 5
"""Pages of calls that are read: a plan must be quick, and the first calls of a job suffice."""
SPARED = frozenset({CallKind.CACHED, CallKind.SHARED})
UNCOUNTED = frozenset({CallKind.REFUSED, CallKind.BARRED})
"""A refused call is followed by another, and a call that robots.txt forbids is never sent."""
ANSWERED = frozenset({CallKind.FETCHED, CallKind.REVALIDATED})
_decode = msgspec.json.Decoder(list[Call]).decode


class Measured(msgspec.Struct, frozen=True):
    attempts: int
    """Attempts with at least one call, of the calls that were read."""
    calls_per_item: float
    """Without refusals, because their requests are sent again."""
    cache_hits: float
    """The share of calls that were not sent to a server."""
    latency_s: float | None
    asked: str
    """The most used provider, or host without a provider."""


class Learned(msgspec.Struct, frozen=True):
    """The state of some gates in the ledger; `now_s` is on its clock."""

    now_s: float
    states: Sequence[GateState]


async def measure_calls(reads: ReadStore, job_id: int) -> Measured | None:
    kinds: Counter[CallKind] = Counter()
    asked: Counter[str] = Counter()
    attempts, ran_ms = 0, 0.0
    page = await reads.calls(job_id, 0, PAGE)
    for _ in range(PAGES):
        for text in page.texts:
            calls = [call for call in _decode(text) if call.kind not in UNCOUNTED]
            attempts += bool(calls)
            kinds.update(call.kind for call in calls)
            asked.update(call.provider or call.host for call in calls)
            ran_ms += sum(call.ran_ms for call in calls if call.kind in ANSWERED)
        if page.next_after_id is None:
            break
        page = await reads.calls(job_id, page.next_after_id, PAGE)
    if not attempts:
        return None
    answered = sum(kinds[kind] for kind in ANSWERED)
    return Measured(
        attempts=attempts,
        calls_per_item=kinds.total() / attempts,
        cache_hits=sum(kinds[kind] for kind in SPARED) / kinds.total(),
        latency_s=ran_ms / answered / 1_000 if answered else None,
        asked=asked.most_common(1)[0][0],
    )


async def read_learned(ledger: LimitLedger, keys: Sequence[str]) -> Learned:
    answer = await ledger.exchange((), keys)
    return Learned(answer.now_s, [state_in(entry) for entry in answer.entries if entry.state])
