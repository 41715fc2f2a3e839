"""An answer that is kept while its reader gets it."""

from collections.abc import AsyncIterator

import msgspec

from headgate.core.call import CallKind
from headgate.net.cache.entry import Entry
from headgate.net.cache.flights import Flight, Flights, Landing
from headgate.net.cache.reply import Unkept
from headgate.net.cache.shelf import Shelf
from headgate.net.cache.sink import BodySink
from headgate.ports.blobs import BlobStore
from headgate.ports.clock import Clock
from headgate.ports.wire import ServerReply


class Keeping:
    """Takes in one body; puts it on the shelf only when it is complete.

    Whatever goes wrong here is no concern of the reader.
    """

    def __init__(
        self, entry: Entry, expected: int | None, sink: BodySink, flight: Flight, keeper: "Keeper"
    ) -> None:
        self._entry = entry
        self._expected = expected
        self._sink = sink
        self._flight = flight
        self._keeper = keeper
        self._over = False

    async def add(self, piece: bytes) -> None:
        """One more piece."""
        self._flight.grow()
        if self._over:
            return
        try:
            if not await self._sink.add(piece):
                self._give_up(Landing.ALONE)
        except OSError as error:
            self._fail(error)

    async def finish(self) -> None:
        """The body has ended by itself: keep it, unless that was too early or is too late."""
        if self._over:
            return
        if self._expected is not None and self._expected != self._sink.size:
            self._give_up(Landing.FAILED)
            return
        try:
            kept = await self._sink.finish()
        except OSError as error:
            self._fail(error)
            return
        if self._flight.outdated:
            self._give_up(Landing.ALONE)
            return
        self._over = True
        size, body, blob = kept
        entry = msgspec.structs.replace(self._entry, size=size, body=body, blob=blob)
        await self._keeper.keep(entry, self._flight)

    def abandon(self) -> None:
        """Nobody reads on. Harmless when it is already over."""
        self._give_up(Landing.FAILED)

    def _fail(self, error: OSError) -> None:
        self._keeper.shelf.trouble(error)
        self._give_up(Landing.ALONE)

    def _give_up(self, landing: Landing) -> None:
        if not self._over:
            self._over = True
            self._sink.abandon()
            self._keeper.flights.end(self._flight, landing)


class Keeper(msgspec.Struct, frozen=True):
    """Where complete answers go."""

    shelf: Shelf
    flights: Flights
    blobs: BlobStore
    clock: Clock
    largest: int
    """No body larger than this, or it would drive out too much else."""

    async def keep(self, entry: Entry, flight: Flight) -> None:
        """Put an answer on the shelf and let those who waited for it go on."""
        self.shelf.put(entry)
        is_fresh = self.clock.now() < entry.freshness.fresh_until
        self.flights.end(flight, Landing.KEPT if is_fresh else Landing.ALONE)
        await self.shelf.wait_room()


class KeptReply(Unkept):
    """From the server; it is kept if it is read to its end."""

    __slots__ = ("_keeping", "_reply", "headers", "status")
    kind = CallKind.FETCHED

    def __init__(self, reply: ServerReply, keeping: Keeping) -> None:
        self._reply = reply
        self._keeping = keeping
        self.status = reply.status
        self.headers = reply.headers

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body as it arrives."""
        try:
            async for chunk in self._reply.chunks():
                await self._keeping.add(chunk)
                yield chunk
            await self._keeping.finish()
        finally:
            self._keeping.abandon()

    async def read(self, limit: int) -> bytes | None:
        """The whole body; None if it is larger than `limit`."""
        try:
            body = await self._reply.read(limit)
            if body is not None:
                await self._keeping.add(body)
                await self._keeping.finish()
        finally:
            self._keeping.abandon()
        return body

    async def close(self) -> None:
        """Close the server's reply."""
        self._keeping.abandon()
        await self._reply.close()
