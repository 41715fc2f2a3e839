"""Which job a source belongs to."""

import asyncio
from pathlib import Path

import msgspec
import pytest

from headgate.core.errors import OptionsChanged, SourceChanged, UsageError
from headgate.core.item import NewItem
from headgate.core.job import Job, NewJob
from headgate.core.status import JobState
from headgate.engine.job_matching import JobMatching, MatchKind, MatchRules, choose_match
from headgate.ports.items import EnqueueRequest
from headgate.ports.reads import ItemQuery
from headgate.stores.sqlite import SqliteStore

NEW = NewJob("h", "rows.csv", fingerprint="f1")
KEYED = NewJob("h", "rows.csv", fingerprint="f1", key_columns=("sku",))


def job(state: JobState = JobState.RUNNING, complete: bool = True, **changes) -> Job:
    values = {
        "id": 7, "owner": "local", "name": "", "handler": "h", "source": "rows.csv",
        "key_columns": (), "config": {}, "priority": 0, "state": state, "open": False,
        "eager": False, "fingerprint": "f1", "columns": (), "ingest_run": 1,
        "ingest_position": "", "ingest_complete": complete, "created_at": 0, "updated_at": 0,
        "started_at": None, "finished_at": None, "last_error": None,
    }  # fmt: skip
    return Job(**(values | changes))


@pytest.mark.parametrize(
    ("new", "existing", "entry"),
    [
        (NEW, [], MatchKind.NEW),
        (NEW, [job(key_columns=("sku",), fingerprint="f0")], MatchKind.NEW),
        (KEYED, [job(fingerprint="f0")], MatchKind.NEW),
        (KEYED, [job(JobState.FAILED, complete=False)], MatchKind.NEW),
        (KEYED, [job(), job(id=6, key_columns=("sku",))], MatchKind.RESUME),
        (NEW, [job(open=True)], MatchKind.NEW),
        (NEW, [job()], MatchKind.RESUME),
        (NEW, [job(JobState.DONE)], MatchKind.RESUME),
        (NEW, [job(JobState.INGESTING, complete=False)], MatchKind.RESUME),
        (NEW, [job(JobState.PAUSED, complete=False)], MatchKind.RESUME),
        (NEW, [job(JobState.FAILED, complete=False)], MatchKind.REREAD),
        (NEW, [job(), job(fingerprint="f0")], MatchKind.RESUME),
        (KEYED, [job(key_columns=("sku",), fingerprint="f0")], MatchKind.ADD),
    ],
)
def test_entries(new: NewJob, existing: list[Job], entry: MatchKind):
    chosen, found = choose_match(new, existing)
    assert chosen is entry
    assert (found is None) is (entry is MatchKind.NEW)


def test_a_changed_source_without_keys_is_refused():
    with pytest.raises(SourceChanged, match=r"job 7 .*`--new`.*`--key COL\[,COL\]`"):
        choose_match(NEW, [job(fingerprint="f0")])


def test_a_changed_source_is_accepted_if_the_handler_identifies_rows():
    assert choose_match(NEW, [job(fingerprint="f0")], MatchRules(keyed=True))[0] is MatchKind.ADD


def test_another_key_for_the_same_content_is_refused_with_both():
    with pytest.raises(OptionsChanged, match=r"job 7 .*without --key, .*has --key sku\..*`--new`"):
        choose_match(KEYED, [job()])
    with pytest.raises(OptionsChanged, match=r"made with --key sku, .*has no --key"):
        choose_match(NEW, [job(key_columns=("sku",))])


def test_among_several_jobs_the_one_with_the_same_options_continues():
    eu = job(id=5, config={"region": "eu"})
    us = job(id=6, config={"region": "us"})
    new = msgspec.structs.replace(NEW, config={"region": "eu"})
    assert choose_match(new, [us, eu]) == (MatchKind.RESUME, eu)
    with pytest.raises(OptionsChanged, match="job 6 was made with --config region=us"):
        choose_match(msgspec.structs.replace(NEW, config={"region": "asia"}), [us, eu])


def test_options_that_mean_the_same_are_equal():
    new = msgspec.structs.replace(NEW, options={"encoding": "utf8", "on_bad_row": "skip"})
    made = job(options={"on_bad_row": "skip"})
    with pytest.raises(OptionsChanged, match="without --encoding"):
        choose_match(new, [made])
    alike = MatchRules(same_reading=lambda one, other: (one, other) == ({}, {"encoding": "utf8"}))
    assert choose_match(new, [made], alike)[0] is MatchKind.RESUME


def test_a_job_whose_source_was_never_readable_does_not_block_a_new_one():
    failed = job(JobState.FAILED, complete=False, options={"encoding": "utf-8"})
    new = msgspec.structs.replace(NEW, options={"encoding": "latin-1"})
    assert choose_match(new, [failed]) == (MatchKind.NEW, None)


