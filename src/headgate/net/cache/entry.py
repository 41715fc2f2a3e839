"""Cache entries, and batches of changes to them."""

import asyncio
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from headgate.net.cache.freshness import Freshness
from headgate.net.cache.request import CacheRequest, digest, variant_of
from headgate.ports.wire import Headers


class CacheEntry(msgspec.Struct, frozen=True, gc=False):
    """A reply with its body, or with the name of the blob that holds the body.

    If the caller keeps the body, `body` holds the caller's note.
    """

    key: str
    variant: str
    vary: str
    """The request fields that select the variant."""
    url: str
    """The file stores only a digest, because a URL may hold a secret."""
    status: int
    head: bytes
    """The headers, packed."""
    freshness: Freshness
    used_at: int
    size: int
    """Bytes of the body."""
    body: bytes | None
    blob: str | None
    id: int = 0
    """0 until the entry is in the file."""

    @property
    def headers(self) -> Headers:
        """The reply's headers, without the ones for the connection only."""
        return unpacked(self.head)


def packed(headers: Headers) -> bytes:
    """Pack headers as lines. A line break within one, which HTTP forbids, becomes a space."""
    lines = [f"{name}:{value}" for name, value in headers]
    # Servers send any bytes: what is not UTF-8 is stored unchanged.
    return "\n".join(line.replace("\n", " ") for line in lines).encode(errors="surrogateescape")


def unpacked(data: bytes) -> Headers:
    if not data:
        return ()
    text = data.decode(errors="surrogateescape")
    return tuple([line.partition(":")[::2] for line in text.split("\n")])


_encode = msgspec.json.Encoder().encode


class WriteBatch:
    """Changes that share a transaction. Forgetting comes first: a later put survives it."""

    def __init__(self) -> None:
        self.forgotten: set[str] = set()
        self.discarded: dict[tuple[str, str], int] = {}
        """By key and variant, the id to drop; 0: the entry got its id after it was read."""
        self.used: dict[str, int] = {}
        self.bytes = 0
        self.over = asyncio.Event()
        """Set when the batch is written or lost."""
        self._entries: dict[str, dict[str, CacheEntry]] = {}

    def __bool__(self) -> bool:
        return bool(self._entries or self.forgotten or self.discarded or self.used)

    def put(self, entry: CacheEntry) -> None:
        self._entries.setdefault(entry.key, {})[entry.variant] = entry
        self.discarded.pop((entry.key, entry.variant), None)
        self.bytes += len(entry.body or b"")

    def forget(self, url: str) -> None:
        self.forgotten.add(url)
        for key, variants in list(self._entries.items()):
            if any(entry.url == url for entry in variants.values()):
                del self._entries[key]

    def discard(self, entry: CacheEntry) -> None:
        self.discarded[entry.key, entry.variant] = entry.id
        variants = self._entries.get(entry.key, {})
        if variants.get(entry.variant) is entry:
            del variants[entry.variant]

    def discards(self, entry: CacheEntry) -> bool:
        number = self.discarded.get((entry.key, entry.variant))
        return number is not None and number in (0, entry.id)

    def find(self, demand: CacheRequest) -> CacheEntry | None:
        variants = self._entries.get(demand.key)
        return None if variants is None else matching_entry(variants.values(), demand)

    def knows_url(self, url: str) -> bool:
        return any(entry.url == url for entry in self._all())

    @property
    def new(self) -> list[CacheEntry]:
        return [entry for entry in self._all() if not entry.id]

    @property
    def freshened(self) -> list[CacheEntry]:
        return [entry for entry in self._all() if entry.id]

    def _all(self) -> Iterator[CacheEntry]:
        return (entry for variants in self._entries.values() for entry in variants.values())


def matching_entry(entries: Iterable[CacheEntry], demand: CacheRequest) -> CacheEntry | None:
    for entry in entries:
        if entry.variant == variant_of(entry.vary, demand.request.headers):
            return entry
    return None


def as_parameters(entries: Iterable[CacheEntry]) -> dict[str, Any]:
    """Return the entries as JSON, and all their bytes joined; SQL counts positions from 1."""
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
