"""Every format reads back what it wrote, and resumes exactly where it stopped."""

import codecs
import string
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headgate.core.errors import BadSource
from headgate.ports.source import RowWriter, Source
from headgate.transfer.formats import csv
from headgate.transfer.formats.cells import Formulas
from headgate.transfer.formats.registry import WRITABLE
from headgate.transfer.limits import Limits
from headgate.transfer.sources import WriteOptions, open_source, open_writer, row_form
from tests.kit.rows import PLENTY, all_rows, batches, good_values, rows_of

# A character of two, three and four bytes, and all that means something to a format.
AWKWARD = "aé€𝄞 \"',;\t\r\n\0\x0b\x85\u2028\ufeff{}[]\\=+-@:"
TEXT = st.text(st.sampled_from(AWKWARD) | st.characters(exclude_categories=["Cs"]), max_size=12)
NAMES = st.lists(
    st.text(string.ascii_letters + "é \"',;", min_size=1, max_size=6).map(str.strip),
    min_size=1,
    max_size=4,
    unique=True,
).filter(all)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
MANY = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
FEW = settings(MANY, max_examples=3)
"""Each example starts processes."""


class Case(NamedTuple):
    """A format by the ending of its files."""

    ending: str
    values: st.SearchStrategy[Any]

    def path(self, folder: Path) -> Path:
        return folder / f"rows.{self.ending}"

    def writer(self, folder: Path) -> RowWriter:
        return open_writer(self.path(folder), WriteOptions(formulas=Formulas.RAW))

    def source(self, folder: Path) -> Source:
        return open_source(self.path(folder))


CASES = {
    "csv": Case("csv", TEXT),
    "tsv": Case("tsv", TEXT),
    "jsonl": Case("jsonl", JSON),
}


TABLES = {"xlsx": Case("xlsx", JSON), "parquet": Case("parquet", JSON)}


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]


@pytest.fixture(params=TABLES)
def table(request: pytest.FixtureRequest) -> Case:
    """A format that a process of its own reads."""
    return TABLES[request.param]


@pytest.fixture(params=CASES | TABLES)
def any_case(request: pytest.FixtureRequest) -> Case:
    return (CASES | TABLES)[request.param]


def test_every_format_that_is_written_has_a_case():
    assert set(CASES | TABLES) == set(WRITABLE)


def write(writer: RowWriter, columns: Sequence[str], rows: Sequence[dict[str, Any]]) -> None:
    writer.open(columns)
    for start in range(0, len(rows), 3):
        writer.write(rows[start : start + 3])
    writer.commit({})


def assert_resumable(source: Source) -> None:
    """From every stored position, reading continues with the next row."""
    whole = all_rows(source)
    step_by_step = list(batches(source, rows=1))
    assert [row for batch in step_by_step for row in rows_of(batch)] == whole
    for done, batch in enumerate(step_by_step, 1):
        assert all_rows(source, batch.position) == whole[done:]
        assert all_rows(source, batch.position, rows=2) == whole[done:]


@MANY
@given(data=st.data())
def test_what_was_written_is_read(case: Case, tmp_path: Path, data: st.DataObject):
    columns = data.draw(NAMES)
    row = st.fixed_dictionaries(dict.fromkeys(columns, case.values))
    rows = data.draw(st.lists(row, max_size=8))
    write(case.writer(tmp_path), columns, rows)
    assert good_values(case.source(tmp_path)) == rows


@MANY
@given(data=st.data())
def test_reading_continues_at_any_position(case: Case, tmp_path: Path, data: st.DataObject):
    columns = data.draw(NAMES)
    row = st.fixed_dictionaries(dict.fromkeys(columns, case.values))
    write(case.writer(tmp_path), columns, data.draw(st.lists(row, max_size=8)))
    assert_resumable(case.source(tmp_path))


def assert_same(case: Case, columns: Sequence[str], rows: Sequence[dict[str, Any]], found: Source):
    """The file holds the rows, in the form that its format is documented to give them."""
    form = row_form(case.ending)
    read = good_values(found)
    assert len(read) == len(rows)
    for written, values in zip(rows, read, strict=True):
        assert form.row_differs(columns, written, values) is None


@settings(MANY, max_examples=15)
@given(data=st.data())
def test_what_was_written_to_a_table_is_read(table: Case, tmp_path: Path, data: st.DataObject):
    columns = ["key", *(f"{name}." for name in data.draw(NAMES))]
    row = st.fixed_dictionaries(dict.fromkeys(columns, table.values))
    rows = [values | {"key": "k"} for values in data.draw(st.lists(row, max_size=8))]
    write(table.writer(tmp_path), columns, rows)
    assert_same(table, columns, rows, table.source(tmp_path))


