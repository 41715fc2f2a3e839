"""Messages between a worker and the process that writes its small files."""

import struct
from collections.abc import Iterator
from typing import Final

import msgspec

from headgate.ports.artifacts import (
    ArtifactTrouble,
    FileTrouble,
    FolderFull,
    FolderGone,
    FolderReadOnly,
    FolderTrouble,
    StoredArtifact,
)

_LENGTHS: Final = struct.Struct("<II")
_TROUBLES: Final = {
    kind.__name__: kind
    for kind in (FileTrouble, FolderTrouble, FolderFull, FolderGone, FolderReadOnly)
}


class WriteOrder(msgspec.Struct, frozen=True, array_like=True):
    number: int
    item: bytes
    """Bytes, as an item may contain text that is not valid Unicode."""
    name: str
    sha256: str


class WriteAnswer(msgspec.Struct, frozen=True, array_like=True):
    number: int
    stored: StoredArtifact | None = None
    trouble: str = ""
    words: str = ""

    def error(self) -> ArtifactTrouble:
        return _TROUBLES.get(self.trouble, FileTrouble)(self.words)


Frame = tuple[bytes, bytes]
"""A message, and the bytes that follow it."""


def framed(message: bytes, data: bytes = b"") -> bytes:
    """Both parts, preceded by their lengths."""
    return b"".join((_LENGTHS.pack(len(message), len(data)), message, data))


class Frames:
    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[Frame]:
        self._buffer += data
        place = 0
        with memoryview(self._buffer) as view:
            while place + _LENGTHS.size <= len(view):
                head, body = _LENGTHS.unpack_from(view, place)
                start = place + _LENGTHS.size
                if start + head + body > len(view):
                    break
                place = start + head + body
                yield bytes(view[start : start + head]), bytes(view[start + head : place])
        del self._buffer[:place]


orders: Final = msgspec.msgpack.Decoder(WriteOrder)
answers: Final = msgspec.msgpack.Decoder(list[WriteAnswer])
encoder: Final = msgspec.msgpack.Encoder()
