"""The name of a file decides its format."""

from pathlib import Path

import pytest

from headgate.core.errors import BadSource, UsageError
from headgate.transfer.formats.csv_writer import CsvWriter
from headgate.transfer.formats.jsonl import JsonlWriter
from headgate.transfer.formats.parquet import ParquetWriter
from headgate.transfer.formats.xlsx import XlsxWriter
from headgate.transfer.sources import ReadOptions, format_of, open_source, open_writer
from tests.kit.rows import good_values


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.csv", "csv"),
        ("a.CSV", "csv"),
        ("a.tsv", "tsv"),
        ("a.jsonl", "jsonl"),
        ("a.ndjson", "jsonl"),
        ("a.txt", "list"),
        ("a.xlsx", "xlsx"),
        ("a.parquet", "parquet"),
        ("a.zip", "images"),
        ("a.JPG", "images"),
    ],
)
def test_names_tell_formats(name: str, expected: str):
    assert format_of(name) == expected


@pytest.mark.parametrize(
    ("name", "writer"),
    [
        ("a.csv", CsvWriter),
        ("a.tab", CsvWriter),
        ("a.ndjson", JsonlWriter),
        ("a.xlsx", XlsxWriter),
        ("a.pq", ParquetWriter),
    ],
)
def test_names_tell_how_to_write(tmp_path: Path, name: str, writer: type):
    assert isinstance(open_writer(tmp_path / name), writer)


def test_images_are_not_written(tmp_path: Path):
    with pytest.raises(UsageError, match="cannot write images; it writes csv"):
        open_writer(tmp_path / "a.zip")


def test_a_tab_separated_file_is_not_searched_for_commas(tmp_path: Path):
    (tmp_path / "a.tsv").write_text("a,b,c\td\n1\t2\n")
    assert good_values(open_source(tmp_path / "a.tsv")) == [{"a,b,c": "1", "d": "2"}]


def test_what_no_name_tells_can_be_stated(tmp_path: Path):
    (tmp_path / "spool").write_text("a\tb\n1\t2\n")
    with pytest.raises(UsageError, match=r"cannot tell the format.*\.csv"):
        open_source(tmp_path / "spool")
    given = open_source(str(tmp_path / "spool"), ReadOptions(format="csv", delimiter="\\t"))
    assert good_values(given) == [{"a": "1", "b": "2"}]
    with pytest.raises(UsageError, match="unknown format 'xml'"):
        format_of("a.csv", "xml")


@pytest.mark.parametrize("delimiter", ["", ";;", '"', "\n"])
def test_a_delimiter_is_one_character(tmp_path: Path, delimiter: str):
    with pytest.raises(UsageError, match="a single character"):
        open_source(tmp_path / "a.csv", ReadOptions(delimiter=delimiter))


def test_a_missing_file_is_noticed_at_once(tmp_path: Path):
    with pytest.raises(BadSource, match=r"the file .* does not exist"):
        open_source(tmp_path / "a.csv")
