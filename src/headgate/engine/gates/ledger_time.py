"""The ledger's clock, as far as this process can tell."""

from headgate.ports.clock import Clock


class LedgerTime:
    """Our own steady clock, set by the ledger's; a wall clock that jumps changes nothing here."""

    DRIFT_S = 0.05
    """A later, slower exchange corrects the clock only if it is wrong by more than this."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._offset_s = clock.now() / 1_000_000 - clock.monotonic()
        self._doubt_s = float("inf")

    def now(self) -> float:
        """UTC seconds on the ledger's clock."""
        return self._clock.monotonic() + self._offset_s

    def set(self, ledger_s: float, asked_s: float, answered_s: float) -> None:
        """An exchange between two moments of our steady clock found the ledger at `ledger_s`."""
        doubt_s = (answered_s - asked_s) / 2
        offset_s = ledger_s - (asked_s + answered_s) / 2
        if doubt_s <= self._doubt_s or abs(offset_s - self._offset_s) > doubt_s + self.DRIFT_S:
            self._offset_s, self._doubt_s = offset_s, doubt_s
