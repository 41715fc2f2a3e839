"""Limits on open connections, and on what each may have parsed per turn."""

import asyncio
import ipaddress
import resource
from collections import Counter
from collections.abc import Callable
from itertools import chain
from typing import Any, Protocol

import h11

from headgate.app.server_policy import ServerPolicy

BACKLOG = 256
"""Connections that the system may hand over at once, before any of them is counted."""
FILES = 128
"""File descriptors that are reserved for the store, uploads and pipes."""


class Connection(Protocol):
    address: str

    def drop(self) -> None:
        """Close at once, without a response."""


class ServerConnections:
    """Counts open connections, in total and by address.

    At the limit, a new connection replaces the one whose request has been incomplete for the
    longest time, or else the oldest event stream, because its client reconnects. Clients that hold
    half-sent requests thus replace each other.
    """

    def __init__(self, most: int, per_address: int) -> None:
        self._most = most
        self._per_address = per_address
        self._open: dict[Connection, None] = {}
        self._by_address: Counter[str] = Counter()
        self._owing: dict[Connection, None] = {}
        self._streaming: dict[Connection, None] = {}
        self._lingering: set[Connection] = set()

    def __len__(self) -> int:
        return len(self._open)

    def admit(self, new: Connection) -> bool:
        """Count a new connection. Returns False at the limit if all others are being answered."""
        if self._is_full(new.address) and not self._make_room(new.address):
            return False
        self._open[new] = None
        self._by_address[new.address] += 1
        self._owing[new] = None
        return True

    def owes(self, connection: Connection) -> None:
        """Note that the next request, or the rest of one, has not arrived yet."""
        if connection in self._open:
            self._owing.setdefault(connection)

    def has_sent(self, connection: Connection) -> None:
        """Note that the request is complete, or that it has a time limit elsewhere."""
        self._owing.pop(connection, None)

    def streams(self, connection: Connection) -> None:
        if connection in self._open:
            self._streaming[connection] = None

    def may_linger(self, connection: Connection, most: int) -> bool:
        """Return whether a refused client may keep sending; at most `most` clients may."""
        if len(self._lingering) >= most:
            return False
        self._lingering.add(connection)
        return True

    def leave(self, connection: Connection) -> None:
        self._owing.pop(connection, None)
        self._streaming.pop(connection, None)
        self._lingering.discard(connection)
        if connection not in self._open:
            return
        del self._open[connection]
        self._by_address[connection.address] -= 1
        if not self._by_address[connection.address]:
            del self._by_address[connection.address]

    def _is_full(self, address: str) -> bool:
        return len(self._open) >= self._most or self._is_crowded(address)

    def _is_crowded(self, address: str) -> bool:
        # A proxy on this machine forwards the requests of many clients.
        return self._by_address[address] >= self._per_address and not is_loopback(address)

    def _make_room(self, address: str) -> bool:
        crowded = self._is_crowded(address)
        may_go = chain(self._owing, self._streaming)
        oldest = next((one for one in may_go if not crowded or one.address == address), None)
        if oldest is None:
            return False
        self.leave(oldest)
        oldest.drop()
        return True


def is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def most_connections(policy: ServerPolicy) -> int:
    """Return the configured number of connections, reduced to what the file limit allows."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return policy.connections
    return max(min(policy.connections, files - BACKLOG - FILES), 1)


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
