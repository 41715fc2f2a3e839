"""Pages that are pushed, for a library that pulls: it runs in a thread of its own."""

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any


class _Abandoned(Exception):
    """Nobody wants what is being written."""


class Conveyor:
    """Hands pages to `consume` in turn; one may wait, so that memory is bounded."""

    def __init__(self, consume: Callable[[Iterator[Any]], None]) -> None:
        self._consume = consume
        self._pages: queue.Queue[Sequence[Any] | None] = queue.Queue(maxsize=1)
        self._error: BaseException | None = None
        self._ended = False
        self._abandoned = False
        self._thread = threading.Thread(target=self._run, name="conveyor", daemon=True)
        self._thread.start()

    def push(self, page: Sequence[Any]) -> None:
        """Add a page; raises what the consumer raised."""
        if self._error is not None:
            raise self._error
        self._pages.put(page)

    def finish(self) -> None:
        """Wait until all is consumed; raises what the consumer raised."""
        self._stop()
        if self._error is not None:
            raise self._error

    def abandon(self) -> None:
        """Make the consumer fail, and wait for its end."""
        self._abandoned = True
        self._stop()

    def _stop(self) -> None:
        if self._thread.is_alive():
            self._pages.put(None)
            self._thread.join()

    def _run(self) -> None:
        try:
            self._consume(self._rows())
        except BaseException as error:  # noqa: BLE001 (it is raised where pages are pushed)
            self._error = error
        # Whoever pushes must not wait for a consumer that is gone.
        while not self._ended:
            self._ended = self._pages.get() is None

    def _rows(self) -> Iterator[Any]:
        while (page := self._pages.get()) is not None:
            yield from page
        self._ended = True
        if self._abandoned:
            raise _Abandoned
