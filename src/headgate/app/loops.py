"""Loops that run as long as a process: each has a name, gives signs of life, and is restarted."""

import asyncio
from collections.abc import Awaitable, Callable

import msgspec

from headgate.app.telemetry import logger
from headgate.core.fault import error_in_words
from headgate.core.redact_text import redacted
from headgate.core.retry import SOUND_S, restart_delay_s
from headgate.ports.clock import Clock

ALLOWED_S = 30.0
"""Seconds. How long a loop may give no sign of life, unless it is allowed more."""
Sign = Callable[[], None]
"""Called after each round that did what it should."""
Work = Callable[[Sign], Awaitable[None]]
"""A loop; it is not meant to end."""


class LoopEnded(Exception):
    """Why a loop ended, in words."""


class LoopState(msgspec.Struct):
    """What is known of one loop."""

    name: str
    allowed_s: float
    seen_s: float
    """When it gave its last sign of life, or was started the first time; monotonic."""
    signs: int = 0
    running: bool = False
    """It gave a sign of life since it was started the last time."""
    restarts: int = 0
    last_error: str = ""
    """Why it ended the last time."""


class Loops:
    """Keeps loops running. One that ends, however it ends, is started again after a rest."""

    def __init__(self, clock: Clock, on_sign: Callable[[str], None] | None = None) -> None:
        """`on_sign` is told the name of a loop with each of its signs."""
        self._clock = clock
        self._on_sign = on_sign
        self._states: dict[str, LoopState] = {}
        self._tasks: list[asyncio.Task[None]] = []

    def start(self, name: str, work: Work, allowed_s: float = ALLOWED_S) -> None:
        """Run a loop until `stop`."""
        state = self._watched(name, allowed_s)
        self._tasks.append(asyncio.create_task(self._keep(state, work), name=name))

    def watch(self, name: str, allowed_s: float = ALLOWED_S) -> None:
        """Expect signs of a loop that runs elsewhere; `heard` tells of them."""
        self._watched(name, allowed_s)

    def heard(self, name: str) -> None:
        """Note a sign of life."""
        state = self._states.get(name)
        if state is not None:
            state.seen_s = self._clock.monotonic()
            state.signs += 1
            state.running = True
            if self._on_sign is not None:
                self._on_sign(name)

    def states(self) -> list[LoopState]:
        """All loops, in the order in which they were started."""
        return [*self._states.values()]

    def silent_s(self, state: LoopState) -> float:
        """Seconds since its last sign of life."""
        return self._clock.monotonic() - state.seen_s

    def silent(self) -> list[str]:
        """The names of loops that gave no sign of life for longer than they may."""
        return [
            state.name for state in self._states.values() if self.silent_s(state) > state.allowed_s
        ]

    async def stop(self) -> None:
        """End all of them, and wait until they have."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        self._tasks = []

    def _watched(self, name: str, allowed_s: float) -> LoopState:
        state = LoopState(name, allowed_s, self._clock.monotonic())
        return self._states.setdefault(name, state)

    async def _keep(self, state: LoopState, work: Work) -> None:
        failures = 0
        while True:
            began_s, signs = self._clock.monotonic(), state.signs
            state.last_error = await self._ended(state, work)
            state.restarts += 1
            state.running = False
            sound = self._clock.monotonic() - began_s > SOUND_S
            failures = 1 if sound else failures + 1
            rest = restart_delay_s(failures, worked=state.signs > signs)
            logger().error(
                "a loop ended and is started again",
                loop=state.name,
                reason=state.last_error,
                rest_s=rest,
            )
            await self._clock.sleep(rest)

    async def _ended(self, state: LoopState, work: Work) -> str:
        """Run it once, and say why it ended."""
        try:
            await work(lambda: self.heard(state.name))
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return "it was cancelled"
        except LoopEnded as error:
            return str(error)
        except Exception as error:  # noqa: BLE001  whatever it is, the loop must not stay ended
            reason = redacted(error_in_words(error))
            logger().error("a loop failed", loop=state.name, exc_info=error)
            return reason
        return "it returned"
