"""What stays of an attempt: a result at every end, none in between, and a job that is halted."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from headgate.core.fault import AttemptOver, Fault, FaultClass, JobHalted
from headgate.core.item import Item
from headgate.core.outcome import Done, GiveUp, NotFound, Skipped
from headgate.core.status import ItemStatus, JobState
from headgate.ports.handler import Context, HandlerSpec
from headgate.ports.reads import ItemQuery
from headgate.stores.sqlite.store import SqliteStore
from tests.kit import factories
from tests.kit.engines import run_job

TRIED = {"tried": ["here", "there"]}


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    async with SqliteStore(tmp_path / "headgate.db") as store:
        yield store


def spec(ending: Any) -> HandlerSpec:
    async def handler(item: Item, ctx: Context) -> Any:
        if isinstance(ending, Fault):
            raise AttemptOver(ending)
        return ending

    return HandlerSpec("test", "test", handler, is_async=True)


@pytest.mark.parametrize(
    ("ending", "status"),
    [
        (Done(TRIED), ItemStatus.DONE),
        (NotFound("nowhere", TRIED), ItemStatus.NOT_FOUND),
        (Skipped("unchanged", TRIED), ItemStatus.SKIPPED),
        (GiveUp("never", TRIED), ItemStatus.ERROR),
        (Fault(FaultClass.PERMANENT, "never", result=TRIED), ItemStatus.ERROR),
        (Fault(FaultClass.TRANSIENT, "cut", result=TRIED), ItemStatus.ERROR),
    ],
)
async def test_a_result_is_stored_with_every_outcome(
    store: SqliteStore, ending: Any, status: ItemStatus
):
    job = await factories.job(store, 1)
    while (await store.reads.counts(job.id)).open:  # a retry may come too late for a run
        await run_job(store, job.id, spec(ending))
    (row,) = (await store.reads.items(ItemQuery(job.id, with_result=True))).items
    assert (row.status, row.result) == (status, '{"tried":["here","there"]}')
    assert await store.reads.result_columns(job.id) == ["tried"]


async def test_an_attempt_that_will_be_retried_stores_no_result(store: SqliteStore):
    job = await factories.job(store, 1)
    later = Fault(FaultClass.THROTTLED, "not now", 3_600.0, result=TRIED)
    await run_job(store, job.id, spec(later))
    (row,) = (await store.reads.items(ItemQuery(job.id, with_result=True))).items
    assert (row.status, row.result) == (ItemStatus.PENDING, None)
    assert await store.reads.result_columns(job.id) == []


@pytest.mark.parametrize("outcome", [NotFound, Skipped, GiveUp])
async def test_a_result_that_is_not_a_mapping_is_refused(store: SqliteStore, outcome: Any):
    job = await factories.job(store, 1)
    await run_job(store, job.id, spec(outcome("words", ["no", "mapping"])))
    (row,) = (await store.reads.items(ItemQuery(job.id))).items
    assert (row.status, row.error_class) == (ItemStatus.ERROR, FaultClass.INVALID_RESULT)


async def test_a_halted_job_pauses_with_the_reason_and_costs_no_attempt(store: SqliteStore):
    async def handler(item: Item, ctx: Context) -> None:
        raise JobHalted("no space is left")

    job = await factories.job(store, 300)
    await run_job(store, job.id, HandlerSpec("test", "test", handler, is_async=True))
    halted = await store.reads.job(job.id)
    assert (halted.state, halted.pause_reason) == (JobState.PAUSED, "no space is left")
    rows = (await store.reads.items(ItemQuery(job.id, limit=300))).items
    assert {(row.status, row.attempts) for row in rows} == {(ItemStatus.PENDING, 0)}
    tried = [row.id for row in rows if await store.reads.attempts(row.id)]
    assert len(tried) < 300  # all that were not at hand were left alone


@pytest.mark.parametrize("outcome", [NotFound, Skipped, GiveUp, Done])
async def test_an_outcome_without_its_parentheses_is_recognised(store: SqliteStore, outcome: Any):
    job = await factories.job(store, 1)
    await run_job(store, job.id, spec(outcome))
    (row,) = (await store.reads.items(ItemQuery(job.id))).items
    name = outcome.__name__
    assert (
        row.last_error == f"the handler returned the class {name}: write {name}() with parentheses"
    )
