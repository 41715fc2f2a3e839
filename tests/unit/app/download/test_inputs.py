"""A first look at what is to be downloaded."""

from pathlib import Path

import pytest

from headgate.app.download.inputs import format_of_head, kinds_in
from headgate.core.errors import BadSource
from headgate.handlers.download.identifier import IdentifierKind
from headgate.transfer.sources import open_source


@pytest.mark.parametrize(
    ("head", "found"),
    [
        ("10.1234/abc\n", "list"),
        ("", "list"),
        ("# doi, url\n10.1234/abc\n", "list"),
        ("https://a.example/?doi=1,2\n", "list"),
        ('{"doi": "10.1234/abc"}\n', "jsonl"),
        ('\ufeff\n  {"doi": "10.1234/abc"}\n', "jsonl"),
        ("doi\n10.1234/abc\n", "csv"),
        ('title;"DOI"\r\nx;10.1234/abc\r\n', "csv"),
        ("title\tPMC ID\tid\n", "csv"),
    ],
)
def test_the_format_of_standard_input_is_detected(tmp_path: Path, head: str, found: str):
    path = tmp_path / "stdin"
    path.write_text(head, "utf-8")
    assert format_of_head(path) == found


def test_kinds(tmp_path: Path):
    path = tmp_path / "list.txt"
    path.write_text("10.1234/abc\nhttps://a.example/x.pdf\nnonsense\n")
    assert kinds_in(open_source(path), "list.txt") == {IdentifierKind.DOI, IdentifierKind.URL}


def test_a_table_without_a_column_for_identifiers_is_refused(tmp_path: Path):
    path = tmp_path / "works.csv"
    path.write_text("title,link\nOn nothing,https://a.example/\n")
    with pytest.raises(BadSource, match=r"works.csv has none of the columns doi,.*title, link"):
        kinds_in(open_source(path), "works.csv")


def test_a_file_without_rows_is_not_an_error(tmp_path: Path):
    path = tmp_path / "works.csv"
    path.write_text("title,link\n")
    assert kinds_in(open_source(path), "works.csv") == frozenset()
