"""Server-sent events, as they come over a connection."""

from collections.abc import Iterator

import msgspec


class Message(msgspec.Struct, frozen=True):
    """One event of a stream."""

    kind: str
    id: str | None
    data: str


class SseParser:
    """Turns lines into messages; comments, which only keep the connection alive, are dropped."""

    def __init__(self) -> None:
        self._kind = ""
        self._id: str | None = None
        self._data: list[str] = []

    def line(self, line: str) -> Iterator[Message]:
        """Take in one line without its end; an empty one completes a message."""
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