async def test_another_config_may_create_another_job(tmp_path: Path):
    async with SqliteStore(tmp_path / "headgate.db") as store:
        matching = JobMatching(store.jobs, store.reads)
        first = await matching.admit(NewJob("h", "rows.csv", config={"out": "a", "n": [1]}))
        other = NewJob("h", "rows.csv", config={"out": "b"})
        with pytest.raises(OptionsChanged, match="out=a, and this command has --config out=b"):
            await matching.admit(other)
        assert (await matching.admit(other, MatchRules(by_config=True))).entry is MatchKind.NEW
        again = NewJob("h", "rows.csv", config={"n": [1], "out": "a"})
        assert (await matching.admit(again, MatchRules(by_config=True))).job.id == first.job.id


def test_a_cancelled_job_is_not_requeued_silently():
    with pytest.raises(UsageError, match=r"cancelled.*reprocess 7.*`--new`"):
        choose_match(NEW, [job(JobState.CANCELLED)])


async def test_jobs_are_created_found_and_reopened(tmp_path: Path):
    async with SqliteStore(tmp_path / "headgate.db") as store:
        matching = JobMatching(store.jobs, store.reads)
        made = await matching.admit(KEYED)
        again = await matching.admit(KEYED)
        assert (made.entry, again.entry, again.job.id) == (
            MatchKind.NEW,
            MatchKind.RESUME,
            made.job.id,
        )
        await store.jobs.complete_ingest(made.job.id, ("sku",))
        other = NewJob("h", "rows.csv", fingerprint="f2", key_columns=("sku",))
        added = await matching.admit(other)
        assert (added.entry, added.job.id) == (MatchKind.ADD, made.job.id)
        assert (added.job.fingerprint, added.job.state, added.job.ingest_run) == (
            "f2",
            JobState.INGESTING,
            2,
        )
        fresh = await matching.admit(other, MatchRules(fresh=True))
        assert (fresh.entry, fresh.job.id != made.job.id) == (MatchKind.NEW, True)


def placed(folder: str, **changes) -> NewJob:
    values = {"fingerprint": "f1", "config": {"out": f"{folder}/papers"}, **changes}
    return NewJob(f"{folder}/code/h.py:price", f"{folder}/data/rows.csv", **values)


async def test_a_moved_project_continues_and_is_bound_to_its_new_place(tmp_path: Path):
    async with SqliteStore(tmp_path / "headgate.db") as store:
        matching = JobMatching(store.jobs, store.reads)
        made = (await matching.admit(placed("/home/old"))).job
        await store.items.enqueue_many(EnqueueRequest(made.id, [NewItem("a", "{}", 1)]))
        moved = await matching.admit(placed("/home/new"))
        assert (moved.entry, moved.job.id) == (MatchKind.RESUME, made.id)
        assert moved.moved_from == "/home/old/data/rows.csv"
        bound = await store.reads.job(made.id)
        assert (bound.handler, bound.source) == (
            "/home/new/code/h.py:price",
            "/home/new/data/rows.csv",
        )
        assert bound.config == {"out": "/home/new/papers"}
        (item,) = (await store.reads.items(ItemQuery(made.id))).items
        assert item.handler == bound.handler
        again = await matching.admit(placed("/home/new"))
        assert (again.entry, again.moved_from) == (MatchKind.RESUME, "")


async def test_a_copy_of_a_project_is_another_project(tmp_path: Path):
    there = MatchRules(exists=lambda _: True)
    async with SqliteStore(tmp_path / "headgate.db") as store:
        matching = JobMatching(store.jobs, store.reads)
        first = await matching.admit(placed("/home/old"), there)
        copied = await matching.admit(placed("/home/new"), there)
        assert (copied.entry, copied.job.id != first.job.id) == (MatchKind.NEW, True)


@pytest.mark.parametrize(
    ("home", "entry"),
    [("/home/new", MatchKind.ADD), ("/elsewhere", MatchKind.NEW), ("", MatchKind.NEW)],
)
async def test_other_content_is_the_same_job_only_where_the_store_moved_too(
    tmp_path: Path, home: str, entry: MatchKind
):
    async with SqliteStore(tmp_path / "headgate.db") as store:
        matching = JobMatching(store.jobs, store.reads)
        first = (await matching.admit(placed("/home/old", key_columns=("sku",)))).job
        await store.jobs.complete_ingest(first.id, ("sku",))
        changed = placed("/home/new", key_columns=("sku",), fingerprint="f2")
        assert (await matching.admit(changed, MatchRules(home=home))).entry is entry


async def test_concurrent_commands_create_one_job(tmp_path: Path):
    async with SqliteStore(tmp_path / "headgate.db") as store:
        intakes = [JobMatching(store.jobs, store.reads) for _ in range(20)]
        found = await asyncio.gather(*(matching.admit(NEW) for matching in intakes))
        assert len({matched.job.id for matched in found}) == 1
        assert sorted(matched.entry for matched in found) == ["new", *["resume"] * 19]
