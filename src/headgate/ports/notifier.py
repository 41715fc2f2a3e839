"""A bell that says "look again". It carries no truth: losing every ring only costs time."""

from typing import Protocol


class Notifier(Protocol):
    """Ring and listen."""

    async def ring(self) -> None:
        """Tell every process on this store that something changed."""
        ...

    async def wait(self, timeout_s: float) -> bool:
        """Wait for a ring that came since the last wait; False when the time ran out."""
        ...
