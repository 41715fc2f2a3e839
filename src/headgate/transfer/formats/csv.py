"""Read CSV with comma, semicolon, tab or bar as delimiter, and quotes where needed."""

import csv
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from headgate.core.errors import BadSource
from headgate.core.words import counted
from headgate.ports.source import RowBatch
from headgate.transfer.files import content_fingerprint, open_content
from headgate.transfer.formats.header import (
    checked_names,
    extra_name,
    find_delimiter,
    stated_delimiter,
)
from headgate.transfer.limits import Limits, TooManyBlanks
from headgate.transfer.lines import Encoding, LineFeed, RowTooLong, find_encoding
from headgate.transfer.position import Position, decode_position, encode_position

MAX_OPEN_QUOTES = 100
"""Unclosed quotes after which the file is refused: it is probably not CSV."""

MAX_HEADER_BYTES = 1024 * 1024
"""Bytes of the header with the blank lines before it."""

_SNIFFED = 64 * 1024
_encoder = msgspec.json.Encoder()


class Layout(msgspec.Struct, frozen=True):
    encoding: Encoding
    delimiter: str
    columns: tuple[str, ...]
    body: Position
    """Start of the first row after the header."""


class CsvSource:
    """A file with a header and rows.

    Blank lines are skipped. A row is bad if its number of values differs from the header's, if
    its bytes are broken or if a quote is never closed; reading continues with the next line.
    """

    def __init__(
        self,
        path: Path,
        delimiter: str | None = None,
        encoding: str | None = None,
        limits: Limits | None = None,
    ) -> None:
        self._path = path
        self._delimiter = delimiter
        self._encoding = encoding
        limits = limits or Limits()
        self._limit = limits.max_record_bytes
        self._max_columns = limits.max_columns
        self._most = limits.max_decompressed_bytes
        self._max_blank = limits.max_blank_bytes

    def fingerprint(self) -> str:
        return content_fingerprint(self._path, self._most)

    def layout(self) -> Layout:
        with open_content(self._path, self._most) as file:
            return self._layout(file, find_encoding(file, self._path, self._encoding))

    def effective_options(self) -> dict[str, str]:
        """The options that affect the rows, stated or detected. TSV is CSV with tabs."""
        layout = self.layout()
        return {"format": "csv", "delimiter": layout.delimiter, "encoding": layout.encoding.name}

    def open(self, position: str = "") -> "CsvReader":
        # The csv module's limit of 128 kB for a value applies to the whole process; our limit is
        # for a row and is enforced by the feed.
        csv.field_size_limit(max(csv.field_size_limit(), self._limit))
        file = open_content(self._path, self._most)
        try:
            layout = self._layout(file, find_encoding(file, self._path, self._encoding))
        except BaseException:
            file.close()
            raise
        at = decode_position(position) if position else layout.body
        return CsvReader(file, layout, at, self._limit, self._max_blank)

    def _layout(self, file: BinaryIO, encoding: Encoding) -> Layout:
        file.seek(encoding.start)
        text = file.read(_SNIFFED).decode(encoding.name, "replace")
        first = text.splitlines(keepends=True)[0] if text else ""
        stated = stated_delimiter(first)
        delimiter = self._delimiter or stated or find_delimiter(text)
        skipped = 1 if stated else 0
        offset = encoding.start + skipped * len(first.encode(encoding.name))
        feed = LineFeed(file, encoding, offset, min(self._limit, MAX_HEADER_BYTES))
        header = self._header(feed, delimiter, skipped)
        body = Position(offset=feed.offset, line=feed.whole + skipped)
        columns = checked_names(header, self._path, self._max_columns)
        return Layout(encoding, delimiter, columns, body)

    def _header(self, feed: LineFeed, delimiter: str, skipped: int) -> Sequence[str]:
        rows = csv.reader(feed.texts(), delimiter=delimiter)
        try:
            header = next((row for row in rows if row), [])
        except (RowTooLong, csv.Error) as error:
            raise BadSource(f"{self._path}: the header is too long or never ends") from error
        if header and feed.loaded == feed.ENDED:
            raise BadSource(f"{self._path}: a quote in the header is never closed")
        feed.whole = rows.line_num
        for line, reason in feed.broken.items():
            if line < feed.whole:
                where = f"{self._path}, line {line + skipped + 1}"
                raise BadSource(f"{where}: the header is {reason}")
        feed.forget(feed.whole)
        return header


class _BatchRows(msgspec.Struct):
    """Rows of a batch that is being read."""

    lines: list[int] = []
    values: list[Mapping[str, Any]] = []
    problems: dict[int, str] = {}

    def add(self, line: int, values: Mapping[str, Any], problem: str | None) -> None:
        if problem:
            self.problems[len(self.values)] = problem
        self.lines.append(line)
        self.values.append(values)


