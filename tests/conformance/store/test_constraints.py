import apsw
import psycopg
import pytest

from headgate.core.status import ItemStatus
from tests.kit import factories

IMPOSSIBLE_ITEMS = {
    "a lease without a worker": "worker = NULL",
    "a lease without its time": "leased_at = NULL",
    "a lease without a deadline": "deadline_at = NULL",
    "a finished item that is still leased": "status = 'SKIPPED'",
    "a status nobody knows": "status = 'LOST'",
    "fewer than no attempts": "attempts = -1",
    "fewer than no failures": "failures = -1",
    "fewer than no crashes": "crashes = -1",
    "a strategy before the first": "strategy = -1",
    "a result before the end": "result = '{}'",
}
UNLEASED = "worker = NULL, leased_at = NULL, deadline_at = NULL"
IMPOSSIBLE_ENDS = {
    "success without a result": f"status = 'DONE', {UNLEASED}",
    "a review without candidates": f"status = 'REVIEW', {UNLEASED}",
    "an error without a class": f"status = 'ERROR', {UNLEASED}",
    "a result that was not found": f"status = 'NOT_FOUND', result = '{{}}', {UNLEASED}",
    "a pending item with a worker": "status = 'PENDING', leased_at = NULL, deadline_at = NULL",
}
IMPOSSIBLE_JOBS = {
    "a state nobody knows": "state = 'LOST'",
    "done without an end": "state = 'DONE'",
    "running after the end": "finished_at = 1",
    "done before the source was read": "state = 'DONE', finished_at = 1, ingest_complete = {no}",
    "done though it takes more": "state = 'DONE', finished_at = 1, open = {yes}",
    "reading a source that was read": "state = 'INGESTING'",
}
REFUSALS = (apsw.ConstraintError, psycopg.errors.IntegrityError)


@pytest.mark.parametrize("change", [*IMPOSSIBLE_ITEMS.values(), *IMPOSSIBLE_ENDS.values()])
async def test_the_database_refuses_an_impossible_item(store, place, change):
    await factories.job_of(store, ItemStatus.PROCESSING)
    with pytest.raises(REFUSALS):
        place.execute(f"UPDATE items SET {change}")


@pytest.mark.parametrize("change", IMPOSSIBLE_JOBS.values())
async def test_the_database_refuses_an_impossible_job(store, place, change):
    await factories.job(store)
    words = {"yes": "true", "no": "false"} if place.kind == "postgres" else {"yes": 1, "no": 0}
    with pytest.raises(REFUSALS):
        place.execute(f"UPDATE jobs SET {change.format(**words)}")


async def test_the_database_refuses_a_key_twice_in_one_job(store, place):
    await factories.job(store, 2)
    table = "item_keys" if place.kind == "postgres" else "items"
    with pytest.raises(REFUSALS):
        place.execute(f"UPDATE {table} SET key = 'same'")


async def test_the_database_refuses_two_attempts_under_one_lease(store, place):
    job, who = await factories.job(store, 1), await factories.worker(store)
    for status in (ItemStatus.PENDING, ItemStatus.DONE):
        await factories.finish(store, who, await factories.claim(store, job.id, who), status)
    with pytest.raises(REFUSALS):
        place.execute("UPDATE attempts SET epoch = 1")
