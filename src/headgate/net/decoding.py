"""Undoes the content encoding of a body while it arrives, in small pieces and within bounds."""

import zlib
from collections.abc import Iterator, Mapping
from typing import Any, Final

from headgate.core.decompression import DecompressionLimit

PIECE: Final = 64 * 1024
"""The most that is unpacked at a time."""
BITE: Final = 16 * 1024
"""The most that is unpacked from: zlib copies what it has not used yet, again and again."""

_GZIP: Final = 16 + zlib.MAX_WBITS
_ZLIB: Final = zlib.MAX_WBITS
_BARE: Final = -zlib.MAX_WBITS
_GZIPPED_FILES: Final = frozenset({"application/gzip", "application/x-gzip", "application/x-tgz"})
_ENCODINGS: Final = {
    "gzip": "gzip",
    "x-gzip": "gzip",
    "deflate": "deflate",
    "br": "br",
    "zstd": "zstd",
    "compress": "compress",
    "x-compress": "compress",
}
"""Real ones. What else stands in the header, such as `utf-8` or `none`, means nothing."""


class BadEncoding(Exception):
    """The body is not in the encoding that its header names, or it lacks its end."""


class TooFarDecompressed(Exception):
    """The body unpacks to far more than was sent."""

    def __init__(self, encoded: int, decoded: int) -> None:
        super().__init__(f"{encoded:,} bytes unpack to {decoded:,} and more")


def encoding_of(fields: Mapping[str, str]) -> str:
    """The encoding that must be undone to get at the content; empty if there is none.

    Some servers say of a file with the ending .gz that its type is gzip and its encoding too. They
    mean one packing, and it is the file's own.
    """
    words = fields.get("content-encoding", "").lower().split(",")
    named = ", ".join(_ENCODINGS[word.strip()] for word in words if word.strip() in _ENCODINGS)
    kind = fields.get("content-type", "").partition(";")[0].strip().lower()
    return "" if named == "gzip" and kind in _GZIPPED_FILES else named


class BodyDecoder:
    """One body, fed as it arrives."""

    __slots__ = ("_decoded", "_encoded", "_encoding", "_limit", "_member")

    def __init__(self, encoding: str, limit: DecompressionLimit) -> None:
        if encoding not in {"gzip", "deflate"}:
            raise BadEncoding(encoding)
        self._encoding = encoding
        self._limit = limit
        self._member: Any = None
        self._encoded = 0
        self._decoded = 0

    def feed(self, arrived: bytes) -> Iterator[bytes]:
        """What further bytes unpack to."""
        for start in range(0, len(arrived), BITE):
            yield from self._bite(arrived[start : start + BITE])

    def finish(self) -> None:
        """The body has ended: BadEncoding if it should not have."""
        if self._member is not None and not self._member.eof:
            raise BadEncoding(self._encoding)

    def _bite(self, packed: bytes) -> Iterator[bytes]:
        self._encoded += len(packed)
        unpacked = b""
        # A full piece may not be all: zlib holds some back even if it has used all its input.
        while packed or len(unpacked) == PIECE:
            if self._member is None or self._member.eof:
                if self._member is not None and not packed.strip(b"\0"):
                    return  # the end, or padding behind it
                self._member = self._new_member(packed)
            member = self._member
            try:
                unpacked = member.decompress(packed, PIECE)
            except zlib.error as error:
                raise BadEncoding(self._encoding) from error
            packed = member.unused_data if member.eof else member.unconsumed_tail
            self._decoded += len(unpacked)
            if self._limit.exceeded(self._encoded, self._decoded):
                raise TooFarDecompressed(self._encoded, self._decoded)
            if unpacked:
                yield unpacked

    def _new_member(self, packed: bytes) -> Any:
        """Begin to unpack; gzip may have several members, one behind the other."""
        if self._encoding == "gzip":
            return zlib.decompressobj(_GZIP)
        # RFC 9110 means zlib by this word; some servers leave out its head.
        return zlib.decompressobj(_ZLIB if packed[0] & 0x0F == 8 else _BARE)
