"""The check of a file before a job is created: every kind of bad input, and good input."""

import codecs
import gzip
import zipfile
from pathlib import Path

import msgspec
import openpyxl
import pytest

from headgate.core.errors import BadSource, UsageError, WrongEncoding
from headgate.transfer.inspection import inspect
from headgate.transfer.limits import Limits
from headgate.transfer.sniff import Misread
from headgate.transfer.sources import ReadOptions, open_source, open_writer
from tests.kit.rows import all_rows, good_values


def put(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def workbook(path: Path, *rows: list) -> Path:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


def test_the_first_rows_are_shown_as_they_are_read(tmp_path: Path):
    found = inspect(put(tmp_path / "a.csv", "a,b\n" + "1,2\n" * 200 + "1\n"))
    assert (found.format, found.columns, len(found.rows)) == ("csv", ("a", "b"), 100)
    assert found.rows[0] == {"a": "1", "b": "2"}
    few = inspect(put(tmp_path / "a.csv", "a,b\n1,2\n3\n"), rows=2)
    assert few.problems == {3: "1 value for 2 columns"}
    assert msgspec.json.encode(few)


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.xlsx", "a.parquet", "a.zip"])
def test_an_empty_file_is_refused(tmp_path: Path, name: str):
    with pytest.raises(BadSource, match=f"{name} is empty"):
        inspect(put(tmp_path / name, b""))


@pytest.mark.parametrize("content", ["\n\n", "\ufeff"])
def test_a_file_of_nothing_is_refused(tmp_path: Path, content: str):
    with pytest.raises(BadSource, match="is empty: it has neither a header nor rows"):
        inspect(put(tmp_path / "a.csv", content))


def test_a_header_alone_is_refused(tmp_path: Path):
    for path in (put(tmp_path / "a.csv", "a,b\n"), workbook(tmp_path / "a.xlsx", ["a", "b"])):
        with pytest.raises(BadSource, match=r"has a header \(a, b\) but no rows under it"):
            inspect(path)


def test_too_many_columns_are_refused(tmp_path: Path):
    names = [f"c{n}" for n in range(10_000)]
    csv = put(tmp_path / "a.csv", ",".join(names) + "\n" + ",".join(names) + "\n")
    with pytest.raises(BadSource, match="has 10,000 columns; at most 2,000 are read"):
        inspect(csv)
    jsonl = put(tmp_path / "a.jsonl", msgspec.json.encode(dict.fromkeys(names, 1)))
    with pytest.raises(BadSource, match="line 1 has 10,000 values; at most 2,000 are read"):
        inspect(jsonl)
    with pytest.raises(BadSource, match="has 10,000 columns"):
        inspect(workbook(tmp_path / "a.xlsx", names, names))


@pytest.mark.parametrize(
    ("name", "real", "message"),
    [
        ("a.csv", "a.xlsx", "should be CSV, but is an Excel workbook by its content.*.xlsx"),
        ("a.jsonl", "a.xlsx", "should be JSONL, but is an Excel workbook"),
        ("a.zip", "a.xlsx", "should be a zip of images, but is an Excel workbook"),
        ("a.parquet", "a.xlsx", "should be a Parquet file, but is an Excel workbook"),
        ("a.csv", "a.parquet", "should be CSV, but is a Parquet file"),
        ("b.xlsx", "a.csv", "is not an Excel workbook by its content"),
        ("b.parquet", "a.csv", "is not a Parquet file by its content"),
        ("b.zip", "a.csv", "is not a zip of images by its content"),
    ],
)
def test_content_counts_more_than_a_name(tmp_path: Path, name: str, real: str, message: str):
    if real == "a.csv":
        put(tmp_path / real, "a,b\n1,2\n")
    else:
        writer = open_writer(tmp_path / real)
        writer.open(["a"])
        writer.write([{"a": 1}])
        writer.commit({})
    (tmp_path / real).rename(tmp_path / name)
    with pytest.raises(BadSource, match=message):
        inspect(tmp_path / name)


@pytest.mark.parametrize("head", ["PAR1", "BM", "BMI,x", "RIFF", "GIF,x", "PK"])
def test_a_table_may_begin_with_a_word_that_others_begin_with(tmp_path: Path, head: str):
    assert inspect(put(tmp_path / "a.csv", f"{head},b\n1,2,3\n")).rows


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"%PDF-1.7\n", "a PDF document"),
        (
            b"\x1f\x8b\x08",
            "a gzip file by its content; give it an ending such as .csv.gz",
        ),
        (b"SQLite format 3\0", "an SQLite database"),
        (codecs.BOM_UTF8 + b"\0" * 50, "is not text: many of its bytes are NUL"),
        ("a,b\n1,2\n".encode("utf-16-le"), r"UTF-16 without a byte order mark.*\(utf-16-le\)"),
        ("a,b\n1,2\n".encode("utf-16-be"), r"UTF-16 without a byte order mark.*\(utf-16-be\)"),
        ("a\n1\n".encode("utf-32"), "is in UTF-32, which is not supported; save it as UTF-8"),
    ],
)
def test_a_file_that_is_not_a_table_is_refused(tmp_path: Path, content: bytes, message: str):
    with pytest.raises(BadSource, match=message):
        inspect(put(tmp_path / "a.csv", content))


OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)


def test_a_workbook_with_a_password(tmp_path: Path):
    path = put(tmp_path / "a.xlsx", OLE + "EncryptedPackage".encode("utf-16-le") + bytes(100))
    with pytest.raises(BadSource, match="is protected by a password: save it without"):
        inspect(path)
    with pytest.raises(BadSource, match=r"old Office file \(.xls, .doc, …\): save it as .xlsx"):
        inspect(put(tmp_path / "b.xlsx", OLE))


@pytest.mark.parametrize(
    "content",
    [
        codecs.BOM_UTF8 + "a,b\né,2\n".encode(),
        codecs.BOM_UTF16_LE + "a,b\né,2\n".encode("utf-16-le"),
        codecs.BOM_UTF16_BE + "a,b\né,2\n".encode("utf-16-be"),
        "a,b\r\né,2\r".encode(),
    ],
)
def test_marks_and_line_ends_of_any_kind(tmp_path: Path, content: bytes):
    path = put(tmp_path / "a.csv", content)
    assert inspect(path).rows == [{"a": "é", "b": "2"}]
    assert good_values(open_source(path)) == [{"a": "é", "b": "2"}]


def test_latin_1_is_read_when_stated_and_advised_when_not(tmp_path: Path):
    path = put(tmp_path / "a.csv", "name,n\ncafé,1\nplain,2\n".encode("latin-1"))
    stated = inspect(path, ReadOptions(encoding="latin-1"))
    assert stated.rows[0] == {"name": "café", "n": "1"}
    [problem] = inspect(path).problems.values()
    assert "not valid UTF-8" in problem
    assert "state it (latin-1" in problem


@pytest.mark.parametrize(
    ("encoding", "text", "fits"),
    [
        ("latin-1", "name,n\nMüller,1\nplain,2\n", "cp1252"),
        ("cp1252", "name,n\n“quoted” words €,1\n", "cp1252"),
        ("iso8859-2", "name,n\nDvořák Jiří,1\nand many plain words,2\n", "cp1252"),
        ("cp1251", "имя,n\nДостоевский,1\n", None),  # noqa: RUF001 (another alphabet)
        ("shift_jis", "name,n\n東京都渋谷区,1\n", None),
    ],
)
def test_text_in_another_encoding_is_noticed(tmp_path: Path, encoding, text, fits):
    path = put(tmp_path / "a.csv", text.encode(encoding))
    found = inspect_or_wrong(path)
    assert found == Misread(fits)
    assert inspect(path, ReadOptions(encoding=encoding)).misread is None


def inspect_or_wrong(path: Path) -> Misread | None:
    """What is said of the encoding, whether the header can be read or not."""
    try:
        return inspect(path).misread
    except WrongEncoding as error:
        return Misread(error.fits)


@pytest.mark.parametrize(
    "content",
    [
        b"a,b\n1,2\n",
        "a,b\nMüller,東京\n".encode(),
        "a,b\nMüller,Köln\nÅsa,".encode() + b"\xff\n",
        codecs.BOM_UTF16_LE + "a,b\né,2\n".encode("utf-16-le"),
    ],
)
def test_utf_8_is_not_misread_even_with_damage(tmp_path: Path, content):
    assert inspect(put(tmp_path / "a.csv", content)).misread is None


def test_the_text_of_a_packed_file_is_looked_at(tmp_path: Path):
    good = put(tmp_path / "a.csv.gz", gzip.compress("a,b\nMüller,Köln\n".encode()))
    assert inspect(good).misread is None
    other = put(tmp_path / "b.csv.gz", gzip.compress("a,b\nMüller,Köln\n".encode("cp1252")))
    assert inspect(other).misread == Misread("cp1252")


