"""One kept answer."""

import msgspec

from headgate.net.cache.freshness import Freshness
from headgate.ports.wire import Headers


class Entry(msgspec.Struct, frozen=True, gc=False):
    """An answer with its body, or with the name of the blob that holds it.

    Where the caller keeps the body, the note that he left stands in its place.
    """

    key: str
    variant: str
    vary: str
    """The request fields that decide whether this is the right variant."""
    url: str
    """Stands in the file as a digest: it may hold what others should not read."""
    status: int
    head: bytes
    """Its headers, packed."""
    freshness: Freshness
    used_at: int
    size: int
    """Of the body."""
    body: bytes | None
    blob: str | None
    id: int = 0
    """0 until it is in the file."""

    @property
    def headers(self) -> Headers:
        """As they came, without what only concerned the connection."""
        return unpacked(self.head)


def packed(headers: Headers) -> bytes:
    """Headers as lines. A line break within one, which HTTP forbids, becomes a space."""
    lines = [f"{name}:{value}" for name, value in headers]
    # Servers send any bytes: what is not UTF-8 is carried through as it came.
    return "\n".join(line.replace("\n", " ") for line in lines).encode(errors="surrogateescape")


def unpacked(data: bytes) -> Headers:
    """The headers in these lines."""
    if not data:
        return ()
    text = data.decode(errors="surrogateescape")
    return tuple([line.partition(":")[::2] for line in text.split("\n")])
