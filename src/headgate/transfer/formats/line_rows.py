"""Sources with one row per line, and the plain list of ids."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import msgspec

from headgate.ports.source import RowBatch
from headgate.transfer.files import content_fingerprint, open_content
from headgate.transfer.limits import Limits, TooManyBlanks
from headgate.transfer.lines import Encoding, Lines, decode_lines, find_encoding, read_lines
from headgate.transfer.position import Position, decode_position, encode_position

RAW = "_raw"
"""Column that holds the text of a bad line."""
RAW_LIMIT = 10_000

_TOO_LONG = "the line is longer than a row may be"
_encoder = msgspec.json.Encoder()


class LineRows(msgspec.Struct):
    lines: list[int] = []
    values: list[Mapping[str, Any]] = []
    problems: dict[int, str] = {}

    def good(self, line: int, row: Mapping[str, Any]) -> None:
        self.lines.append(line)
        self.values.append(row)

    def bad(self, line: int, text: str, problem: str) -> None:
        self.problems[len(self.values)] = problem
        self.good(line, {RAW: text[:RAW_LIMIT]})


class LineFormat(Protocol):
    @property
    def columns(self) -> tuple[str, ...]:
        """The columns seen until now."""
        ...

    def read(self, raw: Sequence[bytes], first_line: int, found: LineRows) -> None:
        """Parse lines and add their rows to `found`."""
        ...


class LineSource(ABC):
    def __init__(
        self, path: Path, encoding: str | None = None, limits: Limits | None = None
    ) -> None:
        self._path = path
        self._encoding = encoding
        self._limits = limits or Limits()
        self._most = self._limits.max_decompressed_bytes

    def fingerprint(self) -> str:
        return content_fingerprint(self._path, self._most)

    def effective_options(self) -> dict[str, str]:
        with open_content(self._path, self._most) as file:
            return {"encoding": find_encoding(file, self._path, self._encoding).name}

    def open(self, position: str = "") -> "LineReader":
        start = decode_position(position)
        file = open_content(self._path, self._most)
        try:
            encoding = find_encoding(file, self._path, self._encoding)
        except BaseException:
            file.close()
            raise
        form = self._form(encoding, start.columns)
        return LineReader(file, encoding, start, self._limits, form)

    @abstractmethod
    def _form(self, encoding: Encoding, columns: Sequence[str]) -> LineFormat:
        """The parser of the lines; `columns` were seen before the position."""


class LineReader:
    notes: tuple[str, ...] = ()
    sheets: tuple[str, ...] = ()

    def __init__(
        self, file: BinaryIO, encoding: Encoding, start: Position, limits: Limits, form: LineFormat
    ) -> None:
        self._file = file
        self._offset = max(start.offset, encoding.start)
        self._file.seek(self._offset)
        self._encoding = encoding
        self._form = form
        self._groups = read_lines(self._file, encoding, limits.max_record_bytes)
        self._max_blank = limits.max_blank_bytes
        self._group = Lines((), 0)
        self._used = 0
        self._line = start.line
        self._row = start.row

    @property
    def columns(self) -> tuple[str, ...]:
        return self._form.columns

    def close(self) -> None:
        self._file.close()

    def take(self, rows: int, max_bytes: int) -> RowBatch:
        found = LineRows()
        began, last_line = self._offset, self._line
        while len(found.values) < rows and self._more():
            self._take_from_group(rows - len(found.values), found)
            size = self._offset - began
            if not found.values and size > self._max_blank:
                raise TooManyBlanks(last_line, self._max_blank)
            if found.values and size >= max_bytes:
                break
        first = self._row + 1
        self._row += len(found.values)
        position = Position(self._offset, self._line, self._row, self.columns)
        return RowBatch(
            first_row=first,
            lines=found.lines,
            values=found.values,
            texts=_encoder.encode_lines(found.values).decode().split("\n")[:-1],
            problems=found.problems,
            position=encode_position(position),
            size=self._offset - began,
        )

    def _more(self) -> bool:
        if self._used == len(self._group.raw):
            group = next(self._groups, None)
            if group is None:
                return False
            self._group, self._used = group, 0
        return True

    def _take_from_group(self, rows: int, found: LineRows) -> None:
        group = self._group
        raw = group.raw[self._used : self._used + rows]
        self._used += len(raw)
        if group.overlong:
            self._offset += group.size
            found.bad(self._line + 1, raw[0].decode(self._encoding.name, "replace"), _TOO_LONG)
        else:
            self._offset += sum(map(len, raw))
            self._form.read(raw, self._line + 1, found)
        self._line += len(raw)


COLUMN = "id"
"""The only column of a list."""
COMMENT = "#"


class PlainListSource(LineSource):
    """A file with one id per line; blank lines and lines that begin with # are skipped."""

    def _form(self, encoding: Encoding, columns: Sequence[str]) -> "ListLines":  # noqa: ARG002
        return ListLines(encoding)


class ListLines:
    """Ids, without the blanks around them."""

    columns = (COLUMN,)

    def __init__(self, encoding: Encoding) -> None:
        self._encoding = encoding

    def read(self, raw: Sequence[bytes], first_line: int, found: LineRows) -> None:
        texts, broken = decode_lines(raw, self._encoding)
        for index, text in enumerate(map(str.strip, texts)):
            line = first_line + index
            if index in broken:
                found.bad(line, text, broken[index])
            elif text and not text.startswith(COMMENT):
                found.good(line, {COLUMN: text})
