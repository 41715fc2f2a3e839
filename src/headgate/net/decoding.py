"""Undo the content encoding of a body while it arrives, in small pieces and within a limit."""

import zlib
from collections.abc import Iterator, Mapping
from typing import Any, Final

from headgate.core.body_limits import DecompressionLimit

PIECE: Final = 64 * 1024
"""Most bytes of decoded output at a time."""
INPUT: Final = 16 * 1024
"""Most bytes of encoded input at a time: zlib copies unused input again at each call."""

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
"""Known encodings. Other values in the header, such as `utf-8` or `none`, are ignored."""


class BadEncoding(Exception):
    """The body is not in the encoding that its header names, or is incomplete."""


class TooFarDecompressed(Exception):
    """The decoded body exceeds the decompression limit."""

    def __init__(self, encoded: int, decoded: int) -> None:
        super().__init__(f"{encoded:,} bytes unpack to {decoded:,} and more")


def encoding_of(fields: Mapping[str, str]) -> str:
    """Return the encoding to undo; empty if there is none.

    Some servers name gzip both as the type and as the encoding of a .gz file. They mean one
    compression, which belongs to the file.
    """
    words = fields.get("content-encoding", "").lower().split(",")
    named = ", ".join(_ENCODINGS[word.strip()] for word in words if word.strip() in _ENCODINGS)
    kind = fields.get("content-type", "").partition(";")[0].strip().lower()
    return "" if named == "gzip" and kind in _GZIPPED_FILES else named


class BodyDecoder:
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
        for start in range(0, len(arrived), INPUT):
            yield from self._decode(arrived[start : start + INPUT])

    def finish(self) -> None:
        """Raise BadEncoding if the body has ended too early."""
        if self._member is not None and not self._member.eof:
            raise BadEncoding(self._encoding)

    def _decode(self, packed: bytes) -> Iterator[bytes]:
        self._encoded += len(packed)
        unpacked = b""
        # A full piece may not be all: zlib can hold output back even if it has used all its input.
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
        """Start a member; a gzip body may consist of several members in a row."""
        if self._encoding == "gzip":
            return zlib.decompressobj(_GZIP)
        # By RFC 9110 "deflate" means zlib; some servers leave out the zlib header.
        return zlib.decompressobj(_ZLIB if packed[0] & 0x0F == 8 else _BARE)
