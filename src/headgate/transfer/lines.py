"""Files as lines of bytes: bounded in size, in any encoding, with exact offsets."""

import codecs
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import msgspec

from headgate.core.errors import BadSource
from headgate.transfer.limits import MAX_RECORD_BYTES

NOT_FOR_FILES = frozenset({"idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape"})
"""Python lists these among text encodings. They are for host names and source code, and
raise errors of their own."""


def known_name(name: str) -> str | None:
    """The canonical name of a text encoding; None if the name is unknown."""
    try:
        known = codecs.lookup(name).name
        "".encode(name)  # codecs such as bz2 and hex are not for text and fail here
    except (LookupError, ValueError, TypeError):
        return None
    return None if known.replace("_", "-") in NOT_FOR_FILES else known


_BLOCK = 256 * 1024

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins like UTF-16, so it comes first
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class Encoding(msgspec.Struct, frozen=True):
    """Encoding of a file, and the offset where its text begins."""

    name: str = "utf-8"
    start: int = 0

    @property
    def wide(self) -> bool:
        """True for two-byte characters: line ends cannot be found byte by byte."""
        return self.name.startswith("utf-16")

    @property
    def line_feed(self) -> bytes:
        """The bytes that certainly end a line."""
        return "\n".encode(self.name) if self.wide else b"\n"


class Lines(msgspec.Struct, frozen=True):
    """Some whole lines with their line ends.

    If `overlong` is set, there is a single line beyond the limit, and only its beginning
    was kept.
    """

    raw: Sequence[bytes]
    size: int
    overlong: bool = False


def find_encoding(file: BinaryIO, path: Path, wanted: str | None) -> Encoding:
    """The encoding of a file: from its byte order mark, else `wanted`, else UTF-8."""
    file.seek(0)
    head = file.read(4)
    for mark, name in _MARKS:
        if head.startswith(mark):
            return Encoding(_supported(name, path), len(mark))
    return Encoding(_supported(wanted or "utf-8", path))


def _supported(name: str, path: Path) -> str:
    known = known_name(name)
    if known is None:
        raise BadSource(f"{name[:100]!r} is not the name of a text encoding")
    if known.startswith("utf-32"):
        raise BadSource(f"{path} is in UTF-32, which is not supported; save it as UTF-8")
    return {"utf-16": "utf-16-le", "utf-8-sig": "utf-8"}.get(known, known)


def read_lines(
    file: BinaryIO, encoding: Encoding, limit: int = MAX_RECORD_BYTES
) -> Iterator[Lines]:
    """The rest of the file as groups of whole lines, about 256 kB each."""
    rest = b""
    long_line: _LongLine | None = None
    # With blocks no larger than the limit, only a line that continues from the block before can
    # exceed it.
    while block := file.read(min(_BLOCK, limit)):
        raw = _split(rest + block if rest else block, encoding)
        # The last line may continue in the next block, and a CR may be the first half of CRLF.
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
    """A line beyond the limit: its beginning, and the number of bytes dropped."""

    def __init__(self, beginning: bytes) -> None:
        self._beginning = beginning
        self._dropped = 0

    def drop(self, rest: bytes, encoding: Encoding) -> bytes:
        # The kept bytes may be half a character, or a CR that the next block turns into a CRLF.
        kept = 2 + len(rest) % 2 if encoding.wide else 1
        self._dropped += len(rest) - kept
        return rest[-kept:]

    def ended(self, end: bytes) -> Lines:
        return Lines([self._beginning], self._dropped + len(end), overlong=True)


def decode_lines(raw: Sequence[bytes], encoding: Encoding) -> tuple[list[str], dict[int, str]]:
    """The text of lines, and by index the problem of each broken one (shown as U+FFFD)."""
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
    found = error.object[error.start : error.start + 4].hex(" ")
    return (
        f"not valid {error.encoding.upper()}: bytes {found} at byte {error.start + 1} of the line; "
        "if the file is in another encoding, state it (latin-1, cp1252, …)"
    )


def _split(data: bytes, encoding: Encoding) -> list[bytes]:
    # For bytes, splitlines() splits only at CR, LF and CRLF, which end a row; for text it
    # would also split at U+2028, form feeds and more.
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


class RowTooLong(Exception):
    """The row after the last whole one exceeds the limit."""


class LineFeed:
    """Text lines from an offset on, for a parser that joins them; counted from 0.

    The parser stores in `whole` how many lines its rows have used, so that an endless row is
    noticed while it is still small.
    """

    ENDED = 1 << 62

    def __init__(self, file: BinaryIO, encoding: Encoding, offset: int, limit: int) -> None:
        self.offset = offset
        self.whole = 0
        self.loaded = 0
        """Bytes handed out; ENDED once a line was requested after the last one."""
        self.broken: dict[int, str] = {}
        self._file = file
        self._encoding = encoding
        self._limit = limit
        self._raw: list[bytes] = []
        self._first = 0
        """Number of the first line in `_raw`."""
        self._forgotten = 0
        self._overlong: Lines | None = None

    def texts(self) -> Iterator[str]:
        return chain.from_iterable(self._groups())

    def size(self, start: int, end: int) -> int:
        """Bytes in the lines from `start` to before `end`."""
        return sum(map(len, self._raw[start - self._first : end - self._first]))

    def forget(self, line: int) -> None:
        """Move `offset` to the start of `line`; earlier lines are no longer available."""
        self.offset += self.size(self._forgotten, line)
        self._forgotten = line
        # Few deletions of many lines: each one moves all remaining lines.
        if 2 * (line - self._first) >= len(self._raw):
            del self._raw[: line - self._first]
            self._first = line

    def first_line(self) -> tuple[str, int]:
        """The line at `offset`: its text, as far as it was kept, and its size in bytes."""
        at = self._forgotten - self._first
        if at < len(self._raw):
            raw, size = self._raw[at], len(self._raw[at])
        elif self._overlong:
            raw, size = self._overlong.raw[0], self._overlong.size
        else:
            raise LookupError("no line was fed")
        return raw.decode(self._encoding.name, "replace"), size

    def _groups(self) -> Iterator[list[str]]:
        self._file.seek(self.offset)
        for lines in read_lines(self._file, self._encoding, self._limit):
            handed_out = self._first + len(self._raw)
            if lines.overlong:
                self._overlong = lines
                raise RowTooLong
            if self.size(self.whole, handed_out) > self._limit:
                raise RowTooLong
            texts, broken = decode_lines(lines.raw, self._encoding)
            for index, reason in broken.items():
                self.broken[handed_out + index] = reason
            self._raw += lines.raw
            self.loaded += lines.size
            yield texts
        self.loaded = self.ENDED
