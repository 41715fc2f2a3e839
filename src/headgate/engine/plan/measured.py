"""Reads what a job's recorded calls and the ledger say about its remaining items."""

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
"""Pages of calls that are read: a plan must be quick, and the first calls of a job suffice."""
SPARED = frozenset({CallKind.CACHED, CallKind.SHARED})
UNCOUNTED = frozenset({CallKind.REFUSED, CallKind.BARRED})
"""A refused call is followed by another, and a call that robots.txt forbids is never sent."""
ANSWERED = frozenset({CallKind.FETCHED, CallKind.REVALIDATED})
_decode = msgspec.json.Decoder(list[Call]).decode


class Measured(msgspec.Struct, frozen=True):
    """Averages over the calls of a job until now."""

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


async def measure(reads: ReadStore, job_id: int) -> Measured | None:
    """Measure a job's calls; None if it has made none yet."""
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
    """The states of the gates that have one."""
    answer = await ledger.exchange((), keys)
    return Learned(answer.now_s, [state_in(entry) for entry in answer.entries if entry.state])
