"""JSON Lines: one object in each line."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from headgate.core.errors import BadSource
from headgate.transfer.files import target_of
from headgate.transfer.formats.equality import ObjectsForm
from headgate.transfer.formats.line_rows import LineRows, LineSource
from headgate.transfer.lines import Encoding, describe_broken

MAX_COLUMNS = 2_000
"""Columns of a job. Further names stay in the rows only: data used as names must not grow
without bound."""

_AN_ARRAY = (
    "this is one JSON array; JSON Lines has one object in each line, without commas between them"
)

_decode = msgspec.json.Decoder(dict[str, Any]).decode
_encoder = msgspec.json.Encoder()


class JsonlSource(LineSource):
    """A file of JSON objects, one per line; blank lines are skipped."""

    def _form(self, encoding: Encoding, columns: Sequence[str]) -> "JsonLines":
        return JsonLines(encoding, columns)


class JsonLines:
    def __init__(self, encoding: Encoding, columns: Sequence[str] = ()) -> None:
        self._encoding = encoding
        self._seen = dict.fromkeys(columns)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self._seen)

    def read(self, raw: Sequence[bytes], first_line: int, found: LineRows) -> None:
        if self._encoding.name == "utf-8":
            try:
                values = list(map(_decode, raw))
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                pass  # a line is bad or blank; the loop below finds it
            else:
                found.values += values
                found.lines += range(first_line, first_line + len(raw))
                self._see(values)
                return
        self._read_singly(raw, first_line, found)

    def _read_singly(self, raw: Sequence[bytes], first_line: int, found: LineRows) -> None:
        for line, data in enumerate(raw, first_line):
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
                found.good(line, row)
                self._see([row])

    def _see(self, rows: Sequence[Mapping[str, Any]]) -> None:
        seen = self._seen
        known = seen.keys()
        for row in rows:
            if not row.keys() <= known:
                for name in row:
                    if len(seen) < MAX_COLUMNS:
                        seen[name] = None


class JsonlWriter:
    notes: tuple[str, ...] = ()

    def __init__(self, path: Path) -> None:
        self._target = target_of(path)

    def open(self, columns: Sequence[str], rows: int = 0) -> None:  # noqa: ARG002 (any fit)
        self._target.open()

    def write(self, rows: Sequence[Mapping[str, Any]], lines: bytes = b"") -> None:  # noqa: ARG002
        """Append rows; a missing value is left out."""
        self._target.write(_encoder.encode_lines(rows))

    def commit(self, record: Mapping[str, Any]) -> None:
        self._target.commit(record)

    def abandon(self) -> None:
        self._target.abandon()


EQUALITY = ObjectsForm()
