"""The live stream of changes, and the log of decisions."""

from collections.abc import AsyncIterator, Iterator, Mapping

import msgspec

from headgate.client.errors import JobNotFound, Unavailable
from headgate.client.transport import ApiRequest, ClientTimeouts, Transport
from headgate.client.values import params, walk
from headgate.schema.events import (
    Changed,
    Counters,
    EventView,
    GateChange,
    Hello,
    News,
    Trouble,
)
from headgate.schema.values import Page


class Message(msgspec.Struct, frozen=True):
    kind: str
    id: str | None
    data: str


class SseParser:
    """Parses the lines of a stream; comments, which only keep the connection alive, are dropped."""

    def __init__(self) -> None:
        self._kind = ""
        self._id: str | None = None
        self._data: list[str] = []

    def line(self, line: str) -> Iterator[Message]:
        """Feed one line without its end; an empty line completes a message."""
        if not line:
            if self._data:
                yield Message(self._kind or "message", self._id, "\n".join(self._data))
            self._kind, self._id, self._data = "", None, []
            return
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._kind = value
        elif name == "id" and "\0" not in value:
            self._id = value


KINDS: Mapping[str, type[News]] = {
    "hello": Hello,
    "counters": Counters,
    "changed": Changed,
    "event": EventView,
    "gate": GateChange,
    "trouble": Trouble,
}


class EventsClient:
    def __init__(self, wire: Transport, timeouts: ClientTimeouts) -> None:
        self._wire = wire
        self._timeouts = timeouts

    async def stream(
        self, job_id: str | None = None, last_event_id: str | None = None
    ) -> AsyncIterator[News]:
        """Yield what happens from now on, or after `last_event_id`, without an end.

        A broken connection is opened again, and continues after the last event.
        """
        failures = 0
        while True:
            try:
                async for message in self._messages(job_id, last_event_id):
                    failures = 0
                    last_event_id = message.id or last_event_id
                    if (news := decoded(message)) is not None:
                        yield news
            except Unavailable:
                failures += 1
                if failures >= self._timeouts.tries:
                    raise
            await self._wire.rest(self._timeouts.before(failures + 2))

    def log(self, job_id: str | None = None) -> AsyncIterator[EventView]:
        """The log of decisions, newest first, page after page."""
        return walk(lambda after: self.page(job_id, page_size=1_000, after=after))

    async def page(
        self, job_id: str | None = None, *, page_size: int = 100, after: str | None = None
    ) -> Page[EventView]:
        """A page of the log of decisions, newest first."""
        query = params(jobId=job_id, pageSize=page_size, after=after)
        ask = ApiRequest(path="/api/events/log", params=query, absent=JobNotFound)
        return await self._wire.value(ask, Page[EventView])

    async def _messages(self, job_id: str | None, after: str | None) -> AsyncIterator[Message]:
        headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": after} if after else {})
        ask = ApiRequest(
            path="/api/events", params=params(jobId=job_id), headers=headers, absent=JobNotFound
        )
        parser = SseParser()
        async with self._wire.reply(ask) as reply:
            async for line in reply.content:
                for message in parser.line(line.decode("utf-8", "replace").rstrip("\r\n")):
                    yield message


def decoded(message: Message) -> News | None:
    """Decode a message; None for kinds that this version does not know."""
    kind = KINDS.get(message.kind)
    return None if kind is None else msgspec.json.decode(message.data, type=kind)
