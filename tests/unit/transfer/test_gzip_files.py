"""Packed files are read and written as their text."""

import gzip
import os
import re
from pathlib import Path

import pytest

from headgate.core.errors import BadSource, UsageError
from headgate.transfer.limits import Limits
from headgate.transfer.sources import (
    ReadOptions,
    WriteOptions,
    format_of,
    open_source,
    open_writer,
    written_format_of,
)

TABLE = b"a,b\n" + b"".join(b"%d,%d\n" % (n, n * n) for n in range(5_000))


def rows_from(path: Path, position: str = "", most: int = 10_000, **limits: int) -> list[dict]:
    reader = open_source(path, ReadOptions(), Limits(**limits)).open(position)
    try:
        found: list[dict] = []
        while (batch := reader.take(700, 1 << 20)).values and len(found) < most:
            found += batch.values
            position = batch.position
    finally:
        reader.close()
    return found


@pytest.mark.parametrize("name", ["rows.csv", "rows.tsv", "rows.jsonl", "rows.txt"])
def test_a_packed_file_gives_the_same_rows_and_has_the_same_name_for_its_content(
    tmp_path: Path, name: str
):
    plain = tmp_path / name
    content = {".jsonl": b'{"a":1}\n{"a":2}\n', ".tsv": b"a\tb\n1\t2\n"}.get(plain.suffix, TABLE)
    plain.write_bytes(content)
    packed = tmp_path / f"{name}.gz"
    packed.write_bytes(gzip.compress(content, mtime=1))
    assert rows_from(packed) == rows_from(plain)
    fingerprints = {open_source(path).fingerprint() for path in (plain, packed)}
    packed.write_bytes(gzip.compress(content, 1, mtime=2))
    assert fingerprints == {open_source(packed).fingerprint()}


def test_reading_continues_in_the_middle(tmp_path: Path):
    packed = tmp_path / "rows.csv.gz"
    packed.write_bytes(gzip.compress(TABLE))
    reader = open_source(packed).open()
    position = reader.take(1_234, 1 << 20).position
    reader.close()
    assert [row["a"] for row in rows_from(packed, position)] == [
        str(n) for n in range(1_234, 5_000)
    ]


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-9], lambda data: data[:60] + b"\0" * 40 + data[100:]]
)
def test_a_damaged_file_is_reported(tmp_path: Path, damage):
    packed = tmp_path / "rows.csv.gz"
    packed.write_bytes(damage(gzip.compress(TABLE)))
    with pytest.raises(BadSource, match="is damaged or not a gzip file"):
        rows_from(packed)
    packed.write_bytes(TABLE)
    with pytest.raises(BadSource, match="is damaged or not a gzip file"):
        rows_from(packed)


def test_a_file_that_grows_without_bound_is_refused(tmp_path: Path):
    packed = tmp_path / "rows.csv.gz"
    packed.write_bytes(gzip.compress(b"a\n" + b"1\n" * 1_000_000))
    with pytest.raises(BadSource, match="more than 100,000 bytes when it is unpacked"):
        rows_from(packed, most=10_000_000, max_decompressed_bytes=100_000)


def test_what_is_written_packed_is_the_same_each_time(tmp_path: Path):
    for name in ("one.csv.gz", "two.csv.gz"):
        writer = open_writer(tmp_path / name)
        writer.open(["a"])
        writer.write([{"a": 1}, {"a": "ä"}])
        writer.commit({"rows": 2})
    one, two = ((tmp_path / name).read_bytes() for name in ("one.csv.gz", "two.csv.gz"))
    assert (gzip.decompress(one).decode(), one) == ("a\n1\nä\n", two)
    assert (tmp_path / "one.csv.gz.meta.json").exists()


PACKED = "only csv, jsonl and tsv can be written as .gz files"


@pytest.mark.parametrize(
    ("name", "refusal"),
    [
        ("a.xlsx.gz", PACKED),
        ("a.parquet.gz", PACKED),
        ("a.zip.gz", "Headgate cannot write images; it writes csv, tsv, jsonl, xlsx, parquet"),
    ],
)
def test_only_text_is_packed(name: str, refusal: str):
    with pytest.raises(UsageError, match=r"only .* can be read from \.gz files"):
        format_of(name)
    with pytest.raises(UsageError, match=re.escape(refusal)):
        written_format_of(name)


@pytest.mark.parametrize("name", ["out.doc", "out", "out.gz", "out.txt", "out.png"])
def test_only_what_can_be_written_is_named(name: str):
    with pytest.raises(UsageError) as refused:
        written_format_of(name)
    assert not any(word in str(refused.value) for word in (".zip", ".gif", "list,"))


@pytest.mark.parametrize(
    ("encoding", "data"),
    [
        (None, "a;b\n1;ä\n".encode()),
        ("utf-8-sig", "\ufeffa;b\n1;ä\n".encode()),
        ("cp1252", "a;b\n1;ä\n".encode("cp1252")),
        ("utf-16", "a;b\n1;ä\n".encode("utf-16")),
    ],
)
def test_a_table_is_written_in_the_encoding_that_is_asked_for(tmp_path: Path, encoding, data):
    writer = open_writer(tmp_path / "a.csv", WriteOptions(delimiter=";", encoding=encoding))
    writer.open(["a", "b"])
    writer.write([{"a": 1, "b": "ä"}])
    writer.commit({})
    assert (tmp_path / "a.csv").read_bytes() == data
    assert writer.notes == ()


@pytest.mark.parametrize("delimiter", [",", ";", "|", "\t", "^", "]"])
def test_values_that_hold_the_delimiter_come_back(tmp_path: Path, delimiter: str):
    values = {"a": f"1{delimiter}2", "b": f'x"{delimiter}\n', f"c{delimiter}": "-"}
    writer = open_writer(tmp_path / "a.csv", WriteOptions(delimiter=delimiter))
    writer.open(list(values))
    writer.write([values])
    writer.commit({})
    source = open_source(tmp_path / "a.csv", ReadOptions(delimiter=delimiter))
    reader = source.open()
    [row] = reader.take(10, 1 << 20).values
    reader.close()
    assert [row["a"], row["b"]] == [values["a"], values["b"]]
    assert os.linesep in row["b"]
