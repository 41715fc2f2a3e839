"""Files as lines of bytes: bounded in size, in any encoding, with exact offsets."""

import codecs
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import msgspec

from headgate.core.errors import BadSource
from headgate.transfer.limits import MAX_RECORD_BYTES

NOT_FOR_FILES = frozenset({"idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape"})
"""Python counts these among the encodings of text. They are for host names and source code, and
fail in ways of their own."""


def known_name(name: str) -> str | None:
    """The one spelling of an encoding of text; None if that is not the name of one."""
    try:
        known = codecs.lookup(name).name
        "".encode(name)  # codecs such as bz2 and hex are not for text, and fail here
    except (LookupError, ValueError, TypeError):
        return None
    return None if known.replace("_", "-") in NOT_FOR_FILES else known


_BLOCK = 256 * 1024

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins like UTF-16, so it is looked for first
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class Encoding(msgspec.Struct, frozen=True):
    """How the bytes of a file become text, and where its text begins."""

    name: str = "utf-8"
    start: int = 0

    @property
    def wide(self) -> bool:
        """Two bytes to a character: line ends cannot be looked for byte by byte."""
        return self.name.startswith("utf-16")

    @property
    def line_feed(self) -> bytes:
        """The byte or bytes that end a line for certain."""
        return "\n".encode(self.name) if self.wide else b"\n"


class Lines(msgspec.Struct, frozen=True):
    """Some whole lines with their line ends.

    `overlong` says that there is one line only, beyond the limit, of which just the beginning
    was kept.
    """

    raw: Sequence[bytes]
    size: int
    overlong: bool = False


def find_encoding(file: BinaryIO, path: Path, wanted: str | None) -> Encoding:
    """The encoding of a file: its byte order mark decides, then what was asked for, then UTF-8."""
    file.seek(0)
    head = file.read(4)
    for mark, name in _MARKS:
        if head.startswith(mark):
            return Encoding(_supported(name, path), len(mark))
    return Encoding(_supported(wanted or "utf-8", path))


def _supported(name: str, path: Path) -> str:
    known = known_name(name)
    if known is None:
        raise BadSource(f"{name[:100]!r} is not the name of an encoding of text")
    if known.startswith("utf-32"):
        raise BadSource(f"{path} is in UTF-32, which is not read; save it as UTF-8")
    return {"utf-16": "utf-16-le", "utf-8-sig": "utf-8"}.get(known, known)


def read_lines(
    file: BinaryIO, encoding: Encoding, limit: int = MAX_RECORD_BYTES
) -> Iterator[Lines]:
    """The rest of the file as groups of whole lines, about a quarter of a megabyte each."""
    rest = b""
    long_line: _LongLine | None = None
    # With blocks no larger than the limit, only the line that goes on from the block before can
    # be beyond it.
    while block := file.read(min(_BLOCK, limit)):
        raw = _split(rest + block if rest else block, encoding)
        # The last line may go on in the next block, and a CR may be the first half of CRLF.
        rest = b"" if raw[-1].endswith(encoding.line_feed) else raw.pop()
        if raw and (long_line or len(raw[0]) > limit):
            yield (long_line or _LongLine(raw[0][:limit])).ended(raw.pop(0))
            long_line = None
        if raw:
            yield Lines(raw, sum(map(len, raw)))
        if len(rest) > limit or long_line:
            long_line = long_line or _LongLine(rest[:limit])
            rest = long_line.drop(rest, encoding)
    for line in _split(rest, encoding) if rest else ():
        if long_line or len(line) > limit:
            yield (long_line or _LongLine(line[:limit])).ended(line)
            long_line = None
        else:
            yield Lines([line], len(line))


class _LongLine:
    """A line beyond the limit: its beginning, and how much of it was dropped so far."""

    def __init__(self, beginning: bytes) -> None:
        self._beginning = beginning
        self._dropped = 0

    def drop(self, rest: bytes, encoding: Encoding) -> bytes:
        # What stays may be half a character, or a CR that the next block makes a CRLF.
        kept = 2 + len(rest) % 2 if encoding.wide else 1
        self._dropped += len(rest) - kept
        return rest[-kept:]

    def ended(self, end: bytes) -> Lines:
        return Lines([self._beginning], self._dropped + len(end), overlong=True)


def decode_lines(raw: Sequence[bytes], encoding: Encoding) -> tuple[list[str], dict[int, str]]:
    """The text of lines, and by index what is broken in them (there shown as U+FFFD)."""
    name = encoding.name
    try:
        if name == "utf-8":
            return list(map(bytes.decode, raw)), {}
        return [line.decode(name) for line in raw], {}
    except UnicodeDecodeError:
        return _decode_broken(raw, name)


def _decode_broken(raw: Sequence[bytes], name: str) -> tuple[list[str], dict[int, str]]:
    texts: list[str] = []
    broken: dict[int, str] = {}
    for index, line in enumerate(raw):
        try:
            texts.append(line.decode(name))
        except UnicodeDecodeError as error:
            broken[index] = describe_broken(error)
            texts.append(line.decode(name, "replace"))
    return texts, broken


def describe_broken(error: UnicodeDecodeError) -> str:
    """What is wrong with the bytes of a line, in words."""
    found = error.object[error.start : error.start + 4].hex(" ")
    return (
        f"not valid {error.encoding.upper()}: bytes {found} at byte {error.start + 1} of the line; "
        "if the file is in another encoding, state it (latin-1, cp1252, …)"
    )


def _split(data: bytes, encoding: Encoding) -> list[bytes]:
    # Of bytes, splitlines() knows just CR, LF and CRLF, which are the ends of a row; of text it
    # would take U+2028, form feeds and more for line ends.
    if not encoding.wide:
        return data.splitlines(keepends=True)
    name = encoding.name
    whole = len(data) - len(data) % 2
    text = data[:whole].decode(name, "surrogatepass").encode("utf-8", "surrogatepass")
    raw = [
        line.decode("utf-8", "surrogatepass").encode(name, "surrogatepass")
        for line in text.splitlines(keepends=True)
    ]
    return _with_half_character(raw, data[whole:], encoding) if whole < len(data) else raw


def _with_half_character(raw: list[bytes], half: bytes, encoding: Encoding) -> list[bytes]:
    if not raw or raw[-1].endswith(encoding.line_feed):
        return [*raw, half]
    return [*raw[:-1], raw[-1] + half]
