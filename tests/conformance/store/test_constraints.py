import apsw
import psycopg
import pytest

from headgate.core.status import ItemMove, ItemStatus
from headgate.core.user import Role, TokenKind
from headgate.ports.access import NewToken, NewUser
from headgate.ports.exports import NewExport
from headgate.ports.items import ReviewDecision
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
    "a result of what was cancelled": f"status = 'CANCELLED', result = '{{}}', {UNLEASED}",
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


async def test_the_database_refuses_a_kind_of_failure_where_nothing_failed(store, place):
    await factories.job(store, 1)
    with pytest.raises(REFUSALS):
        place.execute("UPDATE items SET signature = 'timeout'")


IMPOSSIBLE_ROWS = {
    "a role nobody knows": "INSERT INTO users (name, role, created_at) VALUES ('bob', 'king', 0)",
    "a user without a name": "INSERT INTO users (name, role, created_at) VALUES ('', 'user', 0)",
    "a token of nobody": """
        INSERT INTO tokens (id, user_name, digest, kind, role, created_at)
        VALUES ('t2', 'nobody', 'd2', 'api', 'user', 0)
    """,
    "two tokens of one secret": """
        INSERT INTO tokens (id, user_name, digest, kind, role, created_at)
        VALUES ('t2', 'ann', 'd1', 'api', 'user', 0)
    """,
    "a second decision for one asking": """
        INSERT INTO decisions VALUES (1, 1, 'reject', NULL, 'bob', 0, '')
    """,
    "acceptance of nothing": "INSERT INTO decisions VALUES (1, 2, 'accept', NULL, 'bob', 0, '')",
    "an export that nobody makes": "UPDATE exports SET state = 'RUNNING'",
    "an export without its file": "UPDATE exports SET state = 'DONE', finished_at = 1",
    "a failure without a reason": "UPDATE exports SET state = 'FAILED', finished_at = 1",
    "a second result to recall": "INSERT INTO reusable VALUES ('ann', 'd', 1, 2, 0)",
}


@pytest.mark.parametrize("statement", IMPOSSIBLE_ROWS.values())
async def test_the_database_refuses_impossible_rows_of_the_service(store, place, statement):
    job = await factories.job_of(store, ItemStatus.REVIEW)
    await store.access.add_user(NewUser("ann", Role.USER))
    await store.access.add_token(NewToken("t1", "ann", "d1", TokenKind.API, Role.USER))
    await store.exports.ask_export(NewExport(job.id, "csv", "ann"))
    (row,) = await store.reads.export_rows(job.id, 0, 1)
    await store.items.decide(ReviewDecision(row.id, ItemMove.REJECT, "ann"))
    place.execute("INSERT INTO reusable VALUES ('ann', 'd', 1, 1, 0)")
    if place.kind == "sqlite":
        statement = f"PRAGMA foreign_keys = on; {statement}"
    with pytest.raises(REFUSALS):
        place.execute(statement)
    place.execute("DELETE FROM reusable")


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
