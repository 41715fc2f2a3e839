"""CSV as it is found in the wild."""

import codecs
import sys
import unicodedata
from pathlib import Path

import pytest

from headgate.core.errors import BadSource
from headgate.transfer.formats import csv as csv_format
from headgate.transfer.formats.cells import Formulas, csv_cells, neutral
from headgate.transfer.formats.csv import CsvReader, CsvSource
from headgate.transfer.formats.csv_writer import CsvWriter
from headgate.transfer.limits import Limits
from tests.kit.rows import all_rows, batches, good_values


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "rows.csv"


def source(path: Path, content: str | bytes, **options) -> CsvSource:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return CsvSource(path, **options)


def columns(source: CsvSource) -> tuple[str, ...]:
    reader = source.open()
    reader.close()
    return reader.columns


def test_rows_have_the_names_of_the_header(path: Path):
    given = source(path, "sku,price\nA1,3\nA2,\n")
    assert [row[:4] for row in all_rows(given)] == [
        (1, 2, {"sku": "A1", "price": "3"}, '{"sku":"A1","price":"3"}'),
        (2, 3, {"sku": "A2", "price": ""}, '{"sku":"A2","price":""}'),
    ]


@pytest.mark.parametrize("content", ["", "\n\n", "\ufeff"])
def test_an_empty_file_has_no_rows_and_no_columns(path: Path, content: str):
    given = source(path, content)
    assert all_rows(given) == []
    assert columns(given) == ()


def test_a_header_alone_has_columns_and_no_rows(path: Path):
    given = source(path, "a,b")
    assert all_rows(given) == []
    assert columns(given) == ("a", "b")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_any_line_end_will_do(path: Path, end: str):
    assert good_values(source(path, end.join(["a,b", "1,2", "3,4"]))) == [
        {"a": "1", "b": "2"},
        {"a": "3", "b": "4"},
    ]


def test_line_ends_may_be_mixed_and_lines_blank(path: Path):
    given = source(path, "a,b\r\n\n1,2\r3,4\n   \n\r\n5,6\r\n")
    assert [(row.number, row.line) for row in all_rows(given)] == [(1, 3), (2, 4), (3, 7)]


def test_a_quoted_value_may_hold_line_ends_and_quotes(path: Path):
    given = source(path, 'a,b\n"x\r\ny","say ""hi"""\n3,4\n')
    rows = all_rows(given)
    assert rows[0].values == {"a": "x\r\ny", "b": 'say "hi"'}
    assert [row.line for row in rows] == [2, 4]


def test_a_nul_is_kept(path: Path):
    assert good_values(source(path, "a\nx\0y\n")) == [{"a": "x\0y"}]


def test_unicode_line_separators_are_not_line_ends(path: Path):
    assert good_values(source(path, "a\nx\u2028y\x0cz\x85\n")) == [{"a": "x\u2028y\x0cz\x85"}]


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ],
)
def test_a_byte_order_mark_tells_the_encoding(path: Path, mark: bytes, encoding: str):
    given = source(path, mark + 'näme;b\r\n€𝄞;ਊ\r\n"1\n2";\u0a0d\r\n'.encode(encoding))
    assert good_values(given) == [{"näme": "€𝄞", "b": "ਊ"}, {"näme": "1\n2", "b": "\u0a0d"}]


def test_another_encoding_can_be_stated(path: Path):
    given = source(path, "näme\n€\n".encode("cp1252"), encoding="cp1252")
    assert good_values(given) == [{"näme": "€"}]


def test_utf_32_and_unknown_encodings_are_refused(path: Path):
    with pytest.raises(BadSource, match="UTF-32"):
        source(path, codecs.BOM_UTF32_LE + "a".encode("utf-32-le")).open()
    with pytest.raises(BadSource, match="'klingon' is not the name of a text encoding"):
        source(path, "a\n", encoding="klingon").open()


