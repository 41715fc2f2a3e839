"""The records of a folder are what the store says, whenever they are written."""

import csv
import json
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from headgate.app.download import records
from headgate.app.download.records import write_records
from headgate.core.download_folder import AttemptStep, ManifestLine
from headgate.core.item import NewItem
from headgate.core.job import Job, NewJob
from headgate.core.status import ItemStatus
from headgate.ports.artifacts import FolderGone
from headgate.ports.items import EnqueueRequest, SettleRequest
from headgate.ports.store import Store
from headgate.stores.sqlite import SqliteStore
from tests.kit import factories
from tests.unit.app.download.histories import FILE, call

ROWS = 25


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with SqliteStore(tmp_path / "headgate.db") as store:
        yield store


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    return folder


async def downloaded(store: Store) -> Job:
    """A job of 25 rows, the last of which asks for the same as the third; 20 are done."""
    job = await store.jobs.create_job(NewJob("download", "urls.txt"))
    items = [NewItem(f"url:{n}", f'{{"id":"{n}"}}', n) for n in range(1, ROWS)]
    twin = NewItem("url:3#25", '{"id":"3"}', 25, problem="the same as line 3", duplicate=True)
    await store.items.enqueue_many(EnqueueRequest(job.id, [*items, twin]))
    await store.jobs.complete_ingest(job.id, ("id",))
    who = await factories.worker(store)
    claimed = await factories.claim(store, job.id, who, 20)
    settlements = [
        msgspec.structs.replace(
            factories.settlement(item, ItemStatus.DONE),
            result=msgspec.json.encode({**FILE, "path": f"{item.key[4:]}.pdf"}).decode(),
            calls=msgspec.json.encode([call(cause="=cmd()")]).decode(),
        )
        for item in claimed
    ]
    await store.items.settle_many(SettleRequest(who, settlements))
    return job


def manifest(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / "manifest.jsonl").read_text().splitlines()]


async def test_manifest_and_attempts_have_the_stored_data(store, folder, monkeypatch):
    monkeypatch.setattr(records, "PAGE", 4)
    job = await downloaded(store)
    written = await write_records(store.history, job.id, folder)
    assert (written.lines, written.steps) == (21, 40)
    lines = manifest(folder)
    assert [line["id"] for line in lines] == [*(f"url:{n}" for n in range(1, 21)), "url:3#25"]
    assert [line["outcome"] for line in lines] == ["done"] * 20 + ["skipped"]
    assert lines[-1]["path"] == "3.pdf"
    assert list(lines[0]) == list(ManifestLine.__struct_fields__)
    with (folder / "attempts.csv").open(newline="") as file:
        steps = list(csv.DictReader(file))
    assert list(steps[0]) == list(AttemptStep.__struct_fields__)
    assert [step["step"] for step in steps] == ["http-200", "done"] * 20
    assert steps[0]["reason"] == "'=cmd()"


async def test_the_same_store_gives_the_same_bytes(store, folder):
    job = await downloaded(store)
    await write_records(store.history, job.id, folder)
    names = ("manifest.jsonl", "attempts.csv")
    first = [(folder / name).read_bytes() for name in names]
    for name in names:
        (folder / name).write_text("something else")
    await write_records(store.history, job.id, folder)
    assert [(folder / name).read_bytes() for name in names] == first
    assert {path.name for path in folder.iterdir() if path.name[0] != "."} == set(names)


async def test_a_job_without_rows_has_empty_records(store, folder):
    job = await store.jobs.create_job(NewJob("download", "urls.txt"))
    await write_records(store.history, job.id, folder)
    assert (folder / "manifest.jsonl").read_bytes() == b""
    assert (folder / "attempts.csv").read_text().count("\n") == 1


async def test_a_manifest_that_cannot_be_finished_keeps_the_old_one(store, folder):
    job = await downloaded(store)
    await write_records(store.history, job.id, folder)
    before = (folder / "manifest.jsonl").read_bytes()

    class Broken:
        by_key = store.history.by_key

        async def page(self, job_id, after_id, limit):
            if after_id:
                raise OSError("gone")
            return await store.history.page(job_id, after_id, 3)

    with pytest.raises(OSError, match="gone"):
        await write_records(Broken(), job.id, folder)
    assert (folder / "manifest.jsonl").read_bytes() == before
    assert list(folder.rglob("*.part")) == []


async def test_a_folder_that_is_gone_is_named(store, folder):
    job = await downloaded(store)
    folder.rmdir()
    with pytest.raises(FolderGone, match="papers is not a folder any more"):
        await write_records(store.history, job.id, folder)
