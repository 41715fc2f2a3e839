"""HTTP/1.1 over one connection, with limits on the time of a head and on unread bodies.

Connections take turns in parsing: see `ParsingTurns`.
"""

import asyncio
from typing import Any, cast

import h11
from starlette.types import Message, Receive, Scope, Send
from uvicorn.protocols.http.flow_control import CLOSE_HEADER
from uvicorn.protocols.http.h11_impl import H11Protocol

from headgate.app.api.connections import PacedConnection, ParsingTurns, ServerConnections
from headgate.app.api.problems import answer

EVENTS = b"text/event-stream"
HEAD_BYTES = 16_384
LINGER_S = 10.0
LINGER_BYTES = 64 * 1_048_576
"""Bytes of an unread body that are discarded before the connection is closed. A client that reads
only after it has sent everything would otherwise see a reset instead of the response."""
LINGER_PAUSE_S = 0.01
"""Seconds between two discarded pieces, so that other connections are not slowed down."""
LINGERING = 32
"""Connections that may be in this state at the same time."""


class BoundedProtocol(H11Protocol):
    """Uvicorn's protocol with limits on connections, heads, chunks and unread bodies."""

    conn: PacedConnection

    def __init__(
        self, connections: ServerConnections, turns: ParsingTurns, head_s: float, **rest: Any
    ) -> None:
        super().__init__(**rest)
        self.conn = PacedConnection(h11.SERVER, HEAD_BYTES)
        self.address = ""
        self._counted = connections
        self._turns = turns
        self._head_s = head_s
        self._head_timer: asyncio.TimerHandle | None = None
        self._linger_timer: asyncio.TimerHandle | None = None
        self._linger_bytes = 0
        self._kept = False
        self._respond = self.app
        self.app = cast("Any", self._answer)

    # ---- called by asyncio ----------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        plain = cast("asyncio.Transport", transport)
        super().connection_made(cast("asyncio.Transport", _Lingering(plain, self)))
        self.address = self.client[0] if self.client else ""
        if not self._counted.admit(self):
            self._end(503, "too many connections; try again later")
            return
        self._note()

    def data_received(self, data: bytes) -> None:
        """Parse data, or discard it after the response to an unread body."""
        if self._linger_timer is None:
            super().data_received(data)
            self._note()
            return
        self._linger_bytes -= len(data)
        if self._linger_bytes <= 0:
            self.transport.abort()
            return
        self.flow.pause_reading()
        self.loop.call_later(LINGER_PAUSE_S, self._read_on)

    def connection_lost(self, exc: Exception | None) -> None:
        self._counted.leave(self)
        self._turns.leave(self)
        self._await_head(needed=False)
        if self._linger_timer is not None:
            self._linger_timer.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._kept = False
        self._note()

    def handle_events(self) -> None:
        """Parse for one turn. Reading pauses until later turns have parsed the rest."""
        if self in self._turns:
            return
        self.conn.begin_turn()
        super().handle_events()
        if self.conn.has_more and not self.transport.is_closing():
            self._turns.wait(self, self._parse_on)
            self.transport.pause_reading()

    def send_400_response(self, msg: str) -> None:
        """Refuse what cannot be parsed, unless the response has begun."""
        if self.conn.our_state not in {h11.IDLE, h11.SEND_RESPONSE}:
            self.transport.close()
        elif self.conn.refused:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
            self._end(400, self.conn.refused)
        else:
            super().send_400_response(msg)

    # ---- called by others ------------------------------------------------------------------

    def drop(self) -> None:
        self.transport.abort()

    def keep(self) -> None:
        """Exempt the connection from the limits here: a long upload has its own."""
        self._kept = True
        self._counted.has_sent(self)

    @property
    def may_read(self) -> bool:
        return self not in self._turns

    @property
    def is_receiving(self) -> bool:
        return self.conn.their_state is h11.SEND_BODY

    def linger(self, transport: asyncio.Transport) -> None:
        """Send the end of our side, and read on for a moment."""
        if self._linger_timer is not None or transport.is_closing():
            return
        if not self._counted.may_linger(self, LINGERING):
            transport.close()
            return
        self._linger_bytes = LINGER_BYTES
        self._linger_timer = self.loop.call_later(LINGER_S, transport.abort)
        transport.write_eof()
        self._turns.leave(self)
        self.flow.resume_reading()
        transport.resume_reading()

    # ---- inside ---------------------------------------------------------------------------

    def _parse_on(self) -> None:
        if self.transport.is_closing():
            return
        self.handle_events()
        self._note()
        if self.may_read and not self.flow.read_paused:
            self.transport.resume_reading()

    def _read_on(self) -> None:
        if not cast("_Lingering", self.transport).is_gone:
            self.flow.resume_reading()

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["state"]["connection"] = self

        async def send_closing(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [*message.get("headers", ())]
                if self.is_receiving:
                    message = {**message, "headers": [*headers, CLOSE_HEADER]}
                if any(value.startswith(EVENTS) for _, value in headers):
                    self._counted.streams(self)
            await send(message)

        await self._respond(scope, receive, send_closing)

    def _note(self) -> None:
        """Report the state of the connection to the connection limit."""
        state = self.conn.their_state
        if state is h11.IDLE or (state is h11.SEND_BODY and not self._kept):
            self._counted.owes(self)
        else:
            self._counted.has_sent(self)
        idle = self.timeout_keep_alive_task is not None
        self._await_head(needed=state is h11.IDLE and not idle)

    def _await_head(self, *, needed: bool) -> None:
        if self._head_timer is not None and not needed:
            self._head_timer.cancel()
            self._head_timer = None
        elif self._head_timer is None and needed:
            self._head_timer = self.loop.call_later(self._head_s, self._late_head)

    def _late_head(self) -> None:
        self._head_timer = None
        if not self.conn.trailing_data[0]:
            # Browsers open connections in advance, and would show this to the next request.
            self.transport.close()
            return
        self._end(408, f"the request head was not complete after {self._head_s:g} s")

    def _end(self, status: int, detail: str) -> None:
        """Send a response without a request, and close."""
        body = bytes(answer(status, detail).body)
        lines = (
            f"HTTP/1.1 {status} ",
            "content-type: application/problem+json",
            f"content-length: {len(body)}",
            *(["retry-after: 5"] if status != 400 else []),
            "connection: close",
            "",
            "",
        )
        self.transport.write("\r\n".join(lines).encode() + body)
        self.transport.close()


class _Lingering:
    """A transport that stays open while a refused client is still sending."""

    def __init__(self, transport: asyncio.Transport, protocol: BoundedProtocol) -> None:
        self._transport = transport
        self._protocol = protocol
        self._closed = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def resume_reading(self) -> None:
        """Read on, unless received data is still to be parsed."""
        if self._protocol.may_read:
            self._transport.resume_reading()

    def close(self) -> None:
        self._closed = True
        if self._protocol.is_receiving:
            self._protocol.linger(self._transport)
        else:
            self._transport.close()

    @property
    def is_gone(self) -> bool:
        return self._transport.is_closing()

    def is_closing(self) -> bool:
        return self._closed or self._transport.is_closing()
