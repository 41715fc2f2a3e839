"""Our own pacer in one of several processes that meet only in a store."""

from __future__ import annotations

import msgspec

from benchmarks.pacing.ledger import VirtualLedger
from benchmarks.pacing.rules.ours import EPOCH_S, Ours
from benchmarks.pacing.rules.rule import Reply, Surroundings
from headgate.core.gates.shared_limiter import SharedLimiter
from headgate.core.gates.state import GateState
from headgate.core.rate import Ceilings
from headgate.ports.limits import Exchange, LedgerEntry, Proposal

KEY = "provider:simulated"


class Sharing(Ours):
    """`SharedLimiter`, with one exchange with the store at a time."""

    def __init__(self, name: str, ledger: VirtualLedger) -> None:
        self._share = SharedLimiter(name, Ceilings())
        super().__init__(self._share)
        self._ledger = ledger
        self._entry = LedgerEntry(KEY, 0, "")
        self._proposed: GateState | None = None
        self._under_way = False
        self._rung = False

    def begin(self, surroundings: Surroundings) -> None:
        super().begin(surroundings)
        self._ledger.subscribe(self._ring)
        surroundings.events.at(0.0, self._tick)

    def gate(self, now: float, in_flight: int) -> float:
        opens_at = super().gate(now, in_flight)
        self._exchange_if_due()
        return opens_at

    def on_reply(self, reply: Reply) -> None:
        super().on_reply(reply)
        self._exchange_if_due()

    def _utc(self) -> float:
        return EPOCH_S + self.surroundings.events.now

    def _tick(self) -> None:
        self._exchange_if_due()
        events = self.surroundings.events
        events.at(events.now + SharedLimiter.PERIOD_S / 4, self._tick)

    def _ring(self) -> None:
        self._rung = True
        self._look_if_rung()

    def _look_if_rung(self) -> None:
        if self._rung and not self._under_way:
            self._under_way, self._rung = True, False
            self._ledger.exchange([], [KEY], self._looked, self._ring)

    def _looked(self, told: Exchange) -> None:
        [self._entry] = told.entries
        self._share.seen(decoded(self._entry), self._utc())
        self._finish()

    def _exchange_if_due(self) -> None:
        if not self._under_way and self._share.due(self._utc()):
            self._under_way = True
            self._propose()

    def _propose(self) -> None:
        before = decoded(self._entry) if self._entry.version else None
        self._proposed = self._share.merge(before, self._utc())
        text = msgspec.json.encode(self._proposed).decode()
        proposal = Proposal(KEY, self._entry.version, text, urgent=self._share.urgent)
        self._ledger.exchange([proposal], [KEY], self._answered, self._ring)

    def _answered(self, told: Exchange) -> None:
        [self._entry] = told.entries
        if KEY not in told.accepted:
            self._propose()  # another process was faster: propose again, from its state
            return
        self._share.accepted(decoded(self._entry), self._utc())
        self._finish()

    def _finish(self) -> None:
        self._under_way = False
        self.surroundings.wake()  # first, so that a permit that was granted is used
        self._look_if_rung()
        self._exchange_if_due()


def decoded(entry: LedgerEntry) -> GateState:
    return msgspec.json.decode(entry.state, type=GateState)
