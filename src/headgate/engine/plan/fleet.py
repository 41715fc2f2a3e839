"""The processes of a virtual run, each with a limiter at each of its gates."""

from collections.abc import Sequence

from headgate.core.gates.budget import Budget
from headgate.core.gates.shared_limiter import SharedLimiter
from headgate.core.gates.state import GateState
from headgate.core.pacing.pace import Pace
from headgate.core.pacing.state import Cause
from headgate.engine.gates.gate import Limiter
from headgate.engine.plan.workload import Workload


class VirtualSend:
    """One process at the gate of one credential."""

    def __init__(self, limiter: Limiter, credential: int, budget: Budget | None) -> None:
        self.limiter = limiter
        self.credential = credential
        self.in_flight = 0
        self._budget = budget

    def opens_at(self, now: float, workload: Workload) -> float:
        """When limiter and budget let the next request pass."""
        at = self.limiter.gate(now, self.in_flight)
        return at if self._budget is None else max(at, self._budget.opens_at(now, workload.cost))

    def pass_one(self, now: float, workload: Workload) -> None:
        self.in_flight += 1
        self.limiter.on_send(now, self.in_flight)
        if self._budget is not None:
            self._budget.add(now, workload.cost)

    def why(self, now: float, workload: Workload) -> Cause:
        """The reason that the next request waits."""
        if self._budget is not None and self._budget.opens_at(now, workload.cost) > now:
            return Cause.BUDGET
        return self.limiter.why(now)


class VirtualProcess:
    """The lanes of a process that have a request to send, and its gates."""

    def __init__(self, sends: Sequence[VirtualSend], lanes: int) -> None:
        self.sends = sends
        self.waiting = lanes
        self.wakes_at: float | None = None
        self.cause = Cause.OPEN
        self.since = 0.0

    def best(self, now: float, workload: Workload) -> tuple[float, VirtualSend]:
        """The gate that opens first; of several, the one with the least in flight."""
        if len(self.sends) == 1:
            return self.sends[0].opens_at(now, workload), self.sends[0]
        opening = [
            (send.opens_at(now, workload), send.in_flight, place)
            for place, send in enumerate(self.sends)
        ]
        at, _, place = min(opening)
        return at, self.sends[place]


class VirtualLedger:
    """Exchanges the shares of one gate, in place of a ledger."""

    def __init__(self, shares: Sequence[SharedLimiter], state: GateState | None) -> None:
        self._shares = shares
        self._state = state

    def due(self, now: float) -> bool:
        return any(share.due(now) for share in self._shares)

    def exchange(self, now: float) -> None:
        """Exchange the shares that are due; an urgent change reaches all."""
        for share in self._shares:
            if not share.due(now):
                continue
            urgent = share.urgent
            self._state = share.merge(self._state, now)
            share.accepted(self._state, now)
            for other in self._shares if urgent else ():
                if other is not share:
                    other.seen(self._state, now)


class VirtualFleet:
    """All processes of a run; several processes share each gate."""

    def __init__(self, workload: Workload) -> None:
        self.ledgers: list[VirtualLedger] = []
        columns = [self._column(workload, credential) for credential in range(workload.credentials)]
        lanes = [
            workload.lanes // workload.processes + (number < workload.lanes % workload.processes)
            for number in range(workload.processes)
        ]
        self.processes = [
            VirtualProcess([column[number] for column in columns], lanes[number])
            for number in range(workload.processes)
        ]

    def _column(self, workload: Workload, credential: int) -> list[VirtualSend]:
        """The gate of one credential in all processes."""
        known = workload.remembered[credential : credential + 1]
        spent = next(iter(workload.spent[credential : credential + 1]), None)
        budget = Budget(workload.caps, spent) if workload.caps else None
        limiters: list[Limiter] = []
        if workload.processes == 1:
            pace = (
                Pace.from_state(known[0], workload.ceilings) if known else Pace(workload.ceilings)
            )
            limiters.append(pace)
        else:
            shares = [
                SharedLimiter(f"process {n}", workload.ceilings) for n in range(workload.processes)
            ]
            self.ledgers.append(VirtualLedger(shares, GateState(known[0]) if known else None))
            limiters.extend(shares)
        return [VirtualSend(limiter, credential, budget) for limiter in limiters]
