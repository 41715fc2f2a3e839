"""Parquet files: typed columns, read and written a few thousand rows at a time."""

import shutil
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from headgate.transfer.extras import need
from headgate.transfer.formats.parquet_columns import ColumnKind, as_kind, kind_of, together
from headgate.transfer.formats.reader_messages import ReadOrder
from headgate.transfer.formats.reader_process import TableReader, open_table
from headgate.transfer.limits import Limits
from headgate.transfer.places.local import LocalTarget, fingerprint

ROW_GROUP = 20_000


class ParquetSource:
    def __init__(self, path: Path, limits: Limits | None = None) -> None:
        need("pyarrow", "parquet")
        self._path = path
        self._order = ReadOrder("parquet", str(path), limits=limits or Limits())

    def fingerprint(self) -> str:
        return fingerprint(self._path)

    def open(self, position: str = "") -> TableReader:
        return open_table(self._order, position)


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
