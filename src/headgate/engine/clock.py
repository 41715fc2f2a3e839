"""The only place that asks the machine for the time or waits for it to pass."""

import asyncio
import time
from collections.abc import Callable


class SystemClock:
    """The machine's time. Setting the wall clock while the process runs has no effect here."""

    def __init__(self) -> None:
        self._offset = time.time_ns() // 1_000 - time.monotonic_ns() // 1_000

    def now(self) -> int:
        """UTC microseconds; never goes backwards within a process."""
        return self._offset + time.monotonic_ns() // 1_000

    def monotonic(self) -> float:
        """Seconds on a clock that cannot be set, the same for all processes of this boot."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait; zero only lets other tasks run."""
        await asyncio.sleep(seconds)

    def later(self, seconds: float, call: Callable[[], object]) -> Callable[[], object]:
        """Have the loop run `call` after this time; the returned function cancels that."""
        return asyncio.get_running_loop().call_later(seconds, call).cancel
