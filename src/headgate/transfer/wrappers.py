"""Sources that wrap another source: with limits for any format, or with renamed columns.

Too many rows or columns end a source; a value that is too long makes a bad row.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from headgate.core.errors import BadSource
from headgate.ports.source import BatchReader, RowBatch, Source
from headgate.transfer.formats.cells import cell_text
from headgate.transfer.limits import Limits

_WIDEST_CHARACTER = 4
_encoder = msgspec.json.Encoder()


class LimitedSource:
    def __init__(self, source: Source, limits: Limits) -> None:
        self._source = source
        self._limits = limits

    def fingerprint(self) -> str:
        return self._source.fingerprint()

    def open(self, position: str = "") -> "LimitedReader":
        return LimitedReader(self._source.open(position), self._limits)


class LimitedReader:
    def __init__(self, reader: BatchReader, limits: Limits) -> None:
        self._reader = reader
        self._limits = limits

    @property
    def columns(self) -> tuple[str, ...]:
        return self._reader.columns

    @property
    def notes(self) -> tuple[str, ...]:
        return self._reader.notes

    @property
    def sheets(self) -> tuple[str, ...]:
        return self._reader.sheets

    def close(self) -> None:
        self._reader.close()

    def take(self, rows: int, max_bytes: int) -> RowBatch:
        """Further rows; BadSource if there are too many, or if one has too many values."""
        batch = self._reader.take(rows, max_bytes)
        if not batch.values:
            return batch
        limits = self._limits
        if batch.first_row + len(batch.values) - 1 > limits.max_rows:
            raise BadSource(
                f"there are more than {limits.max_rows:,} rows: split the file into parts"
            )
        # One more than there are columns: a bad row may keep its surplus values in a list.
        if max(map(len, batch.values)) > limits.max_columns + 1:
            line, width = self._widest(batch)
            raise BadSource(
                f"line {line} has {width:,} values; at most {limits.max_columns:,} are read"
            )
        if max(map(len, batch.texts)) * _WIDEST_CHARACTER > limits.max_cell_bytes:
            return self._with_long_cells_marked(batch)
        return batch

    def _widest(self, batch: RowBatch) -> tuple[int, int]:
        width, index = max((len(values), -index) for index, values in enumerate(batch.values))
        return batch.lines[-index], width

    def _with_long_cells_marked(self, batch: RowBatch) -> RowBatch:
        problems = dict(batch.problems)
        for index, values in enumerate(batch.values):
            if index not in problems and (name := self._long_cell(values)) is not None:
                most = f"{self._limits.max_cell_bytes:,} bytes"
                problems[index] = f"the value of {name!r} is longer than {most}"
        return msgspec.structs.replace(batch, problems=problems)

    def _long_cell(self, values: Mapping[str, Any]) -> str | None:
        most = self._limits.max_cell_bytes
        for name, value in values.items():
            if len(cell_text(value).encode()) > most:
                return name
        return None


class RenamedSource:
    def __init__(self, source: Source, names: Mapping[str, str]) -> None:
        self._source = source
        self._names = names

    def fingerprint(self) -> str:
        return self._source.fingerprint()

    def open(self, position: str = "") -> "RenamedReader":
        return RenamedReader(self._source.open(position), self._names)


class RenamedReader:
    def __init__(self, reader: BatchReader, names: Mapping[str, str]) -> None:
        self._reader = reader
        self._names = names

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self._names.get(name, name) for name in self._reader.columns)

    @property
    def notes(self) -> tuple[str, ...]:
        return self._reader.notes

    @property
    def sheets(self) -> tuple[str, ...]:
        return self._reader.sheets

    def take(self, rows: int, max_bytes: int) -> RowBatch:
        batch = self._reader.take(rows, max_bytes)
        values = [self._renamed(row) for row in batch.values]
        texts = _encoder.encode_lines(values).decode().split("\n")[:-1]
        return msgspec.structs.replace(batch, values=values, texts=texts)

    def close(self) -> None:
        self._reader.close()

    def _renamed(self, row: Mapping[str, Any]) -> dict[str, Any]:
        names = self._names
        return {names.get(name, name): value for name, value in row.items()}
