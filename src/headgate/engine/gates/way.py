"""All gates that a request passes on its way out."""

from collections.abc import Iterable

from headgate.engine.gates.gate import Gate
from headgate.ports.gate import Cost


class Way:
    """Passed all or none."""

    __slots__ = ("credential", "gates", "learner")

    def __init__(self, gates: Iterable[Gate], learner: Gate, credential: str | None) -> None:
        self.gates = tuple(gates)
        self.learner = learner
        """The gate whose limit an answer is about; the others are only configured."""
        self.credential = credential
        """What the request is sent with."""

    def opens_at(self, now_s: float, cost: Cost) -> tuple[float, Gate]:
        """When all of them let one pass, and which of them opens last."""
        slowest = self.gates[0]
        opens_at = slowest.opens_at(now_s, cost)
        for gate in self.gates[1:]:
            at_s = gate.opens_at(now_s, cost)
            if at_s > opens_at:
                opens_at, slowest = at_s, gate
        return opens_at, slowest

    def pass_all(self, now_s: float, *, transfer: bool) -> int:
        """A request goes out; how many transfers the learner has in flight with it."""
        for gate in self.gates:
            gate.passed(now_s, transfer=transfer)
        return self.learner.in_flight
