"""Gates that stand open and write down everything that passes."""

import asyncio
from collections.abc import Callable, Mapping

from headgate.ports.gate import Cost, Feedback, Route, Turn


class OpenPermit:
    """Says what the gates were told about one request, in order."""

    def __init__(self, gates: "OpenGates", route: Route, turn: Turn, cost: Cost) -> None:
        self._gates = gates
        self.route = route
        self.turn = turn
        self.cost = dict(cost)
        self.credential = gates.credentials[0] if gates.credentials else None
        self.waited_s = 0.0
        self.cause = ""
        self.told: list[str] = []
        self.recalled = gates.recalls.pop if gates.recalls else bool
        self.latency_s = -1.0
        self.headers: Mapping[str, str] = {}

    @property
    def released(self) -> bool:
        """Whether its place is free again."""
        return "release" in self.told

    def answered(self, status: int, headers: Mapping[str, str], latency_s: float) -> Feedback:
        self.told.append(f"answered {status}")
        self.headers, self.latency_s = headers, latency_s
        return self._gates.judge(status, headers)

    def failed(self) -> None:
        self.told.append("failed")

    def withdraw(self) -> None:
        self.told.append("withdraw")
        self.release()

    def bench(self, reason: str) -> bool:
        self.told.append("bench")
        if self.credential in self._gates.credentials:
            self._gates.credentials.remove(self.credential)
        return bool(self._gates.credentials)

    def spend(self, cost: Cost) -> None:
        self.told.append(f"spend {dict(cost)}")

    def release(self) -> None:
        if not self.released:
            self._gates.inside -= 1
        self.told.append("release")


def refusals_as_sent(status: int, headers: Mapping[str, str]) -> Feedback:
    """429 is a refusal, and so is 503 with a time to come back."""
    refused = status == 429 or (status == 503 and "retry-after" in headers)
    return Feedback(refused, float(headers.get("retry-after", 0)) if refused else 0.0)


class OpenGates:
    """Lets everything out at once."""

    def __init__(self, *credentials: str) -> None:
        self.credentials = list(credentials)
        self.recalls: list[bool] = []
        """What the next permits say to whether they were recalled, from the end."""
        self.judge: Callable[[int, Mapping[str, str]], Feedback] = refusals_as_sent
        self.permits: list[OpenPermit] = []
        self.patience_s: list[float] = []
        self.inside = 0
        self.most_inside = 0

    async def enter(self, route: Route, turn: Turn, cost: Cost, patience_s: float) -> OpenPermit:
        permit = OpenPermit(self, route, turn, cost)
        self.permits.append(permit)
        self.patience_s.append(patience_s)
        self.inside += 1
        self.most_inside = max(self.most_inside, self.inside)
        return permit


class NarrowGates(OpenGates):
    """Lets at most `most` requests be inside at a time."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._places = asyncio.Semaphore(most)

    async def enter(self, route: Route, turn: Turn, cost: Cost, patience_s: float) -> OpenPermit:
        await self._places.acquire()
        permit = await super().enter(route, turn, cost, patience_s)
        release = permit.release

        def release_and_let_in() -> None:
            if not permit.released:
                self._places.release()
            release()

        permit.release = release_and_let_in  # type: ignore[method-assign]
        return permit
