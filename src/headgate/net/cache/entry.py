"""One kept answer."""

import asyncio
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from headgate.net.cache.freshness import Freshness
from headgate.net.cache.request import CacheRequest, digest, variant_of
from headgate.ports.wire import Headers


class CacheEntry(msgspec.Struct, frozen=True, gc=False):
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


_encode = msgspec.json.Encoder().encode


class WriteBatch:
    """Changes that share a transaction. Forgetting comes first: what was put later stays."""

    def __init__(self) -> None:
        self.forgotten: set[str] = set()
        self.discarded: dict[tuple[str, str], int] = {}
        """By key and variant, the id of what is dropped; 0: it got its id later than its reader."""
        self.used: dict[str, int] = {}
        self.bytes = 0
        self.over = asyncio.Event()
        """It is written, or lost."""
        self._entries: dict[str, dict[str, CacheEntry]] = {}

    def __bool__(self) -> bool:
        return bool(self._entries or self.forgotten or self.discarded or self.used)

    def put(self, entry: CacheEntry) -> None:
        """Add an answer, or the newer headers of one that has an id."""
        self._entries.setdefault(entry.key, {})[entry.variant] = entry
        self.discarded.pop((entry.key, entry.variant), None)
        self.bytes += len(entry.body or b"")

    def forget(self, url: str) -> None:
        """Drop everything that was kept of a URL."""
        self.forgotten.add(url)
        for key, variants in list(self._entries.items()):
            if any(entry.url == url for entry in variants.values()):
                del self._entries[key]

    def discard(self, entry: CacheEntry) -> None:
        """Drop one answer."""
        self.discarded[entry.key, entry.variant] = entry.id
        variants = self._entries.get(entry.key, {})
        if variants.get(entry.variant) is entry:
            del variants[entry.variant]

    def discards(self, entry: CacheEntry) -> bool:
        """Whether the answer, found in what was written before, is dropped here."""
        number = self.discarded.get((entry.key, entry.variant))
        return number is not None and number in (0, entry.id)

    def find(self, demand: CacheRequest) -> CacheEntry | None:
        """The answer among these that suits the request."""
        variants = self._entries.get(demand.key)
        return None if variants is None else suiting(variants.values(), demand)

    def knows_url(self, url: str) -> bool:
        """Whether an answer from this URL is among these."""
        return any(entry.url == url for entry in self._all())

    @property
    def new(self) -> list[CacheEntry]:
        """Answers that are not in the file yet."""
        return [entry for entry in self._all() if not entry.id]

    @property
    def freshened(self) -> list[CacheEntry]:
        """Answers in the file that have newer headers here."""
        return [entry for entry in self._all() if entry.id]

    def _all(self) -> Iterator[CacheEntry]:
        return (entry for variants in self._entries.values() for entry in variants.values())


def suiting(entries: Iterable[CacheEntry], demand: CacheRequest) -> CacheEntry | None:
    """The variant that the request asks for."""
    for entry in entries:
        if entry.variant == variant_of(entry.vary, demand.request.headers):
            return entry
    return None


def as_parameters(entries: Iterable[CacheEntry]) -> dict[str, Any]:
    """The entries as JSON, and all their bytes in one piece; SQL counts positions from 1."""
    rows: list[dict[str, Any]] = []
    pieces: list[bytes] = []
    at = 1
    for entry in entries:
        body = b"" if entry.body is None or entry.id else entry.body
        rows.append(
            {
                "id": entry.id,
                "key": entry.key,
                "variant": entry.variant,
                "vary": entry.vary,
                "url": digest(entry.url),
                "status": entry.status,
                "born_at": entry.freshness.born_at,
                "fresh_until": entry.freshness.fresh_until,
                "used_at": entry.used_at,
                "size": entry.size,
                "blob": entry.blob,
                "headers_at": at,
                "headers_size": len(entry.head),
                "body_at": at + len(entry.head),
            }
        )
        pieces += (entry.head, body)
        at += len(entry.head) + len(body)
    return {"entries": _encode(rows).decode(), "bytes": b"".join(pieces)}
