"""A target that applies the messages of a mirror has the rows of the mirror, deletions included."""

from random import Random

import pytest

from headgate.core.json_types import JsonType
from headgate.core.mirror import MirrorRow, Proof
from headgate.core.singer import DELETED_AT, ROW_ID, bookmarks_in
from headgate.engine import mirror_feed
from headgate.engine.mirror_feed import MirrorFeed
from headgate.ports.mirrors import RowQuery
from tests.kit.mirrors import run_of, whole_pass


class Target:
    """A program that stores what it is told, and remembers the last STATE."""

    def __init__(self):
        self.rows = {}
        self.state = {"bookmarks": {}}
        self.messages = []

    async def follow(self, store, most=None):
        """Apply messages; `most`: break off after that number and keep the last STATE."""
        (mirror,) = await store.mirrors.mirrors()
        feed = MirrorFeed(store.mirrors, mirror, bookmarks_in(self.state))
        self.messages = []
        async for message in feed.messages(await store.mirrors.streams(mirror.id)):
            self.messages.append(message)
            self._apply(message)
            if most is not None and len(self.messages) >= most:
                return

    def _apply(self, message):
        if message["type"] == "STATE":
            self.state = message["value"]
        elif message["type"] == "RECORD":
            record = dict(message["record"])
            if record.pop(DELETED_AT) is None:
                self.rows[record[ROW_ID]] = record
            else:
                self.rows.pop(record[ROW_ID], None)

    def records(self):
        return [each["record"] for each in self.messages if each["type"] == "RECORD"]


async def live(store):
    (mirror,) = await store.mirrors.mirrors()
    (stream,) = await store.mirrors.streams(mirror.id)
    rows = await store.mirrors.rows(RowQuery(stream.id, limit=1_000))
    return {row.id for row in rows}


def row(number, version, *, deleted=False):
    body = {"id": number, "version": version}
    return MirrorRow("people", str(number), body, f"{number} {version}", deleted=deleted)


async def a_random_pass(store, random, versions):
    """Rows of chance, some changed, some saying that they are deleted; proven or not."""
    run = await run_of(store)
    (page,) = await run.claim(1)
    found = []
    for number in random.sample(range(12), random.randrange(12)):
        versions[number] = versions.get(number, 0) + random.randrange(2)
        found.append(row(number, versions[number], deleted=random.random() < 0.1))
    await run.settle(page, rows=found)
    await run.close(proof=random.choice([Proof.COVERED, Proof.UNPROVEN]))
    assert await store.jobs.finish_job(run.job.id)


@pytest.mark.parametrize("seed", range(6))
async def test_a_target_has_the_rows_of_the_mirror_whenever_it_was_told_and_broke_off(
    store, seed, monkeypatch
):
    monkeypatch.setattr(mirror_feed, "PAGE", 3)
    random, target, versions = Random(seed), Target(), {}
    for _ in range(6):
        await a_random_pass(store, random, versions)
        if random.random() < 0.5:
            await target.follow(store, most=random.randrange(1, 12))
        if random.random() < 0.5:
            await target.follow(store)
            assert set(target.rows) == await live(store)
    await target.follow(store)
    assert set(target.rows) == await live(store)
    assert {number: row["version"] for number, row in target.rows.items()} == {
        number: versions[int(number)] for number in target.rows
    }


async def test_what_was_told_is_not_told_again(store):
    await whole_pass(store, 1, 2)
    target = Target()
    await target.follow(store)
    assert len(target.records()) == 2
    await target.follow(store)
    assert target.records() == []


async def test_a_row_that_a_proven_pass_did_not_see_is_told_as_deleted(store):
    await whole_pass(store, 1, 2)
    target = Target()
    await target.follow(store)
    await whole_pass(store, 1)
    await target.follow(store)
    (record,) = target.records()
    assert record["id"] == 2
    assert record[DELETED_AT].endswith("Z")


async def test_a_schema_comes_before_the_rows_with_every_type_that_was_seen(store):
    run = await run_of(store)
    (page,) = await run.claim(1)
    types = {"id": JsonType.INTEGER, "tags": JsonType.ARRAY | JsonType.STRING}
    await run.settle(page, rows=[row(1, 1)], fields={"people": types})
    target = Target()
    await target.follow(store)
    schema = target.messages[0]
    assert (schema["type"], schema["key_properties"]) == ("SCHEMA", [ROW_ID])
    assert schema["schema"]["properties"]["id"] == {"type": ["null", "integer"]}
    assert schema["schema"]["properties"]["tags"] == {
        "type": ["null", "string", "array"],
        "items": {},
    }
