"""Workbooks of people, workbooks that we write, and hostile workbooks."""

import datetime as dt
import json
import zipfile
from pathlib import Path

import openpyxl
import pytest

from headgate.core.errors import BadSource, UsageError
from headgate.transfer.formats.xlsx import XlsxSource, XlsxWriter
from headgate.transfer.formats.xlsx_cells import LONGEST_TEXT, xlsx_cell
from headgate.transfer.limits import Limits
from tests.kit.rows import all_rows, good_values


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "rows.xlsx"


def book(path: Path, *rows: list) -> openpyxl.Workbook:
    made = openpyxl.Workbook()
    for row in rows:
        made.active.append(row)
    made.save(path)
    return made


def write(path: Path, rows: list[dict], **options) -> None:
    writer = XlsxWriter(path, **options)
    writer.open(list(rows[0]) if rows else ["a"], len(rows))
    for row in rows:
        writer.write([row])
    writer.commit({"rows": len(rows)})


def test_cells_keep_their_types(path: Path):
    moment = dt.datetime(2024, 2, 29, 13, 5, 7)  # noqa: DTZ001 (a sheet knows no zones)
    book(
        path,
        ["text", "whole", "part", "yes", "day", "moment", "clock", "span"],
        ["007", 7, 1.5, True, moment.date(), moment, moment.time(), dt.timedelta(hours=30)],
    )
    assert good_values(XlsxSource(path)) == [
        {
            "text": "007",
            "whole": 7,
            "part": 1.5,
            "yes": True,
            "day": "2024-02-29",
            "moment": "2024-02-29T13:05:07",
            "clock": "13:05:07",
            "span": "30:00:00",
        }
    ]


def test_formulas_give_the_values_that_were_stored_with_them(path: Path):
    book(path, ["n", "twice"], [2, "=A2*2"])
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    parts[sheet] = parts[sheet].replace(b"<v></v>", b"<v>4</v>").replace(b"<v />", b"<v>4</v>")
    assert b"<v>4</v>" in parts[sheet]
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    assert good_values(XlsxSource(path)) == [{"n": 2, "twice": 4}]


def test_a_merged_cell_has_its_value_once(path: Path):
    made = book(path, ["a", "b"], ["x", None], [None, "y"])
    made.active.merge_cells("A2:A3")
    made.save(path)
    assert good_values(XlsxSource(path)) == [{"a": "x", "b": ""}, {"a": "", "b": "y"}]


def test_one_sheet_is_read_and_the_others_are_named(path: Path):
    made = openpyxl.Workbook()
    made.active.title = "cover"
    for name in ("first", "second"):
        made.create_sheet(name).append(["a"])
        made[name].append([name])
    made["second"].sheet_state = "visible"
    made.save(path)
    reader = XlsxSource(path).open()
    assert reader.notes == ("only sheet 'first' is read; not read: 'cover', 'second'",)
    assert reader.sheets == ("cover", "first", "second")
    reader.close()
    assert good_values(XlsxSource(path, "second")) == [{"a": "second"}]
    with pytest.raises(BadSource, match=r"no sheet 'third'; it has: 'cover', 'first'"):
        XlsxSource(path, "third").open()


def test_a_table_may_begin_anywhere_and_lines_are_those_of_the_sheet(path: Path):
    made = openpyxl.Workbook()
    for cell, value in {"C4": "a", "D4": "b", "C6": 1, "D9": 2}.items():
        made.active[cell] = value
    made.save(path)
    rows = all_rows(XlsxSource(path))
    assert [(row.number, row.line, row.values) for row in rows] == [
        (1, 6, {"a": 1, "b": ""}),
        (2, 9, {"a": "", "b": 2}),
    ]


def test_columns_without_a_name_are_called_by_their_place(path: Path):
    book(path, ["a", None, "a", None], [1, 2, 3, 4])
    assert good_values(XlsxSource(path)) == [{"a": 1, "column_2": 2, "a_2": 3, "column_4": 4}]


