"""Parquet as others write it, and types that follow what a column holds."""

import datetime as dt
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from headgate.core.errors import BadSource
from headgate.transfer.formats import parquet as parquet_format
from headgate.transfer.formats.parquet import (
    ColumnKind,
    ParquetSource,
    ParquetWriter,
    kind_of,
    together,
)
from headgate.transfer.limits import Limits
from tests.kit.rows import all_rows, batches, good_values


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "rows.parquet"


def test_types_have_a_form_in_json(path: Path):
    moment = dt.datetime(2024, 2, 29, 1, 2, 3, 400, tzinfo=dt.UTC)
    columns = {
        "decimal": pa.array([Decimal("1.10")], pa.decimal128(10, 2)),
        "naive": pa.array([moment.replace(tzinfo=None)], pa.timestamp("us")),
        "aware": pa.array([moment], pa.timestamp("us", "UTC")),
        "nanos": pa.array([1], pa.timestamp("ns")),
        "day": pa.array([moment.date()]),
        "bytes": pa.array([b"\xff\x00"]),
        "list": pa.array([[1, None]]),
        "struct": pa.array([{"a": {"b": [Decimal("2.5")]}}]),
        "map": pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64())),
        "category": pa.array(["red"]).dictionary_encode(),
        "nan": pa.array([float("nan")]),
        "null": pa.nulls(1),
    }
    parquet.write_table(pa.table(columns), path)
    assert good_values(ParquetSource(path)) == [
        {
            "decimal": "1.10",
            "naive": "2024-02-29T01:02:03.000400",
            "aware": "2024-02-29T01:02:03.000400Z",
            "nanos": "1970-01-01T00:00:00",
            "day": "2024-02-29",
            "bytes": "/wA=",
            "list": [1, None],
            "struct": {"a": {"b": ["2.5"]}},
            "map": [["k", 1]],
            "category": "red",
            "nan": None,
            "null": None,
        }
    ]


def test_reading_continues_inside_and_after_row_groups(path: Path):
    parquet.write_table(pa.table({"n": list(range(50))}), path, row_group_size=7)
    source = ParquetSource(path)
    for batch in batches(source, rows=13):
        last = batch.values[-1]["n"]
        assert [row.values["n"] for row in all_rows(source, batch.position)] == list(
            range(last + 1, 50)
        )
        assert batch.lines[-1] == last + 1


def test_names_that_come_twice_get_a_number(path: Path):
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    parquet.write_table(table, path)
    assert good_values(ParquetSource(path)) == [{"a": 1, "a_2": 2}]


def test_a_row_that_is_too_long_is_bad(path: Path):
    parquet.write_table(pa.table({"a": ["x" * 5_000, "y"]}), path)
    long, short = all_rows(ParquetSource(path, Limits(max_record_bytes=1_000)))
    assert (long.values, long.problem) == ({}, "the row is longer than 1,000 bytes")
    assert short.values == {"a": "y"}


def test_too_many_columns_are_refused(path: Path):
    parquet.write_table(pa.table({f"c{n}": [n] for n in range(11)}), path)
    with pytest.raises(BadSource, match="has 11 columns; at most 10"):
        ParquetSource(path, Limits(max_columns=10)).open()


def test_columns_get_the_type_of_what_they_hold(path: Path):
    rows = [
        {"i": 1, "f": 1, "b": True, "t": "x", "n": None, "mixed": 1, "json": [1]},
        {"i": None, "f": 2.5, "b": None, "t": "", "n": None, "mixed": "a", "json": {"a": 1}},
    ]
    writer = ParquetWriter(path)
    writer.open(list(rows[0]))
    writer.write(rows)
    writer.commit({})
    assert [str(kind) for kind in parquet.read_schema(path).types] == [
        "int64",
        "double",
        "bool",
        "string",
        "string",
        "string",
        "string",
    ]
    assert good_values(ParquetSource(path)) == [
        {"i": 1, "f": 1.0, "b": True, "t": "x", "n": None, "mixed": "1", "json": "[1]"},
        {"i": None, "f": 2.5, "b": None, "t": "", "n": None, "mixed": "a", "json": '{"a":1}'},
    ]


def test_a_column_is_widened_when_a_later_value_does_not_fit(
    path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(parquet_format, "ROW_GROUP", 2)
    writer = ParquetWriter(path)
    writer.open(["a", "b"])
    for value in (None, 1, 2.5, "text", 2**60):
        writer.write([{"a": value, "b": 7}, {"a": None, "b": 8}])
    writer.commit({})
    assert [row["a"] for row in good_values(ParquetSource(path))][::2] == [
        None,
        "1.0",
        "2.5",
        "text",
        str(2**60),
    ]
    assert str(parquet.read_schema(path).field("b").type) == "int64"
    assert sorted(each.name for each in path.parent.iterdir()) == [
        "rows.parquet",
        "rows.parquet.meta.json",
    ]


def test_whole_numbers_are_never_rounded():
    assert kind_of([1, None, 2]) is ColumnKind.INTEGER
    assert kind_of([2**53 + 1]) is ColumnKind.LARGE
    assert kind_of([2**53 + 1, 0.5]) is ColumnKind.TEXT
    assert kind_of([2**63]) is ColumnKind.TEXT
    assert kind_of([True, 1]) is ColumnKind.TEXT
    assert together(ColumnKind.LARGE, ColumnKind.NUMBER) is ColumnKind.TEXT
    assert together(ColumnKind.INTEGER, ColumnKind.NUMBER) is ColumnKind.NUMBER


def test_a_job_without_rows_has_its_columns(path: Path):
    writer = ParquetWriter(path)
    writer.open(["a"])
    writer.commit({})
    assert parquet.read_table(path).schema.names == ["a"]
