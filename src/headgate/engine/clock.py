"""The only place that asks the machine for the time or waits for it to pass."""

import asyncio
import time
from collections.abc import Callable


class SystemClock:
    """The machine's time. A wall clock that is set while we run changes nothing here."""

    def __init__(self) -> None:
        self._offset = time.time_ns() // 1_000 - time.monotonic_ns() // 1_000

    def now(self) -> int:
        """UTC microseconds; never goes backwards within a process."""
        return self._offset + time.monotonic_ns() // 1_000

    def monotonic(self) -> float:
        """Seconds on a clock that nobody can set, the same for all processes of this boot."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait; zero only lets others run."""
        await asyncio.sleep(seconds)

    def later(self, seconds: float, call: Callable[[], object]) -> Callable[[], object]:
        """Have `call` called after a while, from the loop; calling the answer cancels that."""
        return asyncio.get_running_loop().call_later(seconds, call).cancel
