"""The only place that asks the machine for the time or waits for it to pass."""

import asyncio
import time
from collections.abc import Callable


class SystemClock:
    """The machine's time. Setting the wall clock while the process runs has no effect here."""

    def __init__(self) -> None:
        self._offset = time.time_ns() // 1_000 - time.monotonic_ns() // 1_000

    def now(self) -> int:
        return self._offset + time.monotonic_ns() // 1_000

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def later(self, seconds: float, call: Callable[[], object]) -> Callable[[], object]:
        return asyncio.get_running_loop().call_later(seconds, call).cancel