def test_a_stray_cell_far_to_the_right_makes_a_bad_row(path: Path):
    made = book(path, ["a", "b"], *([n, n] for n in range(150)))
    made.active["E140"] = "stray"
    made.save(path)
    [bad] = [row for row in all_rows(XlsxSource(path)) if row.problem]
    assert (bad.line, bad.problem) == (140, "5 values for 2 columns")
    assert bad.values == {"a": 138, "b": 138, "_extra": ["", "", "stray"]}


def test_an_empty_workbook_has_no_rows(path: Path):
    book(path)
    reader = XlsxSource(path).open()
    assert reader.columns == ()
    assert reader.take(10, 1_000).values == []
    reader.close()


def test_a_cell_in_the_farthest_corner_costs_the_process_and_not_us(path: Path):
    made = book(path, ["a"], [1])
    made.active["XFD1048576"] = "far"
    made.save(path)
    limits = Limits(max_memory_bytes=300 * 1024 * 1024)
    with pytest.raises(BadSource, match=r"cannot be read in 300 MiB of memory: save it as CSV"):
        all_rows(XlsxSource(path, limits=limits))


def test_a_process_that_keeps_silent_is_ended(path: Path):
    book(path, ["a"], [1])
    with pytest.raises(BadSource, match="took longer than 0 s to read: save it as CSV"):
        XlsxSource(path, limits=Limits(max_silence_s=0)).open()


def test_a_process_that_was_killed_is_a_bad_source(path: Path):
    write(path, [{"a": "x" * 1_000}] * 9_000)
    reader = XlsxSource(path).open()
    reader._child._process.kill()
    with pytest.raises(BadSource, match="cannot be read in 2,048 MiB of memory"):
        reader.take(9_000, 1 << 30)
    reader.close()


def test_a_workbook_with_unsafe_names_is_refused(path: Path):
    book(path, ["a"], [1])
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("../evil", b"")
    with pytest.raises(BadSource, match=r"'../evil' is refused"):
        XlsxSource(path).open()


def test_a_workbook_that_unpacks_to_too_much_is_refused(path: Path):
    book(path, ["a"], [1])
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/media/image1.png", bytes(40 * 1024 * 1024))
    with pytest.raises(BadSource, match="looks like a zip bomb"):
        XlsxSource(path).open()


def test_an_archive_that_is_not_a_workbook(path: Path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "a")
    with pytest.raises(BadSource, match="cannot be read as a workbook"):
        XlsxSource(path).open()


def test_text_that_looks_like_a_formula_stays_text(path: Path):
    texts = ["=1+1", "+1", "@SUM(A1)", "-x", "=cmd|' /C calc'!A0"]
    write(path, [{"a": text} for text in texts])
    cells = [row[0] for row in openpyxl.load_workbook(path).active.iter_rows(min_row=2)]
    assert [(cell.data_type, cell.value) for cell in cells] == [("s", text) for text in texts]


def test_numbers_and_days_are_written_as_such(path: Path):
    write(
        path,
        [{"n": 3, "f": 0.1, "t": True, "d": "2024-02-29", "m": "2024-02-29T01:02:03", "z": None}],
    )
    [row] = openpyxl.load_workbook(path).active.iter_rows(min_row=2, values_only=True)
    day = dt.datetime(2024, 2, 29)  # noqa: DTZ001 (a sheet knows no zones)
    assert row == (3, 0.1, True, day, day.replace(hour=1, minute=2, second=3), None)


@pytest.mark.parametrize(
    "text",
    [
        "2024-02-30",
        "1899-12-31",
        "2024-2-29",
        "20240229",
        "2024-02-29 01:02:03",
        "2024-02-29T01:02:03Z",
        "2024-02-29T25:02:03",
        "٢٠٢٤-02-29",
    ],
)
def test_what_would_not_come_back_the_same_stays_text(text: str):
    assert xlsx_cell(text) == text


def test_what_a_cell_cannot_hold_becomes_text(path: Path):
    values = [2**53 + 1, -(10**30), [1, {"a": None}], {"b": []}]
    write(path, [{"a": value} for value in values])
    read = [row["a"] for row in good_values(XlsxSource(path))]
    assert [json.loads(text) for text in read] == values


