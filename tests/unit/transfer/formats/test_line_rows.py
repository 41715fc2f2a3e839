"""Plain lists: one name a line."""

import codecs
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.core.errors import BadSource, UsageError
from headgate.transfer.formats.line_rows import PlainListSource
from headgate.transfer.limits import Limits
from headgate.transfer.sources import open_source, open_writer
from tests.kit.rows import all_rows, batches, good_values


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "urls.txt"


def test_blank_lines_and_comments_are_left_out(path: Path):
    path.write_text("# my list\n\n 10.1234/abc \r\nhttps://a.example/#part\n   # no\n\t\nPMC1")
    rows = all_rows(open_source(path))
    assert [(row.number, row.line, row.values) for row in rows] == [
        (1, 3, {"id": "10.1234/abc"}),
        (2, 4, {"id": "https://a.example/#part"}),
        (3, 7, {"id": "PMC1"}),
    ]


def test_the_column_is_known_before_the_first_row(path: Path):
    path.write_text("")
    reader = open_source(path).open()
    assert reader.columns == ("id",)
    assert not reader.take(10, 1_000).values
    reader.close()


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        ("é\nü\n".encode(), None),
        (codecs.BOM_UTF8 + "é\nü\n".encode(), None),
        (codecs.BOM_UTF16_LE + "é\nü\n".encode("utf-16-le"), None),
        ("é\nü\n".encode("latin-1"), "latin-1"),
    ],
)
def test_encodings(path: Path, content: bytes, encoding: str | None):
    path.write_bytes(content)
    assert good_values(PlainListSource(path, encoding)) == [{"id": "é"}, {"id": "ü"}]


def test_a_broken_line_is_bad_and_the_others_are_not(path: Path):
    path.write_bytes(b"one\n\xff\xfe\nthree\n")
    rows = all_rows(PlainListSource(path))
    assert [row.problem is None for row in rows] == [True, False, True]
    assert "not valid UTF-8" in (rows[1].problem or "")


def test_a_line_without_an_end_costs_little(path: Path):
    path.write_text("one\n" + "x" * 50_000 + "\nthree\n")
    rows = all_rows(PlainListSource(path, limits=Limits(max_record_bytes=1_000)))
    assert [row.values.get("id") for row in rows] == ["one", None, "three"]
    assert rows[1].problem == "the line is longer than a row may be"


@settings(max_examples=50, deadline=None)
@given(lines=st.lists(st.sampled_from(["a", "", "# c", "b\r", " d ", "é€"]), max_size=12))
def test_reading_continues_at_any_position(tmp_path_factory, lines: list[str]):
    path = tmp_path_factory.mktemp("list") / "urls.txt"
    path.write_bytes("\n".join(lines).encode())
    source = open_source(path)
    whole = all_rows(source)
    for done, batch in enumerate(batches(source, rows=1), 1):
        assert all_rows(source, batch.position) == whole[done:]


def test_other_files_are_refused_by_their_content(path: Path):
    path.write_bytes(b"PK\3\4 and so on")
    with pytest.raises(BadSource, match=r"should be a plain list, but is a zip archive"):
        open_source(path)


def test_lists_are_not_written(path: Path):
    with pytest.raises(UsageError, match="cannot write list; it writes csv"):
        open_writer(path)
