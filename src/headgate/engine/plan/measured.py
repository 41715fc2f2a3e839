"""What a job's recorded calls and the ledger say about what is still to come."""

from collections import Counter
from collections.abc import Sequence

import msgspec

from headgate.core.call import Call, CallKind
from headgate.core.gates.state import GateState
from headgate.engine.gate_control import state_in
from headgate.ports.limits import LimitLedger
from headgate.ports.reads import ReadStore

PAGE = 2_000
PAGES = 5
"""No more of a job is looked at: a plan is wanted soon, and its beginning tells enough."""
SPARED = frozenset({CallKind.CACHED, CallKind.SHARED})
UNCOUNTED = frozenset({CallKind.REFUSED, CallKind.BARRED})
"""A refusal is followed by another call, and what robots.txt bars is never sent."""
ANSWERED = frozenset({CallKind.FETCHED, CallKind.REVALIDATED})
_decode = msgspec.json.Decoder(list[Call]).decode


class Measured(msgspec.Struct, frozen=True):
    """How a job has gone about its items so far."""

    attempts: int
    """Those that asked for anything, as far as they were looked at."""
    calls_per_item: float
    """Without refusals, whose requests are made again."""
    cache_hits: float
    """The share of calls that nobody was asked for."""
    latency_s: float | None
    asked: str
    """Whom it asked most: a provider, or a host that none declares."""


class Learned(msgspec.Struct, frozen=True):
    """What the ledger knows of some gates, at a moment on its clock."""

    now_s: float
    states: Sequence[GateState]


async def measure(reads: ReadStore, job_id: int) -> Measured | None:
    """What can be said from a job's calls; None if it has not asked for anything yet."""
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


async def recall(ledger: LimitLedger, keys: Sequence[str]) -> Learned:
    """What is known of those gates that anything is known of."""
    told = await ledger.exchange((), keys)
    return Learned(told.now_s, [state_in(entry) for entry in told.entries if entry.state])
