"""Connections to places: only to allowed addresses, and with a time limit.

The checked address is the one that is connected to, so that a name cannot change its
address in between. A server that sends a byte now and then never exceeds the read timeout;
so all connections of a request are cut when its time is over.
"""

import socket
import ssl
import threading
from time import monotonic
from types import TracebackType
from typing import Any, Self

from headgate.core.address import address_refusal
from headgate.core.body_limits import MinimumPace
from headgate.core.errors import BadSource
from headgate.transfer.places.settings import PlaceSettings

LOOK_S = 0.5
"""Seconds between two checks of the deadline, which may have been moved forward."""

AddressInfo = tuple[int | socket.AddressFamily, int | socket.SocketKind, int, str, Any]


class GuardedSockets:
    def __init__(self, settings: PlaceSettings, limit_s: float) -> None:
        self.settings = settings
        self.expired = False
        self._limit_s = limit_s
        self._ends_s = float("inf")
        self._piece_s = float("inf")
        self._handles: list[socket.socket] = []
        self._lock = threading.Lock()
        self._left = threading.Event()

    def __enter__(self) -> Self:
        self._ends_s = monotonic() + self._limit_s
        threading.Thread(target=self._watch, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._left.set()
        with self._lock:
            for handle in self._handles:
                handle.close()
            self._handles.clear()

    def check(self) -> None:
        """Raise TimeoutError if the time is over: a cut connection may look like an end of file."""
        if self.expired:
            raise TimeoutError

    def expect_piece(self, within_s: float) -> None:
        """Cut the connections unless this is called again within that time, in seconds."""
        self._piece_s = monotonic() + within_s

    @property
    def over(self) -> str:
        """Reason why the time is over, as the end of a sentence that begins with the place."""
        if monotonic() < self._ends_s:
            return too_slow(self.settings.minimum_pace)
        return f"took longer than {self._limit_s:g} s"

    def keep(self, connection: socket.socket) -> socket.socket:
        """Cut this connection, too, when the time is over; pass the result to `let_go`."""
        # A copy of the handle still reaches the connection after TLS has taken over the original.
        handle = connection.dup()
        with self._lock:
            self._handles.append(handle)
        if self.expired:
            self._cut()
        return handle

    def let_go(self, handle: socket.socket) -> None:
        """Drop a closed connection: only now does the other side see that it is closed."""
        with self._lock:
            self._handles.remove(handle)
            handle.close()

    def dial(self, host: str, port: int) -> socket.socket:
        """Connect to one of the allowed addresses of a host; OSError if none answers."""
        last: OSError | None = None
        for info in self._allowed(host, port):
            try:
                connection = self._connected(info)
            except OSError as error:
                last = error
            else:
                self.keep(connection)
                return connection
        raise last or OSError("the name has no address")

    def tls(self) -> ssl.SSLContext:
        context = ssl.create_default_context()
        if self.settings.ca_file:
            context.load_verify_locations(self.settings.ca_file)
        return context

    def _allowed(self, host: str, port: int) -> list[AddressInfo]:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        if self.settings.allow_private:
            return [*found]
        public = [info for info in found if address_refusal(str(info[4][0])) is None]
        if found and not public:
            raise refused(host, str(address_refusal(str(found[0][4][0]))))
        return [*public]

    def _connected(self, info: AddressInfo) -> socket.socket:
        family, kind, protocol, _, place = info
        connection = socket.socket(family, kind, protocol)
        try:
            connection.settimeout(self.settings.connect_s)
            connection.connect(place)
            connection.settimeout(self.settings.read_s)
        except BaseException:
            connection.close()
            raise
        return connection

    def _watch(self) -> None:
        while (left_s := min(self._ends_s, self._piece_s) - monotonic()) > 0:
            if self._left.wait(min(left_s, LOOK_S)):
                return
        self._cut()

    def _cut(self) -> None:
        self.expired = True
        with self._lock:
            for handle in self._handles:
                try:
                    handle.shutdown(socket.SHUT_RDWR)
                except OSError:
                    continue  # closed already


def too_slow(minimum: MinimumPace) -> str:
    return (
        f"sent less than {minimum.bytes_per_s:,.0f} bytes a second for {minimum.over_s:g} s"
        " (places.min_bytes_per_s): upload the file instead, or put it on a faster server"
    )


def refused(host: str, kind: str) -> BadSource:
    # The address itself is left out: it would reveal our network to strangers.
    return BadSource(
        f"address refused: {host} is {kind}, not public (places.allow_private permits it)"
    )
