"""The live stream of changes, and the log of decisions."""

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

import msgspec

from headgate.client.errors import JobNotFound, Unavailable
from headgate.client.jobs import Eta
from headgate.client.transport import ApiRequest, ClientTimeouts, Transport
from headgate.client.values import Counts, Moment, Page, Wait, Wired, params, walk
from headgate.core.status import JobState


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


class Hello(Wired, frozen=True, kw_only=True):
    """The stream has started, or started again."""


class Counters(Wired, frozen=True, kw_only=True):
    """The progress of a job."""

    job_id: str
    state: JobState
    counts: Counts
    ingest: Mapping[str, Any] = {}
    rate: float | None = None
    eta: Eta | None = None
    limited_by: Wait | None = None
    """What limits the job's speed."""
    at: Moment = None


class Changed(Wired, frozen=True, kw_only=True):
    """Items of a job have changed since a cursor."""

    job_id: str
    after: str


class Event(Wired, frozen=True, kw_only=True):
    """An entry of the log of decisions."""

    id: str
    kind: str
    message: str
    at: Moment = None
    job_id: str | None = None
    item_id: str | None = None


class GateChange(Wired, frozen=True, kw_only=True):
    """A gate has changed."""

    key: str
    name: str
    closed: bool
    why: str
    in_flight: int = 0
    now_per_s: float | None = None
    learned_per_s: float | None = None
    latency_s: float | None = None
    refused_share: float = 0.0
    at: Moment = None


class Trouble(Wired, frozen=True, kw_only=True):
    """The server cannot read its store at present; it keeps trying."""

    detail: str


News = Hello | Counters | Changed | Event | GateChange | Trouble
KINDS: Mapping[str, type[News]] = {
    "hello": Hello,
    "counters": Counters,
    "changed": Changed,
    "event": Event,
    "gate": GateChange,
    "trouble": Trouble,
}


class Events:
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

    def log(self, job_id: str | None = None) -> AsyncIterator[Event]:
        """The log of decisions, newest first, page after page."""
        return walk(lambda after: self.page(job_id, page_size=1_000, after=after))

    async def page(
        self, job_id: str | None = None, *, page_size: int = 100, after: str | None = None
    ) -> Page[Event]:
        """A page of the log of decisions, newest first."""
        query = params(jobId=job_id, pageSize=page_size, after=after)
        ask = ApiRequest(path="/api/events/log", params=query, absent=JobNotFound)
        return await self._wire.value(ask, Page[Event])

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
