"""Lines for a parser that joins lines into rows, with the offset of each row's end."""

from collections.abc import Iterator
from itertools import chain
from typing import BinaryIO

from headgate.transfer.lines import Encoding, Lines, decode_lines, read_lines


class RowTooLong(Exception):
    """The row after the last whole one exceeds the limit."""


class LineFeed:
    """Text lines from an offset on; lines are counted from 0.

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
