"""Size of an image, read from its first bytes."""

import struct
from typing import IO, NamedTuple

from headgate.core.content_type import ContentType, signature_in

HEAD_BYTES = 1024 * 1024
"""Bytes of a JPEG that are searched for its size; metadata may come before it."""

_BLOCK = 64 * 1024
_FRAME_MARKERS = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_BARE_MARKERS = frozenset({0x01, *range(0xD0, 0xD9)})
_TIFF_WIDTH, _TIFF_HEIGHT = 256, 257
_TIFF_SHORT, _TIFF_LONG = 3, 4


class ImageHead(NamedTuple):
    format: str
    width: int
    height: int


def read_head(file: IO[bytes]) -> ImageHead | None:
    """The format and size; None if the bytes are not a known image format."""
    head = file.read(_BLOCK)
    try:
        return _recognise(head, file)
    except (struct.error, IndexError):
        return None


def _recognise(head: bytes, file: IO[bytes]) -> ImageHead | None:
    match signature_in(head):
        case ContentType.PNG if head[12:16] == b"IHDR":
            return ImageHead("png", *struct.unpack_from(">2I", head, 16))
        case ContentType.GIF:
            return ImageHead("gif", *struct.unpack_from("<2H", head, 6))
        case ContentType.JPEG:
            return _jpeg(head + file.read(HEAD_BYTES - _BLOCK))
        case ContentType.WEBP:
            return _webp(head)
        case ContentType.TIFF:
            return _tiff(head, file)
        case ContentType.BMP:
            return _bmp(head)
        case _:
            return None


def _jpeg(data: bytes) -> ImageHead | None:
    at = 2
    while at + 4 <= len(data):
        if data[at] != 0xFF:
            return None
        marker = data[at + 1]
        if marker == 0xFF:  # a padding byte
            at += 1
        elif marker in _BARE_MARKERS:
            at += 2
        elif marker in _FRAME_MARKERS:
            height, width = struct.unpack_from(">2H", data, at + 5)
            return ImageHead("jpeg", width, height)
        else:
            at += 2 + struct.unpack_from(">H", data, at + 2)[0]
    return None


def _webp(head: bytes) -> ImageHead | None:
    kind = head[12:16]
    if kind == b"VP8X":
        width, height = head[24:27], head[27:30]
        return ImageHead(
            "webp", 1 + int.from_bytes(width, "little"), 1 + int.from_bytes(height, "little")
        )
    if kind == b"VP8L":
        (bits,) = struct.unpack_from("<I", head, 21)
        return ImageHead("webp", 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF))
    if kind == b"VP8 " and head[23:26] == b"\x9d\x01\x2a":
        width, height = struct.unpack_from("<2H", head, 26)
        return ImageHead("webp", width & 0x3FFF, height & 0x3FFF)
    return None


def _bmp(head: bytes) -> ImageHead:
    (size,) = struct.unpack_from("<I", head, 14)
    if size == 12:
        return ImageHead("bmp", *struct.unpack_from("<2H", head, 18))
    width, height = struct.unpack_from("<2i", head, 18)
    # A negative height means that rows are stored from the top down.
    return ImageHead("bmp", width, abs(height))


def _tiff(head: bytes, file: IO[bytes]) -> ImageHead | None:
    order = "<" if head.startswith(b"II") else ">"
    (at,) = struct.unpack_from(f"{order}I", head, 4)
    directory = _from(at, head, file)
    (entries,) = struct.unpack_from(f"{order}H", directory)
    found = {}
    for index in range(min(entries, (len(directory) - 2) // 12)):
        tag, kind = struct.unpack_from(f"{order}2H", directory, 2 + 12 * index)
        if kind in {_TIFF_SHORT, _TIFF_LONG}:
            value = "H" if kind == _TIFF_SHORT else "I"
            (found[tag],) = struct.unpack_from(f"{order}{value}", directory, 10 + 12 * index)
    if _TIFF_WIDTH in found and _TIFF_HEIGHT in found:
        return ImageHead("tiff", found[_TIFF_WIDTH], found[_TIFF_HEIGHT])
    return None


def _from(at: int, head: bytes, file: IO[bytes]) -> bytes:
    """Some bytes from `at` on: a TIFF often has its directory at its end."""
    start = 0
    while at >= start + len(head):
        start += len(head)
        head = file.read(_BLOCK)
        if not head:
            return b""
    return head[at - start :] + file.read(_BLOCK)
