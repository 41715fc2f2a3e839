"""Parquet files: typed columns, read and written a few thousand rows at a time."""

import shutil
from collections.abc import Mapping, Sequence
from enum import IntEnum
from importlib import import_module
from pathlib import Path
from typing import Any

from headgate.transfer.files import LocalTarget, fingerprint
from headgate.transfer.formats.cells import cell_text
from headgate.transfer.formats.equality import CellsForm, equal
from headgate.transfer.formats.reader_messages import ReadOrder
from headgate.transfer.formats.reader_process import TableReader, open_table
from headgate.transfer.formats.registry import need
from headgate.transfer.limits import Limits

ROW_GROUP = 20_000


class ParquetSource:
    def __init__(self, path: Path, limits: Limits | None = None) -> None:
        need("pyarrow", "parquet")
        self._path = path
        self._order = ReadOrder("parquet", str(path), limits=limits or Limits())

    def fingerprint(self) -> str:
        return fingerprint(self._path)

    def effective_options(self) -> dict[str, str]:
        """Always empty: a Parquet file states how it is read."""
        return {}

    def open(self, position: str = "") -> TableReader:
        return open_table(self._order, position)


class ColumnKind(IntEnum):
    """Type of the values of a column that is written; TEXT can hold any value."""

    NOTHING = 0
    BOOLEAN = 1
    INTEGER = 2
    LARGE = 3
    """Integers of which some would be rounded as a NUMBER."""
    NUMBER = 4
    TEXT = 5


_EXACT = 2**53
_LARGEST = 2**63
_KINDS = {
    type(None): ColumnKind.NOTHING,
    bool: ColumnKind.BOOLEAN,
    int: ColumnKind.INTEGER,
    float: ColumnKind.NUMBER,
}
_WIDER = {
    frozenset({ColumnKind.INTEGER, ColumnKind.LARGE}): ColumnKind.LARGE,
    frozenset({ColumnKind.INTEGER, ColumnKind.NUMBER}): ColumnKind.NUMBER,
}


def kind_of(values: Sequence[Any]) -> ColumnKind:
    """The kind that holds all values unchanged, or TEXT."""
    kind = ColumnKind.NOTHING
    for found in set(map(type, values)):
        kind = together(kind, _KINDS.get(found, ColumnKind.TEXT))
    if kind in {ColumnKind.INTEGER, ColumnKind.NUMBER}:
        return together(kind, _size_of([value for value in values if type(value) is int]))
    return kind


def _size_of(whole: Sequence[int]) -> ColumnKind:
    if not whole:
        return ColumnKind.NOTHING
    low, high = min(whole), max(whole)
    if low >= -_EXACT and high <= _EXACT:
        return ColumnKind.INTEGER
    return ColumnKind.LARGE if low >= -_LARGEST and high < _LARGEST else ColumnKind.TEXT


def together(before: ColumnKind, now: ColumnKind) -> ColumnKind:
    """The narrowest kind that holds the values of both."""
    if ColumnKind.NOTHING in {before, now} or before is now:
        return max(before, now)
    return _WIDER.get(frozenset({before, now}), ColumnKind.TEXT)


def as_kind(values: Sequence[Any], kind: ColumnKind) -> Sequence[Any]:
    if kind is not ColumnKind.TEXT or set(map(type, values)) <= {str, type(None)}:
        return values
    return [None if value is None else cell_text(value) for value in values]


class ParquetWriter:
    """Writes rows; a column's type is the narrowest that fits its values, at worst text.

    When a value does not fit the type of its column, everything written is rewritten with a
    wider type, which happens to a column three times at most.
    """

    notes: tuple[str, ...] = ()

    def __init__(self, path: Path) -> None:
        need("pyarrow", "parquet")
        # A large import, and an optional dependency.
        self._arrow: Any = import_module("pyarrow")
        self._parquet: Any = import_module("pyarrow.parquet")
        self._target = LocalTarget(path)
        self._columns: Sequence[str] = ()
        self._kinds: list[ColumnKind] = []
        self._waiting: list[Mapping[str, Any]] = []
        self._schema: Any = None
        self._writer: Any = None

    def open(self, columns: Sequence[str], rows: int = 0) -> None:  # noqa: ARG002 (any fit)
        self._columns = columns
        self._kinds = [ColumnKind.NOTHING] * len(columns)
        self._target.open()

    def write(self, rows: Sequence[Mapping[str, Any]], lines: bytes = b"") -> None:  # noqa: ARG002
        """Append rows; a missing value is null."""
        self._waiting += rows
        if len(self._waiting) >= ROW_GROUP:
            self._flush()

    def commit(self, record: Mapping[str, Any]) -> None:
        self._flush()
        self._close()
        self._target.commit(record)

    def abandon(self) -> None:
        self._close()
        self._target.abandon()

    def _flush(self) -> None:
        rows, self._waiting = self._waiting, []
        values = [[row.get(name) for row in rows] for name in self._columns]
        kinds = [
            together(kind, kind_of(column))
            for kind, column in zip(self._kinds, values, strict=True)
        ]
        fits = self._schema_of(kinds) == self._schema
        self._kinds, self._schema = kinds, self._schema_of(kinds)
        if self._writer is None:
            self._begin()
        elif not fits:
            self._write_again()
        self._put(values)

    def _begin(self) -> None:
        self._writer = self._parquet.ParquetWriter(self._target.part, self._schema)

    def _put(self, values: Sequence[Sequence[Any]]) -> None:
        pa, schema = self._arrow, self._schema
        arrays = [
            pa.array(as_kind(column, kind), type=field.type)
            for column, kind, field in zip(values, self._kinds, schema, strict=True)
        ]
        self._writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))

    def _schema_of(self, kinds: Sequence[ColumnKind]) -> Any:
        pa = self._arrow
        types = {
            ColumnKind.NOTHING: pa.string(),
            ColumnKind.BOOLEAN: pa.bool_(),
            ColumnKind.INTEGER: pa.int64(),
            ColumnKind.LARGE: pa.int64(),
            ColumnKind.NUMBER: pa.float64(),
            ColumnKind.TEXT: pa.string(),
        }
        pairs = zip(self._columns, kinds, strict=True)
        return pa.schema([pa.field(name, types[kind]) for name, kind in pairs])

    def _write_again(self) -> None:
        """Rewrite all rows with the wider schema."""
        self._close()
        part = self._target.part
        before = part.with_name(f"{part.name}.narrow")
        # A copy, because the target keeps its file open and syncs that file at the end.
        shutil.copyfile(part, before)
        try:
            self._begin()
            with self._parquet.ParquetFile(before, pre_buffer=False) as file:
                for batch in file.iter_batches(batch_size=ROW_GROUP):
                    self._put([column.to_pylist() for column in batch.columns])
        finally:
            before.unlink()

    def _close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None


def same_in_parquet(value: Any, cell: Any) -> bool:
    """The same value, or its text if other rows of the column have another type."""
    if equal(value, cell):
        return True
    if value is None or not isinstance(cell, str):
        return False
    as_float = cell_text(float(value)) if type(value) is int else None
    return cell in {cell_text(value), as_float}


EQUALITY = CellsForm(same_in_parquet, lambda columns: [columns])
