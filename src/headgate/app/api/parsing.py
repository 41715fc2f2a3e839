"""Parses requests in short turns, so that tiny chunks do not delay other requests."""

import asyncio
from collections.abc import Callable
from typing import Any

import h11

EVENTS = 64
"""Events, such as chunks of a body, that one connection may parse per turn: about 2 ms of work."""
PAUSE_S = 0.004
"""Seconds between two turns, for any number of connections: the loop has other work too."""
CHUNKS = 1_000
"""The first chunks of a body may have any size."""
LEAST_BYTES = 16
"""Mean bytes per chunk that are required after these: a smaller chunk has more frame than
content."""


class PacedConnection(h11.Connection):
    """An h11 connection that returns a limited number of events per turn."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.has_more = False
        """True if the turn ended before all received data was parsed."""
        self.refused = ""
        """Why the rest of the body is not read."""
        self._left = 0
        self._chunks = 0
        self._bytes = 0

    def begin_turn(self) -> None:
        self._left = EVENTS
        self.has_more = False

    def next_event(self) -> "type[h11.NEED_DATA | h11.PAUSED] | h11.Event":
        """Return the next event, or NEED_DATA at the end of the turn."""
        if not self._left:
            self.has_more = True
            return h11.NEED_DATA
        self._left -= 1
        event = super().next_event()
        if isinstance(event, h11.Data):
            self._count(event)
        elif isinstance(event, h11.Request):
            self._chunks = self._bytes = 0
        return event

    def _count(self, data: h11.Data) -> None:
        self._bytes += len(data.data)
        self._chunks += data.chunk_end
        if self._chunks > CHUNKS and self._bytes < self._chunks * LEAST_BYTES:
            self.refused = (
                f"the chunks of the body are too small: after the first {CHUNKS:,} they must hold"
                f" {LEAST_BYTES} bytes or more on average"
            )
            raise h11.RemoteProtocolError(self.refused)


class ParsingTurns:
    """Connections that wait for their next turn. One connection is parsed at a time."""

    def __init__(self) -> None:
        self._waiting: dict[object, Callable[[], None]] = {}
        self._timer: asyncio.TimerHandle | None = None

    def __contains__(self, connection: object) -> bool:
        return connection in self._waiting

    def wait(self, connection: object, parse_on: Callable[[], None]) -> None:
        self._waiting[connection] = parse_on
        self._arm()

    def leave(self, connection: object) -> None:
        self._waiting.pop(connection, None)

    def _arm(self) -> None:
        if self._timer is None and self._waiting:
            self._timer = asyncio.get_running_loop().call_later(PAUSE_S, self._next)

    def _next(self) -> None:
        self._timer = None
        first = next(iter(self._waiting), None)
        if first is None:
            return
        try:
            self._waiting.pop(first)()
        finally:
            self._arm()
