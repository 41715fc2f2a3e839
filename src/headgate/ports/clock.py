"""The clock as a dependency, so that tests can control time."""

from collections.abc import Callable
from typing import Protocol


class Clock(Protocol):
    """The engine's only source of time."""

    def now(self) -> int:
        """UTC microseconds; never goes backwards within a process."""
        ...

    def monotonic(self) -> float:
        """Seconds on a clock that cannot be set, the same for all processes of this boot."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait; a wait of 0 only lets other tasks run."""
        ...

    def later(self, seconds: float, call: Callable[[], object]) -> Callable[[], object]:
        """Call `call` from the loop after `seconds`; calling the returned function cancels that."""
        ...
