"""The rows of a Parquet file; runs in the reader process."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
from pyarrow import parquet

from headgate.core.errors import BadSource
from headgate.transfer.formats.header import checked_names
from headgate.transfer.formats.reader_messages import (
    Message,
    ReadEnded,
    ReadOrder,
    TableHead,
    framed,
)

GROUP = 1_000
GROUP_BYTES = 8 * 1024 * 1024
"""Bytes converted together; if rows are large, a group has fewer of them."""


def read(order: ReadOrder) -> Iterator[Message]:
    """All rows, in groups; large row groups are not loaded whole."""
    try:
        with parquet.ParquetFile(order.path, pre_buffer=False) as file:
            yield from _read(file, order)
    except (pa.ArrowException, OSError) as error:
        raise BadSource(f"{order.path} cannot be read as a Parquet file: {error}") from error


def _read(file: Any, order: ReadOrder) -> Iterator[Message]:
    columns = checked_names(file.schema_arrow.names, order.path, order.limits.max_columns)
    yield TableHead(columns)
    groups, line = _unread(file.metadata, order.after_line)
    skipped = order.after_line - line
    schema = pa.schema(
        [
            pa.field(name, _plain(kind))
            for name, kind in zip(columns, file.schema_arrow.types, strict=True)
        ]
    )
    for batch in file.iter_batches(batch_size=_group_rows(file.metadata), row_groups=groups):
        named = pa.RecordBatch.from_arrays(batch.columns, names=list(columns))
        rows = named.slice(skipped).cast(schema, safe=False).to_pylist()
        begin = line + min(skipped, batch.num_rows)
        line += batch.num_rows
        skipped = max(0, skipped - batch.num_rows)
        lines = range(begin + 1, line + 1)
        yield from framed(list(lines), rows, {}, order.limits.max_record_bytes)
    yield ReadEnded()


def _unread(metadata: Any, done: int) -> tuple[list[int], int]:
    """The row groups with rows after the first `done`, and the number of rows before them."""
    before = 0
    for index in range(metadata.num_row_groups):
        rows = metadata.row_group(index).num_rows
        if before + rows > done:
            return list(range(index, metadata.num_row_groups)), before
        before += rows
    return [], before


def _group_rows(metadata: Any) -> int:
    size = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
    per_row = size / max(metadata.num_rows, 1)
    return max(1, min(GROUP, int(GROUP_BYTES / max(per_row, 1))))


def _plain(kind: Any) -> Any:
    """The type to read a column as: Python's types have no nanoseconds."""
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        return pa.timestamp("us", kind.tz)
    if pa.types.is_duration(kind) and kind.unit == "ns":
        return pa.duration("us")
    if pa.types.is_time64(kind) and kind.unit == "ns":
        return pa.time64("us")
    if pa.types.is_dictionary(kind):
        return _plain(kind.value_type)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.list_(_plain(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(field.name, _plain(field.type)) for field in kind])
    if pa.types.is_map(kind):
        return pa.map_(_plain(kind.key_type), _plain(kind.item_type))
    return kind