@pytest.mark.parametrize("name", ["base64", "bz2", "hex", "idna", "punycode", "rot13", "a\0b"])
def test_what_is_not_an_encoding_of_text_is_refused(path: Path, name: str):
    with pytest.raises(BadSource, match="is not the name of a text encoding"):
        source(path, "a\n", encoding=name).open()


def test_broken_bytes_make_their_row_bad(path: Path):
    given = source(path, b'a,b\nok,1\n"x\ny\xff",2\nok,3\n')
    rows = all_rows(given)
    assert [row.problem for row in rows] == [
        None,
        (
            "not valid UTF-8: bytes ff 22 2c 32 at byte 2 of the line; if the file is in another"
            " encoding, state it (latin-1, cp1252, …)"
        ),
        None,
    ]
    assert rows[1].line == 3
    assert rows[1].values == {"a": "x\ny\ufffd", "b": "2"}


def test_half_a_character_at_the_end_of_utf_16_is_a_bad_row(path: Path):
    given = source(path, codecs.BOM_UTF16_LE + "a\n1\n".encode("utf-16-le") + b"\x31")
    assert [(row.line, row.problem is None) for row in all_rows(given)] == [(2, True), (3, False)]


def test_broken_bytes_in_the_header_ask_for_the_encoding(path: Path):
    with pytest.raises(BadSource, match=r"line 1: the header is not valid UTF-8.*encoding"):
        source(path, "näme\n".encode("latin-1")).open()


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ("a,a,a", ("a", "a_2", "a_3")),
        ("a,a,a_2", ("a", "a_3", "a_2")),
        (" a ,,b,", ("a", "column_2", "b", "column_4")),
        (",column_1", ("column_1", "column_1_2")),
        ('"x\ny",b', ("x\ny", "b")),
    ],
)
def test_names_are_made_whole_and_different(path: Path, header: str, names: tuple[str, ...]):
    assert columns(source(path, f"{header}\n")) == names


@pytest.mark.parametrize(
    ("head", "names"),
    [
        ("a;b;c", ("a", "b", "c")),
        ("a\tb", ("a", "b")),
        ("a|b", ("a", "b")),
        ('a;"b,c,d,e"', ("a", "b,c,d,e")),
        ("sep=;\r\na;b", ("a", "b")),
        ("\n\na;b", ("a", "b")),
        ("a,b;c,d", ("a", "b;c", "d")),
    ],
)
def test_the_delimiter_is_found(path: Path, head: str, names: tuple[str, ...]):
    assert columns(source(path, f"{head}\n")) == names


def test_a_stated_delimiter_holds(path: Path):
    assert columns(source(path, "a,b;c\n", delimiter=";")) == ("a,b", "c")


def test_lines_are_counted_from_the_separator_line_on(path: Path):
    assert [row.line for row in all_rows(source(path, "sep=;\na;b\n1;2\n"))] == [3]


def test_a_row_of_another_width_is_bad_and_keeps_what_there_is(path: Path):
    rows = all_rows(source(path, "a,b\n1\n1,2,3,4\n5,6\n"))
    assert [(row.line, row.problem, row.values) for row in rows] == [
        (2, "1 value for 2 columns", {"a": "1"}),
        (3, "4 values for 2 columns", {"a": "1", "b": "2", "_extra": ["3", "4"]}),
        (4, None, {"a": "5", "b": "6"}),
    ]


def test_extra_values_overwrite_no_column(path: Path):
    rows = all_rows(source(path, "_extra\n1,2\n"))
    assert rows[0].values == {"_extra": "1", "__extra": ["2"]}


def test_a_quote_that_is_never_closed_costs_one_row(path: Path):
    rows = all_rows(source(path, 'a,b\n1,2\n3,"4\n5,6\n7,8\n'))
    assert [(row.number, row.line, row.values["a"]) for row in rows] == [
        (1, 2, "1"),
        (2, 3, "3"),
        (3, 4, "5"),
        (4, 5, "7"),
    ]
    assert [row.problem for row in rows if row.problem] == [
        "this line opens a quote that is never closed",
    ]