def test_another_encoding_is_noticed_beyond_the_first_rows(tmp_path: Path):
    late = b"a,b\n" + b"1,2\n" * 400_000 + "é,3\n".encode("latin-1")
    found = inspect(put(tmp_path / "a.csv", late))
    assert found.misread == Misread("cp1252")
    assert found.problems == {}


def test_an_embedded_nul_and_a_quote_that_is_never_closed(tmp_path: Path):
    path = put(tmp_path / "a.csv", 'a,b\nx\0y,2\n1,"open\n3,4\n')
    found = inspect(path)
    assert found.rows[0] == {"a": "x\0y", "b": "2"}
    assert found.problems == {3: "this line opens a quote that is never closed"}
    assert [row.problem is None for row in all_rows(open_source(path))] == [True, False, True]


def test_rows_and_values_have_bounds(tmp_path: Path):
    path = put(tmp_path / "a.csv", "a\n1\n22222\n3\n")
    found = inspect(path, limits=Limits(max_cell_bytes=4))
    assert found.problems == {3: "the value of 'a' is longer than 4 bytes"}
    with pytest.raises(BadSource, match="more than 2 rows: split the file into parts"):
        all_rows(open_source(path, limits=Limits(max_rows=2)))
    assert len(all_rows(open_source(path, limits=Limits(max_rows=3)))) == 3


def test_an_archive_without_images_is_refused(tmp_path: Path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("rows.csv", "a\n1\n")
    with pytest.raises(BadSource, match="contains no image"):
        inspect(tmp_path / "a.zip")


def test_a_library_that_is_absent_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr("headgate.transfer.formats.registry.find_spec", lambda _name: None)
    for name, extra in (("a.xlsx", "xlsx"), ("a.parquet", "parquet")):
        with pytest.raises(UsageError, match=rf'pip install "headgate\[{extra}\]"'):
            inspect(put(tmp_path / name, b"x"))
        with pytest.raises(UsageError, match=rf'pip install "headgate\[{extra}\]"'):
            open_writer(tmp_path / name)


BLANKS = {"csv": "id,name\n", "jsonl": "", "txt": ""}


@pytest.mark.parametrize("ending", BLANKS)
def test_a_file_of_line_ends_is_refused_without_reading_all_of_it(tmp_path: Path, ending: str):
    """SM11."""
    file = put(tmp_path / f"a.{ending}", BLANKS[ending] + "\n" * 3_000)
    with pytest.raises(BadSource, match="1,000 bytes of blank lines follow line"):
        inspect(file, limits=Limits(max_blank_bytes=1_000))


def test_line_ends_before_a_header_are_bounded_too(tmp_path: Path):
    rows = "id,name\n1,lamp\n"
    assert len(inspect(put(tmp_path / "a.csv", "\n" * 3_000 + rows)).rows) == 1
    with pytest.raises(BadSource, match="too long or never ends"):
        inspect(put(tmp_path / "b.csv", "\n" * 1_500_000 + rows))


def test_a_file_is_not_refused_for_line_ends_after_the_first_rows(tmp_path: Path):
    """A sheet of one column may be saved with a line for each of its million rows."""
    file = put(tmp_path / "a.csv", "id\n" + "1\n" * 50 + "\n" * 300_000)
    assert len(inspect(file).rows) == 50
    assert len(all_rows(open_source(file))) == 50


@pytest.mark.parametrize(
    ("ending", "head", "row"),
    [("csv", "id\n", "1\n"), ("jsonl", "", '{"id": 1}\n'), ("txt", "", "https://example.org/1\n")],
)
def test_rows_after_many_blank_lines_are_never_left_out(
    tmp_path: Path, ending: str, head: str, row: str
):
    """A batch is bounded in bytes; blank lines that fill it are not the end of the file."""
    file = put(tmp_path / f"a.{ending}", head + row + "\n" * 5_000 + row)
    reader = open_source(file).open()
    values = [value for _ in range(2) for value in reader.take(1, 100).values]
    reader.close()
    assert len(values) == 2
    reader = open_source(file, limits=Limits(max_blank_bytes=1_000)).open()
    assert len(reader.take(1, 100).values) == 1
    with pytest.raises(BadSource, match="blank lines follow line"):
        reader.take(1, 100)
    reader.close()


def test_no_further_rows_are_read_when_the_time_is_over(tmp_path: Path):
    """SM11."""
    row = '{"id": "' + "x" * 100_000 + '"}\n'
    file = put(tmp_path / "a.jsonl", row * 5)
    assert len(inspect(file).rows) == 5
    assert len(inspect(file, limits=Limits(max_look_s=1e-9)).rows) < 5
