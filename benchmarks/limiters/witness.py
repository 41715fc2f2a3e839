"""How late this machine wakes a sleeping task: a limit without a burst forgives no millisecond."""

from __future__ import annotations

import statistics
import threading
import time
from types import TracebackType
from typing import Self

NAP_S = 0.01


class Witness:
    """Naps in a thread of its own for as long as the runs go on."""

    def __init__(self) -> None:
        self._late_ms: list[float] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.is_set():
            began = time.monotonic()
            time.sleep(NAP_S)
            self._late_ms.append(1_000 * (time.monotonic() - began - NAP_S))

    def late_ms(self) -> dict[str, float]:
        """In the middle, and for one nap in a hundred."""
        hundredths = statistics.quantiles([0.0, *self._late_ms, 0.0], n=100)
        return {"median": round(hundredths[49], 2), "p99": round(hundredths[98], 2)}
