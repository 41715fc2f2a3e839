"""JSON Lines: one object in each line."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from headgate.core.errors import BadSource
from headgate.ports.source import Batch
from headgate.transfer.limits import Limits
from headgate.transfer.lines import (
    Encoding,
    Lines,
    describe_broken,
    find_encoding,
    read_lines,
)
from headgate.transfer.places.local import LocalTarget, fingerprint, open_file
from headgate.transfer.position import Position, decode_position, encode_position

RAW = "_raw"
"""A bad line is kept as text under this name."""
RAW_LIMIT = 10_000
MAX_COLUMNS = 2_000
"""Names beyond these stay in the rows, but are no columns of the job: data used as names must not
grow without bound."""

_TOO_LONG = "the line is longer than a row may be"
_AN_ARRAY = "this is one JSON array; JSON Lines has one object in each line, without commas between"

_decode = msgspec.json.Decoder(dict[str, Any]).decode
_encoder = msgspec.json.Encoder()


class JsonlSource:
    """A file of JSON objects, one a line; blank lines are passed over."""

    def __init__(
        self,
        path: Path,
        encoding: str | None = None,
        limits: Limits | None = None,
    ) -> None:
        self._path = path
        self._encoding = encoding
        self._limit = (limits or Limits()).max_record_bytes

    def fingerprint(self) -> str:
        """The hash and the size of the file."""
        return fingerprint(self._path)

    def open(self, position: str = "") -> "JsonlReader":
        """Begin reading at a stored position."""
        start = decode_position(position)
        encoding = find_encoding(self._path, self._encoding)
        return JsonlReader(self._path, encoding, start, self._limit)


class JsonlReader:
    """Objects from a position on."""

    notes: tuple[str, ...] = ()
    sheets: tuple[str, ...] = ()

    def __init__(self, path: Path, encoding: Encoding, start: Position, limit: int) -> None:
        self._file = open_file(path)
        self._offset = max(start.offset, encoding.start)
        self._file.seek(self._offset)
        self._encoding = encoding
        self._groups = read_lines(self._file, encoding, limit)
        self._group = Lines((), 0)
        self._used = 0
        self._line = start.line
        self._row = start.row
        self._seen = dict.fromkeys(start.columns)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names seen so far, in order of appearance."""
        return tuple(self._seen)

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def take(self, rows: int, max_bytes: int) -> Batch:
        """Further objects."""
        found = _Rows()
        began = self._offset
        while len(found.values) < rows and self._offset - began < max_bytes and self._more():
            self._take_from_group(rows - len(found.values), found)
        first = self._row + 1
        self._row += len(found.values)
        position = Position(self._offset, self._line, self._row, self.columns)
        return Batch(
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

    def _take_from_group(self, rows: int, found: "_Rows") -> None:
        group = self._group
        raw = group.raw[self._used : self._used + rows]
        self._used += len(raw)
        if group.overlong:
            self._offset += group.size
            found.bad(self._line + 1, raw[0].decode(self._encoding.name, "replace"), _TOO_LONG)
        else:
            self._offset += sum(map(len, raw))
            self._read(raw, found)
        self._line += len(raw)

    def _read(self, raw: Sequence[bytes], found: "_Rows") -> None:
        if self._encoding.name == "utf-8":
            try:
                values = list(map(_decode, raw))
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                pass  # some line is bad or blank; which one is seen below
            else:
                found.values += values
                found.lines += range(self._line + 1, self._line + 1 + len(raw))
                self._see(values)
                return
        self._read_singly(raw, found)

    def _read_singly(self, raw: Sequence[bytes], found: "_Rows") -> None:
        for line, data in enumerate(raw, self._line + 1):
            try:
                text = data.decode(self._encoding.name).strip()
                if not text:
                    continue
                row = _decode(text)
            except UnicodeDecodeError as error:
                text = data.decode(self._encoding.name, "replace").strip()
                found.bad(line, text, describe_broken(error))
            except (msgspec.MsgspecError, RecursionError) as error:
                if text == "[" and line == 1:
                    raise BadSource(_AN_ARRAY) from error
                found.bad(line, text, f"not a JSON object: {error}")
            else:
                found.lines.append(line)
                found.values.append(row)
                self._see([row])

    def _see(self, rows: Sequence[Mapping[str, Any]]) -> None:
        seen = self._seen
        known = seen.keys()
        for row in rows:
            if not row.keys() <= known:
                for name in row:
                    if len(seen) < MAX_COLUMNS:
                        seen[name] = None


class _Rows(msgspec.Struct):
    """What a batch holds so far."""

    lines: list[int] = []
    values: list[Mapping[str, Any]] = []
    problems: dict[int, str] = {}

    def bad(self, line: int, text: str, problem: str) -> None:
        self.problems[len(self.values)] = problem
        self.lines.append(line)
        self.values.append({RAW: text[:RAW_LIMIT]})


class JsonlWriter:
    """Objects into a file, values as they are."""

    def __init__(self, path: Path) -> None:
        self._target = LocalTarget(path)

    def open(self, columns: Sequence[str], rows: int = 0) -> None:  # noqa: ARG002 (any fit)
        """Begin."""
        self._target.open()

    def write(self, rows: Sequence[Mapping[str, Any]], lines: bytes = b"") -> None:  # noqa: ARG002
        """Append rows; a missing value is left out."""
        self._target.write(_encoder.encode_lines(rows))

    def commit(self, record: Mapping[str, Any]) -> None:
        """Move into place, with its record."""
        self._target.commit(record)

    def abandon(self) -> None:
        """Remove what was written."""
        self._target.abandon()