def test_a_text_that_is_too_long_is_cut_with_a_mark(path: Path):
    write(path, [{"a": "𝄞" * 30_000}, {"a": "x" * LONGEST_TEXT}])
    cut, whole = (row["a"] for row in good_values(XlsxSource(path)))
    assert cut.endswith("𝄞 … [cut: 30,000 characters]")
    assert len(cut.encode("utf-16-le")) // 2 <= LONGEST_TEXT
    assert whole == "x" * LONGEST_TEXT


def test_rows_continue_in_further_sheets(path: Path):
    write(path, [{"n": n} for n in range(25)], sheet_rows=11)
    sheets = openpyxl.load_workbook(path).worksheets
    assert [sheet.title for sheet in sheets] == ["Sheet1", "Sheet2", "Sheet3"]
    columns = [[cell.value for cell in sheet["A"]] for sheet in sheets]
    assert [column[0] for column in columns] == ["n", "n", "n"]
    assert [n for column in columns for n in column[1:]] == list(range(25))


def test_more_rows_than_were_planned_for_are_refused(path: Path):
    writer = XlsxWriter(path, sheet_rows=11)
    writer.open(["n"], 5)
    writer.write([{"n": 1}] * 11)
    with pytest.raises(OSError, match="export it again when all of its source has been read"):
        writer.commit({})
    writer.abandon()
    assert list(path.parent.iterdir()) == []


def test_a_job_without_rows_has_its_header(path: Path):
    write(path, [])
    assert [[c.value for c in row] for row in openpyxl.load_workbook(path).active] == [["a"]]


def test_what_is_abandoned_leaves_nothing_behind(path: Path):
    writer = XlsxWriter(path)
    writer.open(["a"])
    writer.write([{"a": 1}])
    writer.abandon()
    assert list(path.parent.iterdir()) == []


def test_the_number_of_columns_of_a_sheet_is_limited(path: Path):
    with pytest.raises(UsageError, match="a sheet has at most 16,384 columns, not 20,000"):
        XlsxWriter(path).open([str(n) for n in range(20_000)])


def formats_of(path: Path) -> list[list[str]]:
    rows = openpyxl.load_workbook(path).active.iter_rows(min_row=2)
    return [[cell.number_format for cell in row] for row in rows]


def test_a_column_of_days_shows_days(path: Path):
    rows = [
        {"day": "2024-02-29", "moment": "2024-02-29T01:02:03", "n": 3},
        {"day": None, "moment": "2024-02-29", "n": 4},
    ]
    write(path, rows)
    assert formats_of(path)[0] == ["yyyy-mm-dd", "yyyy-mm-dd hh:mm:ss", "General"]
    assert [row["moment"] for row in good_values(XlsxSource(path))] == [
        "2024-02-29T01:02:03",
        "2024-02-29",
    ]


@pytest.mark.parametrize("at", [1, 3])
def test_a_moment_after_days_keeps_its_time(path: Path, at: int):
    """On the page that decides what a column shows, and on a later one."""
    texts = ["2024-02-29"] * at + ["2024-02-29T01:02:03", "2024-03-01"]
    writer = XlsxWriter(path)
    writer.open(["a"], len(texts))
    for start in range(0, len(texts), 2):
        writer.write([{"a": text} for text in texts[start : start + 2]])
    writer.commit({})
    assert [row["a"] for row in good_values(XlsxSource(path))] == texts


@pytest.mark.parametrize(
    ("count", "words"), [(1, "1 cell contains a formula"), (3, "3 cells contain")]
)
def test_formulas_without_a_cached_value_are_counted(path: Path, count: int, words: str):
    book = openpyxl.Workbook()
    book.active.title = "A & B"
    book.active.append(["n", "sum"])
    for n in range(count):
        book.active.append([n, f"=A{n + 2}*2"])
    book.create_sheet("Other").append(["=1+1"])
    book.save(path)
    reader = XlsxSource(path, "A & B").open()
    reader.close()
    [note] = reader.notes
    assert f"{words}" in note
    assert "without a stored value" in note


def test_a_sheet_without_formulas_has_no_notes(path: Path):
    write(path, [{"a": 1}])
    reader = XlsxSource(path).open()
    reader.close()
    assert reader.notes == ()
