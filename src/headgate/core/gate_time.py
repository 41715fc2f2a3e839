"""How long the requests of one handler have waited at gates."""


class GateTime:
    """Adds up the waits. Waits that overlap count once. Times are seconds of one clock."""

    __slots__ = ("_open", "_since_s", "_total_s")

    def __init__(self) -> None:
        self._open = 0
        self._since_s = 0.0
        self._total_s = 0.0

    @property
    def is_waiting(self) -> bool:
        """Whether at least one request waits now."""
        return self._open > 0

    def begin(self, now_s: float) -> None:
        """A request begins to wait."""
        if not self._open:
            self._since_s = now_s
        self._open += 1

    def end(self, now_s: float) -> None:
        """A request goes on."""
        self._open -= 1
        if not self._open:
            self._total_s += now_s - self._since_s

    def total_s(self, now_s: float) -> float:
        """All waits so far, with those that have not ended."""
        return self._total_s + (now_s - self._since_s if self._open else 0.0)
