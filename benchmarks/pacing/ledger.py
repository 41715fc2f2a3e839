"""A store of gate states in virtual time, as far away from its clients as a real one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from benchmarks.pacing.events import Events
from headgate.ports.limits import Exchange, LedgerEntry, Proposal

Then = Callable[[Exchange], None]
Bell = Callable[[], None]


class VirtualLedger:
    """Keeps the laws of `LimitLedger`; an exchange takes `latency_s` there and back."""

    def __init__(self, events: Events, epoch_s: float, latency_s: float = 0.005) -> None:
        self.exchanges = 0
        self._events = events
        self._epoch_s = epoch_s
        self._way_s = latency_s / 2
        self._entries: dict[str, LedgerEntry] = {}
        self._bells: list[Bell] = []

    def subscribe(self, bell: Bell) -> None:
        """Notify the members when another one has made an urgent change."""
        self._bells.append(bell)

    def exchange(
        self, proposals: Sequence[Proposal], keys: Sequence[str], then: Then, own_bell: Bell
    ) -> None:
        """Send an exchange off; `then` is called with its result when that is back."""
        self.exchanges += 1
        arrives_at = self._events.now + self._way_s
        self._events.at(arrives_at, self._serve, proposals, keys, then, own_bell)

    def _serve(
        self, proposals: Sequence[Proposal], keys: Sequence[str], then: Then, own_bell: Bell
    ) -> None:
        now = self._events.now
        accepted = [each for each in proposals if self._entry(each.key).version == each.version]
        for each in accepted:
            self._entries[each.key] = LedgerEntry(each.key, each.version + 1, each.state)
        told = Exchange(
            now_s=self._epoch_s + now,
            entries=[self._entry(key) for key in keys],
            accepted=frozenset(each.key for each in accepted),
        )
        self._events.at(now + self._way_s, then, told)
        if any(each.urgent for each in accepted):
            for bell in self._bells:
                if bell != own_bell:
                    self._events.at(now + self._way_s, bell)

    def _entry(self, key: str) -> LedgerEntry:
        return self._entries.get(key, LedgerEntry(key, 0, ""))
