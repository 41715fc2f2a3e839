"""How much of a request is parsed at a time, so that tiny chunks do not hold up other requests."""

import asyncio
from collections.abc import Callable
from typing import Any

import h11

EVENTS = 64
"""Events, such as chunks of a body, that one connection is given at a time: about 2 ms of work."""
PAUSE_S = 0.004
"""Between two turns, whatever the number of connections: the loop has other work meanwhile."""
CHUNKS = 1_000
"""The first chunks of a body may be of any size."""
LEAST_BYTES = 16
"""What chunks must hold on average after these: a smaller one has more frame than content."""


class PacedConnection(h11.Connection):
    """The state of a connection, which hands out events for one turn at a time."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.has_more = False
        """Whether the turn ended before all that was received could be parsed."""
        self.refused = ""
        """Why a body is not read on."""
        self._left = 0
        self._chunks = 0
        self._bytes = 0

    def begin_turn(self) -> None:
        """Hand out events again."""
        self._left = EVENTS
        self.has_more = False

    def next_event(self) -> "type[h11.NEED_DATA | h11.PAUSED] | h11.Event":
        """The next one, or NEED_DATA at the end of the turn."""
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
                f"the chunks of the body are too small: after {CHUNKS:,} of them they must hold"
                f" {LEAST_BYTES} bytes or more on average"
            )
            raise h11.RemoteProtocolError(self.refused)


class ParsingTurns:
    """Connections that wait to be parsed on, one turn of one connection at a time."""

    def __init__(self) -> None:
        self._waiting: dict[object, Callable[[], None]] = {}
        self._timer: asyncio.TimerHandle | None = None

    def __contains__(self, connection: object) -> bool:
        return connection in self._waiting

    def wait(self, connection: object, parse_on: Callable[[], None]) -> None:
        """Call back when it is this connection's turn."""
        self._waiting[connection] = parse_on
        self._arm()

    def leave(self, connection: object) -> None:
        """Wait no more."""
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