class CsvReader:
    notes: tuple[str, ...] = ()
    sheets: tuple[str, ...] = ()

    def __init__(
        self, file: BinaryIO, layout: Layout, at: Position, limit: int, max_blank: int
    ) -> None:
        self.columns = layout.columns
        self._file = file
        self._layout = layout
        self._limit = limit
        self._max_blank = max_blank
        self._row = at.row
        self._open_quotes = 0
        self._extra = extra_name(self.columns)
        self._begin(at.offset, at.line)

    def close(self) -> None:
        self._file.close()

    def take(self, rows: int, max_bytes: int) -> RowBatch:
        found = _BatchRows()
        last_line = self._line + self._feed.whole
        began = self._feed.offset if self._row else 0  # the first batch includes the header
        started = self._feed.offset
        while not found.values and self._read(rows, max_bytes, found):
            if not found.values and self._feed.offset - started > self._max_blank:
                raise TooManyBlanks(last_line, self._max_blank)
        first = self._row + 1
        self._row += len(found.values)
        feed = self._feed
        position = Position(feed.offset, self._line + feed.whole, self._row)
        return RowBatch(
            first_row=first,
            lines=found.lines,
            values=found.values,
            texts=_encoder.encode_lines(found.values).decode().split("\n")[:-1],
            problems=found.problems,
            position=encode_position(position),
            size=feed.offset - began,
        )

    def _begin(self, offset: int, line: int) -> None:
        self._line = line
        self._feed = LineFeed(self._file, self._layout.encoding, offset, self._limit)
        self._rows = csv.reader(self._feed.texts(), delimiter=self._layout.delimiter)

    def _read(self, rows: int, max_bytes: int, found: _BatchRows) -> bool:
        """Parse some rows; False at the end."""
        feed = self._feed
        began = feed.whole
        parsed, ends, cut = self._parse(rows, max_bytes)
        if len(parsed) != feed.whole - began:
            kept = self._bounded(began, ends)
            if kept < len(parsed):
                del parsed[kept:], ends[kept:]
                feed.whole = ends[-1] if ends else began
                cut = self._too_long
        self._assemble(parsed, [began, *ends], found)
        feed.forget(feed.whole)
        if cut:
            self._cut(cut, found)
        return bool(parsed or cut)

    def _parse(self, rows: int, max_bytes: int) -> tuple[list[list[str]], list[int], str]:
        """Rows, the line after each, and the problem of the row that follows, if any."""
        feed, reader = self._feed, self._rows
        parsed: list[list[str]] = []
        ends: list[int] = []
        stop, ended = feed.loaded + max_bytes, feed.ENDED
        try:
            for row in islice(reader, rows):
                if feed.loaded == ended:
                    # A row that was returned only because the lines ran out was still open.
                    return parsed, ends, self._unclosed()
                parsed.append(row)
                feed.whole = reader.line_num
                ends.append(feed.whole)
                if feed.loaded >= stop:
                    break
        except RowTooLong:
            return parsed, ends, self._too_long
        except csv.Error as error:
            return parsed, ends, str(error)
        return parsed, ends, ""

    def _unclosed(self) -> str:
        # The reported problem must not depend on which of the two was noticed first.
        if self._feed.size(self._feed.whole, self._rows.line_num) > self._limit:
            return self._too_long
        return "this line opens a quote that is never closed"

    @property
    def _too_long(self) -> str:
        limit = f"{self._limit:,} bytes"
        return (
            f"the row that begins in this line is longer than {limit}; maybe a quote is not closed"
        )

    def _bounded(self, began: int, ends: Sequence[int]) -> int:
        """Number of rows before the first that is too long."""
        for index, end in enumerate(ends):
            if end - began > 1 and self._feed.size(began, end) > self._limit:
                return index
            began = end
        return len(ends)

    def _assemble(self, parsed: list[list[str]], bounds: list[int], found: _BatchRows) -> None:
        columns, width, first = self.columns, len(self.columns), self._line + 1
        if not self._feed.broken and set(map(len, parsed)) == {width}:
            found.values += [dict(zip(columns, row, strict=True)) for row in parsed]
            found.lines += [first + start for start in bounds[:-1]]
            return
        for index, row in enumerate(parsed):
            problem = self._broken(bounds[index], bounds[index + 1])
            if len(row) == width:
                found.add(first + bounds[index], dict(zip(columns, row, strict=True)), problem)
            elif len(row) > 1 or "".join(row).strip():
                problem = problem or f"{counted(len(row), 'value')} for {counted(width, 'column')}"
                found.add(first + bounds[index], self._what_there_is(row), problem)

    def _broken(self, start: int, end: int) -> str | None:
        broken = self._feed.broken
        if not broken:
            return None
        return next((broken[line] for line in range(start, end) if line in broken), None)

    def _what_there_is(self, row: Sequence[str]) -> dict[str, Any]:
        values: dict[str, Any] = dict(zip(self.columns, row, strict=False))
        if len(row) > len(self.columns):
            values[self._extra] = row[len(self.columns) :]
        return values

    def _cut(self, problem: str, found: _BatchRows) -> None:
        """Report the line where parsing stopped as a bad row, and continue after it."""
        self._open_quotes += 1
        line = self._line + self._feed.whole + 1
        if self._open_quotes > MAX_OPEN_QUOTES:
            raise BadSource(f"line {line}: {problem} (and {MAX_OPEN_QUOTES} times before)")
        text, size = self._feed.first_line()
        row = next(csv.reader([text], delimiter=self._layout.delimiter), [])
        found.add(line, self._what_there_is(row), problem)
        self._begin(self._feed.offset + size, line)
