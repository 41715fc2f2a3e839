"""JSON Lines, good and bad."""

import codecs
from pathlib import Path

import pytest

from headgate.core.errors import BadSource
from headgate.transfer.formats import jsonl
from headgate.transfer.formats.jsonl import JsonlSource, JsonlWriter
from headgate.transfer.limits import Limits
from tests.kit.rows import all_rows, batches, good_values


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "rows.jsonl"


def source(path: Path, content: str | bytes, **options) -> JsonlSource:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return JsonlSource(path, **options)


def test_each_line_is_an_object(path: Path):
    given = source(path, '{"a": 1, "b": [true, null]}\r\n\n{"a": 12345678901234567890123}')
    rows = all_rows(given)
    assert [row[:4] for row in rows] == [
        (1, 1, {"a": 1, "b": [True, None]}, '{"a":1,"b":[true,null]}'),
        (2, 3, {"a": 12345678901234567890123}, '{"a":12345678901234567890123}'),
    ]


@pytest.mark.parametrize("content", ["", "\n \n", "\ufeff"])
def test_an_empty_file_has_no_rows(path: Path, content: str):
    assert all_rows(source(path, content)) == []


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("[1]", "Expected `object`, got `array`"),
        ("12", "Expected `object`, got `int`"),
        ('{"a": 1', "truncated"),
        ('{"a": NaN}', "malformed"),
        ('{"a": 1} {"b": 2}', "trailing"),
        ('{"a": ' + "[" * 50_000, "recursion"),
        ('{"a": 1e999}', "out of range"),
    ],
)
def test_a_bad_line_is_kept_as_text(path: Path, line: str, problem: str):
    rows = all_rows(source(path, f'{{"a": 0}}\n{line}\n{{"a": 2}}\n'))
    assert [(row.line, row.values.get("a")) for row in rows] == [(1, 0), (2, None), (3, 2)]
    assert rows[1].problem is not None
    assert problem in rows[1].problem
    assert rows[1].values == {"_raw": line[:10_000]}


def test_broken_bytes_make_their_line_bad(path: Path):
    rows = all_rows(source(path, b'{"a": "\xff"}\n{"a": 1}\n'))
    assert [row.problem is None for row in rows] == [False, True]
    assert rows[0].values == {"_raw": '{"a": "\ufffd"}'}


def test_overlong_lines_are_bad(path: Path):
    given = source(
        path, '{"a": "' + "x" * 300_000 + '"}\n{"a": 1}\n', limits=Limits(max_record_bytes=1_000)
    )
    assert [(row.line, row.problem is None) for row in all_rows(given)] == [(1, False), (2, True)]


def test_one_json_array_is_another_format(path: Path):
    with pytest.raises(BadSource, match="one JSON array"):
        all_rows(source(path, '[\n{"a": 1},\n{"a": 2}\n]\n'))


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_byte_order_mark_tells_the_encoding(path: Path, encoding: str):
    mark = codecs.BOM_UTF16_LE if encoding == "utf-16-le" else codecs.BOM_UTF16_BE
    given = source(path, mark + '{"a":"€"}\n\n{"a":"𝄞"}'.encode(encoding))
    assert good_values(given) == [{"a": "€"}, {"a": "𝄞"}]


def test_columns_are_seen_in_order_and_remembered_in_the_position(path: Path):
    given = source(path, '{"b":1}\n{"a":1,"b":2}\n{"c":1}\n')
    second = list(batches(given, rows=1))[1]
    reader = given.open(second.position)
    assert reader.columns == ("b", "a")
    reader.take(10, 1_000)
    assert reader.columns == ("b", "a", "c")
    reader.close()


def test_names_are_columns_up_to_a_bound(path: Path, monkeypatch):
    monkeypatch.setattr(jsonl, "MAX_COLUMNS", 3)
    reader = source(path, "".join(f'{{"k{number}":1}}\n' for number in range(9))).open()
    assert len(reader.take(100, 10_000).values) == 9
    assert reader.columns == ("k0", "k1", "k2")
    reader.close()


def test_a_damaged_position_is_refused(path: Path):
    with pytest.raises(BadSource, match="damaged"):
        source(path, "{}\n").open("{")


def test_values_are_written_as_they_are(path: Path):
    writer = JsonlWriter(path)
    writer.open(["a", "b"])
    writer.write([{"a": "=1", "b": {"x": None}}, {"b": 1.5}])
    writer.commit({})
    assert path.read_text() == '{"a":"=1","b":{"x":null}}\n{"b":1.5}\n'
