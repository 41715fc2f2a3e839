"""A mirror as one SQLite file: a typed table for each stream, whole or not at all."""

import sqlite3
from contextlib import closing
from functools import partial

import pytest

from headgate.core.json_types import JsonType, add_types
from headgate.core.mirror import MirrorRow
from headgate.engine.mirror_tables import MirrorTables, column_type
from headgate.transfer.tables.registry import open_tables
from headgate.transfer.tables.sqlite_file import SqliteWriter
from tests.kit.mirrors import run_of

BODIES = [
    {"id": 1, "Name": "Ann", "name": "ann", "ok": True, "score": 1, "tags": ["a"], "mixed": 1},
    {"id": 2, "Name": None, "ok": False, "score": 2.5, "tags": [], "mixed": "x", "at": {"b": 1}},
    {"id": 3, "score": 2**60, "large": 2**70},
]


@pytest.fixture
async def mirror(store):
    run = await run_of(store)
    (page,) = await run.claim(1)
    types = {}
    for body in BODIES:
        add_types(types, body)
    rows = [MirrorRow("people", str(body["id"]), body, f"hash {body['id']}") for body in BODIES]
    await run.settle(page, rows=rows, fields={"people": types})
    await run.close()
    assert await store.jobs.finish_job(run.job.id)
    (found,) = await store.mirrors.mirrors()
    return found


async def written(store, mirror, path, **options):
    streams = await store.mirrors.streams(mirror.id)
    report = await MirrorTables(store.mirrors, **options).run(mirror, streams, SqliteWriter(path))
    return report, partial(asked, path)


def asked(path, question):
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        return connection.execute(question).fetchall()


async def test_values_and_types_are_those_of_the_mirror(store, mirror, tmp_path):
    report, ask = await written(store, mirror, tmp_path / "people.sqlite")
    assert report.rows == {"people": 3}
    types = {row["name"]: row["type"] for row in ask("PRAGMA table_info(people)")}
    wanted = {"id": "INTEGER", "ok": "BOOLEAN", "score": "NUMERIC", "tags": "TEXT", "mixed": "TEXT"}
    assert types.items() >= wanted.items()
    first, second, third = ask("SELECT * FROM people ORDER BY id")
    assert (first["Name"], first["name_2"], first["ok"]) == ("Ann", "ann", 1)
    assert (first["tags"], first["mixed"], second["mixed"]) == ('["a"]', "1", "x")
    assert (second["score"], second["at"], third["score"]) == (2.5, '{"b":1}', 2**60)
    assert (first["_row_id"], first["_row_deleted_at"]) == ("1", None)


async def test_a_number_that_sqlite_cannot_hold_is_rounded_and_said(store, mirror, tmp_path):
    report, ask = await written(store, mirror, tmp_path / "people.sqlite")
    assert ask("SELECT large FROM people WHERE id = 3")[0][0] == float(2**70)
    assert report.notes == ("people: whole numbers beyond 64 bits are rounded",)


async def test_deleted_rows_are_written_only_when_asked_for(store, mirror, tmp_path):
    again = await run_of(store)
    (page,) = await again.claim(1)
    await again.settle(page, rows=[MirrorRow("people", "1", BODIES[0], "hash 1")])
    await again.close()
    report, _ = await written(store, mirror, tmp_path / "live.sqlite")
    assert report.rows == {"people": 1}
    report, ask = await written(store, mirror, tmp_path / "all.sqlite", deleted=True)
    assert report.rows == {"people": 3}
    gone = ask("SELECT id FROM people WHERE _row_deleted_at IS NOT NULL ORDER BY id")
    assert [row[0] for row in gone] == [2, 3]


async def test_an_export_that_fails_leaves_the_file_before_as_it_was(store, mirror, tmp_path):
    path = tmp_path / "people.sqlite"
    await written(store, mirror, path)
    before = path.read_bytes()

    class Failing(SqliteWriter):
        def write(self, rows):
            super().write(rows)
            raise OSError("disk full")

    streams = await store.mirrors.streams(mirror.id)
    with pytest.raises(OSError, match="disk full"):
        await MirrorTables(store.mirrors).run(mirror, streams, Failing(path))
    assert path.read_bytes() == before
    files = {each.name for each in tmp_path.iterdir() if "people" in each.name}
    assert files == {"people.sqlite", "people.sqlite.meta.json"}


def test_types_without_a_common_column_are_text():
    assert column_type(JsonType.NULL) == "text"
    assert column_type(JsonType.NULL | JsonType.INTEGER) == "integer"
    assert column_type(JsonType.BOOLEAN | JsonType.INTEGER) == "text"


async def test_a_duckdb_file_has_the_same_rows_with_types(store, mirror, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "people.duckdb"
    streams = await store.mirrors.streams(mirror.id)
    report = await MirrorTables(store.mirrors).run(mirror, streams, open_tables(path))
    assert report.rows == {"people": 3}
    with duckdb.connect(str(path), read_only=True) as connection:
        question = (
            'SELECT id, "Name", name_2, ok, score, tags, mixed, large FROM people ORDER BY id'
        )
        rows = connection.execute(question).fetchall()
        types = dict(
            connection.execute("SELECT column_name, column_type FROM (DESCRIBE people)").fetchall()
        )
    assert rows == [
        (1, "Ann", "ann", True, 1.0, '["a"]', "1", None),
        (2, None, None, False, 2.5, "[]", "x", None),
        (3, None, None, None, float(2**60), None, None, None),
    ]
    assert (types["id"], types["ok"], types["score"]) == ("BIGINT", "BOOLEAN", "DOUBLE")
    assert report.notes == ("people: whole numbers beyond 64 bits are left empty",)
