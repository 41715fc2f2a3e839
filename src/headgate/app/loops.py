"""Loops that run as long as a process: named, watched by signs of life, and restarted."""

import asyncio
from collections.abc import Awaitable, Callable

import msgspec

from headgate.app.telemetry import logger
from headgate.core.fault import error_text
from headgate.core.redact_text import redacted
from headgate.core.retry import SOUND_S, restart_delay_s
from headgate.ports.clock import Clock

ALLOWED_S = 30.0
"""Seconds that a loop may give no sign of life, unless it is allowed more."""
Sign = Callable[[], None]
"""Called after each successful round."""
Work = Callable[[Sign], Awaitable[None]]
"""A loop; it is not expected to end."""


class LoopEnded(Exception):
    """Reason why a loop ended."""


class LoopState(msgspec.Struct):
    name: str
    allowed_s: float
    seen_s: float
    """Monotonic time of the last sign of life, or of the first start."""
    signs: int = 0
    running: bool = False
    """True after a sign of life since the last start."""
    restarts: int = 0
    last_error: str = ""


class Loops:
    """Keeps loops running. A loop that ends for any reason is restarted after a delay."""

    def __init__(self, clock: Clock, on_sign: Callable[[str], None] | None = None) -> None:
        """`on_sign` is called with the name of a loop at each of its signs."""
        self._clock = clock
        self._on_sign = on_sign
        self._states: dict[str, LoopState] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._stopping = False

    def start(self, name: str, work: Work, allowed_s: float = ALLOWED_S) -> None:
        state = self._watched(name, allowed_s)
        self._tasks.append(asyncio.create_task(self._keep(state, work), name=name))

    def watch(self, name: str, allowed_s: float = ALLOWED_S) -> None:
        """Expect signs from a loop in another process; `note_sign` reports them."""
        self._watched(name, allowed_s)

    def note_sign(self, name: str) -> None:
        state = self._states.get(name)
        if state is not None:
            state.seen_s = self._clock.monotonic()
            state.signs += 1
            state.running = True
            if self._on_sign is not None:
                self._on_sign(name)

    def states(self) -> list[LoopState]:
        return [*self._states.values()]

    def silent_s(self, state: LoopState) -> float:
        return self._clock.monotonic() - state.seen_s

    def silent(self) -> list[str]:
        return [
            state.name for state in self._states.values() if self.silent_s(state) > state.allowed_s
        ]

    async def stop(self) -> None:
        self._stopping = True
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        self._tasks = []
        self._stopping = False

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
        """Run a loop once and return why it ended."""
        try:
            await work(lambda: self.note_sign(state.name))
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return "it was cancelled"
        except LoopEnded as error:
            return str(error)
        except Exception as error:
            if self._stopping:
                # A task group raises the error of a child instead of the cancellation.
                raise asyncio.CancelledError from error
            reason = redacted(error_text(error))
            logger().error("a loop failed", loop=state.name, exc_info=error)
            return reason
        return "it returned"
