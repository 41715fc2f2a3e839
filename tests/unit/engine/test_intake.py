"""Which job a source belongs to."""

from pathlib import Path

import pytest

from headgate.core.errors import SourceChanged, UsageError
from headgate.core.job import Job, NewJob
from headgate.core.status import JobState
from headgate.engine.intake import Entry, Intake, choose_entry
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
        (NEW, [], Entry.NEW),
        (NEW, [job(key_columns=("sku",))], Entry.NEW),
        (KEYED, [job()], Entry.NEW),
        (NEW, [job(open=True)], Entry.NEW),
        (NEW, [job()], Entry.RESUME),
        (NEW, [job(JobState.DONE)], Entry.RESUME),
        (NEW, [job(JobState.INGESTING, complete=False)], Entry.RESUME),
        (NEW, [job(JobState.PAUSED, complete=False)], Entry.RESUME),
        (NEW, [job(JobState.FAILED, complete=False)], Entry.REREAD),
        (NEW, [job(), job(fingerprint="f0")], Entry.RESUME),
        (KEYED, [job(key_columns=("sku",), fingerprint="f0")], Entry.ADD),
    ],
)
def test_entries(new: NewJob, existing: list[Job], entry: Entry):
    chosen, found = choose_entry(new, existing)
    assert chosen is entry
    assert (found is None) is (entry is Entry.NEW)


def test_a_changed_source_without_keys_is_refused():
    with pytest.raises(SourceChanged, match=r"job 7 .*`--new`.*`--key COL\[,COL\]`"):
        choose_entry(NEW, [job(fingerprint="f0")])


def test_a_changed_source_is_taken_where_the_handler_tells_rows_apart():
    assert choose_entry(NEW, [job(fingerprint="f0")], keyed=True)[0] is Entry.ADD


async def test_another_config_may_make_another_job(tmp_path: Path):
    async with SqliteStore(tmp_path / "headgate.db") as store:
        intake = Intake(store.jobs, store.reads)
        first = await intake.admit(NewJob("h", "rows.csv", config={"out": "a", "n": [1]}))
        other = NewJob("h", "rows.csv", config={"out": "b"})
        assert (await intake.admit(other)).job.id == first.job.id
        assert (await intake.admit(other, by_config=True)).entry is Entry.NEW
        again = NewJob("h", "rows.csv", config={"n": [1], "out": "a"})
        assert (await intake.admit(again, by_config=True)).job.id == first.job.id


def test_a_cancelled_job_is_not_brought_back_in_silence():
    with pytest.raises(UsageError, match=r"cancelled.*reprocess 7.*`--new`"):
        choose_entry(NEW, [job(JobState.CANCELLED)])


async def test_jobs_are_made_found_and_reopened(tmp_path: Path):
    async with SqliteStore(tmp_path / "headgate.db") as store:
        intake = Intake(store.jobs, store.reads)
        made = await intake.admit(KEYED)
        again = await intake.admit(KEYED)
        assert (made.entry, again.entry, again.job.id) == (Entry.NEW, Entry.RESUME, made.job.id)
        await store.jobs.complete_ingest(made.job.id, ("sku",))
        other = NewJob("h", "rows.csv", fingerprint="f2", key_columns=("sku",))
        added = await intake.admit(other)
        assert (added.entry, added.job.id) == (Entry.ADD, made.job.id)
        assert (added.job.fingerprint, added.job.state, added.job.ingest_run) == (
            "f2",
            JobState.INGESTING,
            2,
        )
        fresh = await intake.admit(other, fresh=True)
        assert (fresh.entry, fresh.job.id != made.job.id) == (Entry.NEW, True)