@FEW
@given(data=st.data())
def test_reading_a_table_continues_at_any_position(
    table: Case, tmp_path: Path, data: st.DataObject
):
    columns = ["key", *(f"{name}." for name in data.draw(NAMES))]
    row = st.fixed_dictionaries(dict.fromkeys(columns, table.values))
    rows = [values | {"key": "k"} for values in data.draw(st.lists(row, max_size=4))]
    write(table.writer(tmp_path), columns, rows)
    assert_resumable(table.source(tmp_path))


@settings(MANY, max_examples=10)
@given(keep=st.integers(0, 3_000), noise=st.binary(max_size=30))
def test_a_damaged_table_is_refused_in_words(table: Case, tmp_path: Path, keep: int, noise: bytes):
    write(table.writer(tmp_path), ["a"], [{"a": "1"}, {"a": "2"}])
    whole = table.path(tmp_path).read_bytes()
    table.path(tmp_path).write_bytes(whole[: keep % len(whole)] + noise)
    with pytest.raises(BadSource, match=r"rows\.(xlsx|parquet)"):
        table.source(tmp_path).open()


@MANY
@given(content=st.binary(max_size=200) | TEXT.map(str.encode))
def test_no_bytes_are_beyond_it(case: Case, tmp_path: Path, content: bytes):
    header = {"csv": b"a,b\n", "tsv": b"a\tb\n", "jsonl": b"{}\n"}[case.ending]
    case.path(tmp_path).write_bytes(header + content)
    try:
        source = case.source(tmp_path)
    except BadSource:  # what is plainly no text is refused before it is read
        assert content.count(0) > len(content) / 5
        return
    assert_resumable(source)
    for row in all_rows(source):
        assert msgspec.json.decode(row.text) == row.values
        assert row.line >= 1


@MANY
@given(
    lines=st.lists(
        st.sampled_from(
            ["1,2\n", "1\r\n", '"x\n', '"x\ny",2\r', "\n", 'z"b"c,"d\n', "\xff,€\n", '""\n']
        ),
        max_size=12,
    ),
    encoding=st.sampled_from(["utf-8", "latin-1", "utf-16-le", "utf-16-be"]),
    limit=st.sampled_from([6, 20, 10_000]),
)
def test_a_torn_table_is_resumable_too(tmp_path: Path, lines: list[str], encoding: str, limit: int):
    path = tmp_path / "torn.csv"
    mark = {"utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}.get(encoding, b"")
    path.write_bytes(mark + ("a,b\n" + "".join(lines)).encode(encoding, "replace"))
    assert_resumable(csv.CsvSource(path, limits=Limits(max_record_bytes=max(limit, 8))))


def test_positions_inside_large_files(any_case: Case, tmp_path: Path):
    rows = [
        {"key": str(number), "text": 'é\n"' * (number % 7), "tail": "x" * (number % 300)}
        for number in range(4_000)
    ]
    write(any_case.writer(tmp_path), ["key", "text", "tail"], rows)
    source = any_case.source(tmp_path)
    seen = list(batches(source, rows=333, max_bytes=100_000))
    assert [dict(row.values) for batch in seen for row in rows_of(batch)] == rows
    for batch in seen:
        last = int(batch.values[-1]["key"])
        following = next(batches(source, batch.position, rows=5), None)
        wanted = [str(number) for number in range(last + 1, min(last + 6, 4_000))]
        assert [row["key"] for row in (following.values if following else [])] == wanted


def test_a_position_is_small_and_fingerprints_follow_the_content(any_case: Case, tmp_path: Path):
    write(any_case.writer(tmp_path), ["a"], [{"a": "1"}, {"a": "2"}])
    source = any_case.source(tmp_path)
    assert len(next(batches(source)).position) < 80
    before = source.fingerprint()
    assert any_case.source(tmp_path).fingerprint() == before
    write(any_case.writer(tmp_path), ["a"], [{"a": "1"}])
    assert source.fingerprint() != before


@pytest.mark.parametrize("take", [1, PLENTY])
def test_reading_past_the_end_always_gives_nothing(any_case: Case, tmp_path: Path, take: int):
    write(any_case.writer(tmp_path), ["a"], [{"a": "1"}])
    reader = any_case.source(tmp_path).open()
    assert len(reader.take(take, PLENTY).values) == 1
    ends = [reader.take(take, PLENTY) for _ in range(3)]
    assert [end.values for end in ends] == [[], [], []]
    assert len({end.position for end in ends}) == 1
    reader.close()
