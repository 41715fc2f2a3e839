"""Guess the encoding of a text file where none was stated."""

import codecs
import re
from pathlib import Path

import msgspec

from headgate.transfer.lines import find_encoding
from headgate.transfer.places.gzip import open_content

_BLOCK = 1024 * 1024
_SCANNED = 64 * _BLOCK
"""Bytes of a file that are examined."""
_MULTIBYTE = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
_LETTERS = re.compile(rb"[A-Za-z0-9\x80-\xff]")
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]")
_WESTERN_SHARE = 0.4
"""Largest share of non-ASCII letters among letters and digits in Western languages."""


class Misread(msgspec.Struct, frozen=True):
    fits: str | None
    """A matching encoding; None if the bytes do not tell."""


def misread(path: Path, most_bytes: int) -> Misread | None:
    """Check a file that would be read as UTF-8; None if it is UTF-8.

    A file that is UTF-8 except for a few damaged rows counts as UTF-8. `most_bytes` limits how
    much is unpacked.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    with open_content(path, most_bytes) as file:
        start = find_encoding(file, path, None).start
        if start:
            return None
        file.seek(0)
        for _ in range(0, _SCANNED, _BLOCK):
            block = file.read(_BLOCK)
            try:
                decoder.decode(block, final=len(block) < _BLOCK)
            except UnicodeDecodeError:
                return judged(block)
            if len(block) < _BLOCK:
                return None
    return None


def judged(data: bytes) -> Misread | None:
    """Judge bytes that are not valid UTF-8; None if they are UTF-8 with some damage."""
    beyond = len(_BEYOND_ASCII.findall(data))
    whole = sum(len(each) for each in _MULTIBYTE.findall(data))
    if whole > beyond - whole:
        return None
    if beyond > len(_LETTERS.findall(data)) * _WESTERN_SHARE:
        return Misread(None)
    try:
        data.decode("cp1252")
    except UnicodeDecodeError:
        return Misread("latin-1")
    return Misread("cp1252")