def test_an_open_quote_is_noticed_before_it_swallows_the_file(path: Path):
    body = "".join(f"{number},x\n" for number in range(200_000))
    given = source(path, f'a,b\nq,"open\n{body}', limits=Limits(max_record_bytes=100_000))
    rows = all_rows(given, rows=5_000)
    assert len(rows) == 200_001
    assert rows[0].line == 2
    assert "longer than 100,000 bytes" in (rows[0].problem or "")
    assert all(row.problem is None for row in rows[1:])
    assert rows[-1].values == {"a": "199999", "b": "x"}


def test_how_long_a_row_may_be_does_not_depend_on_where_reading_began(path: Path):
    long = "\n".join(["x" * 50] * 30)
    given = source(path, f'a\n1\n"{long}"\n2\n', limits=Limits(max_record_bytes=1_000))
    whole = all_rows(given)
    assert [row.problem is None for row in whole][:3] == [True, False, True]
    first = next(batches(given, rows=1))
    assert all_rows(given, first.position) == whole[1:]


def test_too_many_open_quotes_are_another_kind_of_file(path: Path, monkeypatch):
    monkeypatch.setattr(csv_format, "MAX_OPEN_QUOTES", 3)
    given = source(path, "a,b\n" + 'a"b"c,"d\n' * 10)
    with pytest.raises(BadSource, match=r"line 5: .*3 times before"):
        all_rows(given)


def test_an_overlong_line_is_a_bad_row_and_the_next_is_read(path: Path):
    given = source(
        path, "a,b\n1,2\n" + "x" * 900_000 + "\r\n3,4\n", limits=Limits(max_record_bytes=1_000)
    )
    rows = all_rows(given)
    assert [(row.line, row.problem is None) for row in rows] == [(2, True), (3, False), (4, True)]
    assert len(rows[1].values["a"]) == 1_000


@pytest.mark.parametrize("size", [10, 1_000_000])
def test_an_overlong_line_may_be_the_last(path: Path, size: int):
    given = source(path, "a\n1\n" + "x" * (1_000 + size), limits=Limits(max_record_bytes=1_000))
    assert [row.problem is None for row in all_rows(given)] == [True, False]


def test_overlong_lines_in_utf_16(path: Path):
    text = "a\r\n1\r\n" + "x" * 400_001 + "\r\n2\r\n"
    given = source(
        path, codecs.BOM_UTF16_BE + text.encode("utf-16-be"), limits=Limits(max_record_bytes=1_000)
    )
    rows = all_rows(given)
    assert [(row.line, row.problem is None) for row in rows] == [(2, True), (3, False), (4, True)]
    assert rows[2].values == {"a": "2"}


@pytest.mark.parametrize(
    ("content", "message"),
    [('a,"b\n1,2\n', "never closed"), ('"' + "x\n" * 600_000, "too long or never ends")],
)
def test_a_header_without_an_end_is_refused(path: Path, content: str, message: str):
    with pytest.raises(BadSource, match=message):
        source(path, content, limits=Limits(max_record_bytes=300_000)).open()


def test_values_longer_than_the_csv_modules_own_limit_are_read(path: Path):
    assert good_values(source(path, "a\n" + "x" * 200_000 + "\n")) == [{"a": "x" * 200_000}]


def test_a_batch_ends_near_its_bytes(path: Path):
    given = source(path, "a\n" + f"{'x' * 999}\n" * 3_000)
    sizes = [batch.size for batch in batches(given, max_bytes=500_000)]
    assert len(sizes) >= 4
    assert max(sizes) < 1_100_000
    assert sum(sizes) == path.stat().st_size


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path):
    with pytest.raises(BadSource, match=r"the file .* does not exist"):
        CsvSource(tmp_path / "none.csv").open()
    with pytest.raises(BadSource, match="is a folder"):
        CsvSource(tmp_path).open()


def test_the_reader_closes_its_file(path: Path):
    reader = source(path, "a\n1\n").open()
    assert isinstance(reader, CsvReader)
    reader.close()
    with pytest.raises(ValueError, match="closed"):
        reader.take(1, 1)


