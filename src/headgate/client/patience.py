"""How long a client waits, and how often it tries again."""

import asyncio
from collections.abc import Awaitable, Callable

import msgspec


class Patience(msgspec.Struct, frozen=True):
    """Waits of a client; a program with a clock of its own passes its own `sleep`."""

    tries: int = 4
    """Of requests that change nothing, or count once however often they are sent."""
    first_s: float = 0.25
    """Before the second try; twice as long before each further one."""
    longest_s: float = 30.0
    """The longest wait between two tries, whatever the server asks for."""
    poll_s: float = 0.25
    """Between two looks at something that is under way, at first; longer as time goes on."""
    longest_poll_s: float = 5.0
    connect_s: float = 10.0
    answer_s: float = 120.0
    """Without a byte for so long, a connection counts as broken."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    def before(self, number: int, asked_s: float | None = None) -> float:
        """How long to wait before that try: what the server asked for, else ever longer."""
        own: float = self.first_s * 2 ** (number - 2)
        return min(max(asked_s or 0.0, own), self.longest_s)

    def polls(self, looks: int) -> float:
        """How long to wait after so many looks."""
        growth: float = 1.5 ** min(looks, 20)
        return min(self.poll_s * growth, self.longest_poll_s)
