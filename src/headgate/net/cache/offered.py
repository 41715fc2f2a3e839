"""An answer whose body the caller keeps himself."""

from collections.abc import AsyncIterator

import msgspec

from headgate.core.call import CallKind
from headgate.net.cache.entry import Entry
from headgate.net.cache.flights import Flight, Landing
from headgate.net.cache.keeping import Keeper
from headgate.ports.wire import ServerReply


class OfferedReply:
    """From the server; its head is remembered once the caller says that its body is safe."""

    __slots__ = ("_entry", "_flight", "_keeper", "_reply", "_whole", "headers", "status")
    kind = CallKind.FETCHED
    kept = ""

    def __init__(self, reply: ServerReply, entry: Entry, flight: Flight, keeper: Keeper) -> None:
        self._reply = reply
        self._entry = entry
        self._flight = flight
        self._keeper = keeper
        self._whole = False
        self.status = reply.status
        self.headers = reply.headers

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body as it arrives."""
        async for chunk in self._reply.chunks():
            self._flight.grow()
            yield chunk
        self._whole = True

    async def read(self, limit: int) -> bytes | None:
        """The whole body; None if it is larger than `limit`."""
        body = await self._reply.read(limit)
        self._whole = body is not None
        return body

    async def keep(self, note: str) -> None:
        """Remember the head with this note, if the body was read to its end and not closed yet."""
        flight, keeper = self._flight, self._keeper
        if not self._whole or flight.landed:
            return
        if flight.outdated:
            keeper.flights.end(flight, Landing.ALONE)
            return
        body = note.encode()
        entry = msgspec.structs.replace(self._entry, size=len(body), body=body)
        await keeper.keep(entry, flight)

    async def close(self) -> None:
        """Close the server's reply. Whoever waits for a note that never came goes on."""
        self._keeper.flights.end(self._flight, Landing.FAILED)
        await self._reply.close()