def written(path: Path, columns, rows, **options) -> str:
    writer = CsvWriter(path, **options)
    writer.open(columns)
    writer.write(rows)
    writer.commit({})
    return path.read_bytes().decode()


def test_cells_that_a_spreadsheet_would_run_are_neutral(path: Path):
    values = ["=1+1", "+x", "-", "@a", "\tb", "\rc", "-5", "+1.5e3", "-1,5", "a=b", "", "-5", -5]
    rows = [{"v": value} for value in values]
    assert written(path, ["v"], rows).split("\n") == [
        "v", "'=1+1", "'+x", "'-", "'@a", "'\tb", "\"'\rc\"", "-5", "+1.5e3", '"-1,5"',
        "a=b", '""', "-5", "-5", "",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        *("\n=1+1", "\r\n=1+1", "\ufeff=1+1", "\ufeff\n @SUM(A1)", "\u200b-cmd", "\n\n+x"),
        *("＝1+1", "＋1+1", "－2+3", "＠SUM(A1)", "﹦1", "\n＝1"),  # noqa: RUF001
        *(" =1+1", "   @SUM(A1)", "\u00a0=cmd()", "\u3000=1", "\u2028=1", "\x0b=1", "\x0c=1"),
        *("\x00=1", "\x01=1", "\x1f=1", "\x7f=1", "\x85=1", "\u202e=1", "\u2066=1", "\u200e=1"),
        *("\u200d=1", "\u00ad=1", "\u034f=1", "\ufe0f=1", "\u3164=1", "\u180e=1", "\U000e0020=1"),
        *(" \u00a0\x01\u200b\ufeff=1+1", " -5+1", " ＝1", "\u200b-5", "\t5"),  # noqa: RUF001
    ],
)
def test_a_formula_is_neutral_however_it_is_disguised(text: str):
    assert neutral(text) == f"'{text}"
    assert csv_cells([text], Formulas.NEUTRAL) == [f"'{text}"]


def test_a_formula_is_neutral_behind_every_blank_and_invisible_character():
    blank = {"Cc", "Cf", "Zs", "Zl", "Zp"}
    skipped = [
        char
        for char in map(chr, range(sys.maxunicode + 1))
        if char.isspace() or unicodedata.category(char) in blank
    ]
    assert len(skipped) > 200
    cells = [f"{char}=1+1" for char in skipped]
    assert csv_cells(cells, Formulas.NEUTRAL) == [f"'{cell}" for cell in cells]


@pytest.mark.parametrize(
    "text",
    [
        *("\nnext line", "\ufeffid", "a\n=1", "\n", "\ufeff", "", " ", "  indented", "\u00a0a=1"),
        *(" -5", "  +1.5e3", "\u00a0-1,5", " 7", "1 = 1", "\u202eabc", "'=1"),
    ],
)
def test_text_that_no_spreadsheet_runs_stays(text: str):
    assert csv_cells([text], Formulas.NEUTRAL) == [text]


def test_raw_formulas_stay(path: Path):
    assert written(path, ["=v"], [{"=v": "=1+1"}], formulas=Formulas.RAW) == "=v\n=1+1\n"


def test_a_header_is_neutral_too(path: Path):
    assert written(path, ["=v"], []) == "'=v\n"


def test_other_values_are_json_and_nothing_is_empty(path: Path):
    row = {"a": None, "b": True, "c": 1.5, "d": {"x": [1, "é"]}, "e": 10**20}
    assert written(path, ["a", "b", "c", "d", "e", "missing"], [row]).split("\n")[1] == (
        ',true,1.5,"{""x"":[1,""é""]}",100000000000000000000,'
    )


def test_tabs_are_quoted_only_where_they_are_the_delimiter(path: Path):
    assert written(path, ["a", "b"], [{"a": "x\ty", "b": "1,2"}], delimiter="\t") == (
        'a\tb\n"x\ty"\t1,2\n'
    )
