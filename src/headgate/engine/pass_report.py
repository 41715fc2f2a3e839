"""How the work of a pass went: its sessions with their throughput, failures, refusals and pace."""

from array import array
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import msgspec

from headgate.core.call import Call, CallKind, decode_calls
from headgate.core.gates.view import GateView
from headgate.core.status import ItemStatus
from headgate.ports.jobs import HistoryStore, ItemHistory
from headgate.ports.reads import AttemptRow

PAGE = 500
PROVIDER = "provider"
SUCCEEDED = frozenset({CallKind.FETCHED, CallKind.REVALIDATED})
SENT = SUCCEEDED | {CallKind.REFUSED, CallKind.FAILED}


class SessionWork:
    """What the workers of one session did for a pass."""

    def __init__(self, name: str, first: AttemptRow) -> None:
        self.id = name
        self.workers: set[str] = set()
        self.started_at = first.leased_at
        self.ended_at = first.ended_at
        self.pages = 0
        self.rows = 0
        self._begins = array("q")
        self._ends = array("q")

    def add(self, attempt: AttemptRow) -> None:
        self.workers.add(attempt.worker)
        self.started_at = min(self.started_at, attempt.leased_at)
        self.ended_at = max(self.ended_at, attempt.ended_at)
        self._begins.append(attempt.ended_at - attempt.ran_us)
        self._ends.append(attempt.ended_at)

    @property
    def most_at_once(self) -> int:
        """The most pages that were worked on at the same time."""
        steps = [(at, -1) for at in self._ends] + [(at, 1) for at in self._begins]
        return max(accumulate(step for _, step in sorted(steps)), default=0)

    def per_s(self, count: int) -> float | None:
        seconds = (self.ended_at - self.started_at) / 1_000_000
        return count / seconds if seconds > 0 else None


class SourcePace(NamedTuple):
    """The configured and the current rate of a source, per second."""

    configured: float | None
    current: float | None

    @property
    def backoff(self) -> float:
        """How many times slower than configured; 1: not slower, or unknown."""
        if not self.configured or not self.current:
            return 1.0
        return max(self.configured / self.current, 1.0)


class PassWork:
    """Adds up the attempts of a pass."""

    def __init__(self) -> None:
        self.errors: Counter[str] = Counter()
        self.requests = 0
        self.refusals = 0
        self.last_refusal_at: int | None = None
        self._sessions: dict[str, SessionWork] = {}
        self._successes = array("q")

    def add(self, item: ItemHistory) -> None:
        for attempt in item.attempts:
            session = self._session(attempt)
            if attempt.error_class is not None:
                self.errors[attempt.worker] += 1
            for call in decode_calls(attempt.calls):
                self._add_call(call)
        if item.attempts and item.row.status is ItemStatus.DONE and not _is_closing(item.row.key):
            done = _Evidence() if item.row.result is None else _evidence(item.row.result)
            session.pages += done.pages
            session.rows += done.rows

    @property
    def sessions(self) -> list[SessionWork]:
        """In the order in which they began."""
        return sorted(self._sessions.values(), key=lambda each: each.started_at)

    @property
    def successes_since_refusal(self) -> int:
        last = self.last_refusal_at
        return sum(last is None or at > last for at in self._successes)

    def _session(self, attempt: AttemptRow) -> SessionWork:
        # A worker's id is that of its session and a part of its own.
        name = attempt.worker.rpartition("-")[0] or attempt.worker
        found = self._sessions.get(name)
        if found is None:
            found = self._sessions[name] = SessionWork(name, attempt)
        found.add(attempt)
        return found

    def _add_call(self, call: Call) -> None:
        if call.kind not in SENT:
            return
        self.requests += 1
        if call.kind is CallKind.REFUSED:
            self.refusals += 1
            self.last_refusal_at = max(call.at_us, self.last_refusal_at or 0)
        elif call.kind in SUCCEEDED:
            self._successes.append(call.at_us)


class _Evidence(msgspec.Struct, frozen=True):
    rows: int = 0
    pages: int = 1


def _is_closing(key: str) -> bool:
    """Whether an item closes a checkpoint, as the store names those."""
    return key.rpartition("/")[0].endswith("/closing")


def _evidence(text: str) -> _Evidence:
    try:
        return msgspec.json.decode(text, type=_Evidence)
    except msgspec.MsgspecError:  # the result of a handler of a user
        return _Evidence()


async def work_of_pass(history: HistoryStore, job_id: int) -> PassWork:
    """Read the attempts of a pass page by page."""
    work, after = PassWork(), 0
    while found := await history.page(job_id, after, PAGE):
        for item in found:
            work.add(item)
        after = found[-1].row.id
    return work


def pace_of(gates: Sequence[GateView], declared: float | None = None) -> SourcePace:
    """The pace at the provider of a pass; `declared` is the rate that its source asks for."""
    known = [
        SourcePace(gate.configured_per_s or declared, gate.now_per_s)
        for gate in gates
        if gate.kind == PROVIDER
    ]
    return max(known, key=lambda pace: pace.backoff, default=SourcePace(declared, None))
