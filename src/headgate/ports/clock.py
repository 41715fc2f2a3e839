"""Time, passed in so that tests can own it."""

from collections.abc import Callable
from typing import Protocol


class Clock(Protocol):
    """The engine's only source of time."""

    def now(self) -> int:
        """UTC microseconds; never goes backwards within a process."""
        ...

    def monotonic(self) -> float:
        """Seconds on a clock that nobody can set, the same for all processes of this boot."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait; zero only lets others run."""
        ...

    def later(self, seconds: float, call: Callable[[], object]) -> Callable[[], object]:
        """Have `call` called after a while, from the loop; calling the answer cancels that."""
        ...
