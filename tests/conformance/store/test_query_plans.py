"""The hot queries read through the index that was made for them, whatever lies in the tables."""

import pytest

from headgate.core.job import NewJob
from headgate.core.settlement import hand_back
from headgate.ports.items import EnqueueRequest
from headgate.stores.postgres.literals import settlement_arrays
from tests.kit import factories

ITEMS = 4_000
SPREAD = """
UPDATE items SET
    status = CASE id % 5
        WHEN 0 THEN 'DONE' WHEN 1 THEN 'ERROR' WHEN 2 THEN 'NOT_FOUND' ELSE 'PENDING'
    END,
    result = CASE WHEN id % 5 = 0 THEN '{}' END,
    error_class = CASE WHEN id % 5 = 1 THEN 'timeout' END,
    signature = CASE WHEN id % 5 = 1 THEN 'timeout: ' || (id % 7) END,
    updated_at = updated_at - id * 1000
"""
FAR = 2**62
TEXT = {"text": "%key-1%", "lower": None, "upper": None, "title": None}
NUMBERS = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)"
A_SERVICE = (
    "INSERT INTO users (name, role, created_at) VALUES ('ann', 'user', 0)",
    f"""
    {NUMBERS} INSERT INTO tokens (id, user_name, digest, kind, role, created_at)
    SELECT 't' || i, 'ann', 'd' || i, 'api', 'user', i FROM n
    """,
    f"""
    {NUMBERS} INSERT INTO exports (job_id, format, asked_by, created_at, updated_at)
    SELECT CASE WHEN i > 3 THEN 2 ELSE 1 END, 'csv', 'ann', i, i FROM n
    """,
)
PAGE = {
    "after_id": 0,
    "last_id": FAR,
    "limit": 101,
    "error_class": None,
    "signature": None,
    "variant": None,
    "with_result": False,
    **TEXT,
}
STRETCH = {"after_at": 0, "before_at": FAR, "before_id": 0}
BY_TIME = {
    "sqlite": {**STRETCH, "status": "ERROR"},
    "postgres": {**STRETCH, "tail_us": 0, "statuses": "{ERROR,PENDING}"},
}
CLAIM = {
    "worker": "w",
    "limit": 1_000,
    "lease_us": 1,
    "shard": 0,
    "closed": "{gate-1}",
    "ids": None,
    "first": 0,
    "after": "gate-0",
    "gate_limit": 64,
    "ungated": 5_000,
    "retries": 500,
}
ACROSS = {
    "sqlite": {"owner": "local", "handler": None},
    "postgres": {
        "owner": None,
        "handler": None,
        "resting": "{ERROR,NOT_FOUND}",
        "opened": "{PENDING,PROCESSING}",
    },
}


@pytest.fixture
async def full(store, place):
    """Two jobs with items in many statuses, and a planner that knows it."""
    jobs = []
    for source in ("a", "b"):
        job = await store.jobs.create_job(NewJob("h", source))
        await store.items.enqueue_many(EnqueueRequest(job.id, factories.rows(ITEMS // 2)))
        jobs.append(await store.jobs.complete_ingest(job.id, ()))
    place.execute(SPREAD)
    place.execute("ANALYZE")
    yield jobs[0].id
    await store.reads.check(repair=True)
    place.execute("UPDATE items SET attempts = 0")


async def plan(store, name, **values):
    """The plan as one text."""
    database = store._database
    if hasattr(database, "single"):
        lines = await database.single(lambda session: session.explain(name, **values))
    else:
        lines = await database.read(lambda tx: tx.explain(name, **values))
    return "\n".join(lines)


def assert_reads_through(text, index):
    assert index in text, text
    assert "Seq Scan on items" not in text, text
    assert "SCAN items" not in text.replace("SCAN items USING", ""), text


@pytest.mark.parametrize("suspects", [False, True])
async def test_a_claim_reads_its_partial_index_in_order(store, place, full, suspects):
    index = "items_suspect" if suspects else "items_claimable"
    if place.kind == "postgres":
        text = await plan(store, "claim", job_id=full, suspects=suspects, **CLAIM)
        assert text.count("Sort") <= 4, text
    else:
        names = ["select_suspects"] if suspects else ["select_retries", "select_fresh"]
        for name in names:
            text = await plan(store, name, job_id=full, limit=1_000, skip=0, first=0)
            assert "TEMP B-TREE" not in text, text
            assert_reads_through(text, index)
    assert_reads_through(text, index)


async def test_a_claim_by_gate_reads_the_index_of_gates(store, place, full):
    place.execute("UPDATE items SET gate = 'gate-' || (id % 9)")
    place.execute("ANALYZE")
    if place.kind == "postgres":
        text = await plan(store, "claim_by_gate", job_id=full, **CLAIM)
    else:
        text = await plan(store, "next_gate", job_id=full, after="gate-3")
        assert "TEMP B-TREE" not in text, text
        for name in ("select_fresh_at", "select_retries_at"):
            at = await plan(store, name, job_id=full, gate="gate-3", limit=10, skip=0)
            assert "TEMP B-TREE" not in at, at
            assert_reads_through(at, "items_by_gate")
        look = await plan(store, "select_ungated", job_id=full, limit=10, look=100)
        assert_reads_through(look, "items_claimable")
    assert_reads_through(text, "items_by_gate")


async def test_the_grid_reads_input_order(store, full):
    text = await plan(store, "items_in_order", job_id=full, statuses=None, **PAGE)
    assert_reads_through(text, "items_in_order")
    assert "Sort" not in text
    assert "TEMP B-TREE" not in text


async def test_an_export_reads_input_order(store, full):
    text = await plan(store, "export_rows", job_id=full, after_id=0, limit=1_000)
    assert_reads_through(text, "items_in_order")
    assert "Sort" not in text
    assert "TEMP B-TREE" not in text


async def test_histories_are_read_for_the_items_of_a_page_alone(store, full):
    text = await plan(store, "histories", job_id=full, after_id=100, last_id=200)
    assert_reads_through(text, "items_in_order")
    assert "Seq Scan on attempts" not in text
    assert "SCAN a" not in text


async def test_rows_are_found_by_key_through_the_index(store, place, full):
    keys = {"postgres": "{key-1,key-2}", "sqlite": '["key-1","key-2"]'}[place.kind]
    text = await plan(store, "rows_by_key", job_id=full, keys=keys)
    assert_reads_through(text, "items_by_key")


async def test_the_list_of_a_job_reads_each_status_in_order(store, place, full):
    values = {**PAGE, **BY_TIME[place.kind]}
    text = await plan(store, "items_by_status", job_id=full, **values)
    assert_reads_through(text, "items_by_status")
    assert "TEMP B-TREE" not in text


async def test_the_list_across_jobs_reads_what_is_at_rest_in_order(store, place, full):
    values = {**PAGE, **BY_TIME[place.kind], **ACROSS[place.kind]}
    if place.kind == "postgres":
        del values["statuses"]
    text = await plan(store, "items_across_jobs", **values)
    assert_reads_through(text, "items_across_jobs")
    assert "TEMP B-TREE" not in text


async def test_what_waits_across_jobs_is_read_in_order_job_by_job(store, place, full):
    values = {**PAGE, **BY_TIME[place.kind], **ACROSS[place.kind]}
    if place.kind == "postgres":
        del values["statuses"]
        values["resting"] = "{}"
        text = await plan(store, "items_across_jobs", **values)
    else:
        values["status"] = "PENDING"
        text = await plan(store, "items_by_status", job_id=full, **values)
        window = await plan(store, "window_by_status", job_id=full, rows=100, **values)
        assert_reads_through(window, "COVERING INDEX items_by_status")
    assert_reads_through(text, "items_by_status")
    assert "TEMP B-TREE" not in text


async def test_failures_of_one_kind_are_read_in_input_order(store, full):
    values = {**PAGE, "signature": "timeout: 3"}
    text = await plan(store, "items_by_signature", job_id=full, **values)
    assert_reads_through(text, "items_by_signature")
    assert "Sort" not in text
    assert "TEMP B-TREE" not in text


async def test_kinds_of_failures_are_counted_in_their_index(store, place, full):
    text = await plan(store, "error_groups", job_id=full, limit=100, variants=10)
    assert_reads_through(text, "items_by_signature")


async def test_the_bound_of_a_look_is_found_in_the_index_alone(store, place, full):
    text = await plan(store, "window_in_order", job_id=full, after_id=0, rows=1_000)
    assert_reads_through(text, "items_in_order")
    assert "Only" in text if place.kind == "postgres" else "COVERING" in text, text


@pytest.mark.parametrize(
    ("name", "values", "index"),
    [
        ("exports", {"job_id": 1}, "exports_by_job"),
        ("bearer", {"digest": "d", "kind": "api"}, "tokens_by_digest"),
        ("usage", {"owner": "local"}, "jobs_under_way"),
        ("events_of_owner", {"owner": "o", "after_id": 0, "limit": 9}, "events_by_owner"),
        ("last_events_of_owner", {"owner": "o", "before_id": FAR, "limit": 9}, "events_by_owner"),
    ],
)
async def test_the_service_finds_its_rows_through_an_index(store, place, full, name, values, index):
    for statement in (*A_SERVICE, "ANALYZE"):
        place.execute(statement)
    text = await plan(store, name, **values)
    assert_reads_through(text, index)
    assert "TEMP B-TREE" not in text


@pytest.mark.parametrize(
    ("name", "index"),
    [("exports_to_make", "exports_to_make"), ("sources_to_read", "jobs_by_state")],
)
async def test_what_waits_is_found_among_unfinished_things_alone(store, place, full, name, index):
    for statement in (*A_SERVICE, "ANALYZE"):
        place.execute(statement)
    assert_reads_through(await plan(store, name, per_user=9), index)


async def test_a_settlement_finds_each_item_by_its_id(store, place, full):
    who = await factories.worker(store)
    settlements = [hand_back(item, "") for item in await factories.claim(store, full, who, 1_000)]
    if place.kind == "postgres":
        arrays = settlement_arrays(settlements)
        text = await plan(store, "settle_items", worker=who, shard=0, again=False, **arrays)
        assert_reads_through(text, "items_in_order")
        assert "Tid Scan on items" in text
    else:
        text = await plan(store, "settle_items", worker=who, settlements="[]")
        assert "SEARCH items USING INTEGER PRIMARY KEY" in text, text
    await store.jobs.retire(who, "over")


async def test_the_look_for_work_touches_no_more_than_the_heads_of_indexes(store, full):
    text = await plan(store, "demand", jobs=None, handlers=None)
    assert_reads_through(text, "items_claimable")


@pytest.mark.parametrize("name", ["leases_of", "overdue", "return_leases"])
async def test_leases_are_found_through_the_jobs_that_can_have_some(store, full, name):
    text = await plan(store, name, worker="w", limit=100)
    assert_reads_through(text, "items_by_status")


async def test_why_a_job_waits_is_read_through_indexes(store, place, full):
    now = {"now": FAR} if place.kind == "sqlite" else {"after": 0}
    later = await plan(store, "deferrals", job_id=full, limit=500, **now)
    assert_reads_through(later, "items_claimable")
    text = await plan(store, "situation", job_id=full)
    for index in ("items_claimable", "items_suspect", "items_by_status"):
        assert_reads_through(text, index)
    assert_reads_through(
        await plan(store, "handler_time", job_id=full, limit=20), "items_by_status"
    )


MANY_HEADS = (
    """
    INSERT INTO mirrors (owner, name, source, digest, history, created_at)
    VALUES ('local', 'm', '{}', '', (1 = 1), 0)
    """,
    "INSERT INTO streams (mirror_id, name) SELECT id, 's' FROM mirrors",
    "INSERT INTO streams (mirror_id, name) SELECT id, 't' FROM mirrors",
    f"""
    {NUMBERS.replace("500", "5000")} INSERT INTO mirror_rows (
        stream_id, id, hash, deleted, first_pass, seen_pass, first_at, changed_at
    )
    SELECT CASE WHEN i % 50 = 7 THEN 1 ELSE 2 END, 'r' || i, 'h', (1 = 0), 1, 1, 0, 0 FROM n
    """,
    "INSERT INTO mirror_bodies (number, body) SELECT number, '{}' FROM mirror_rows",
    "ANALYZE",
)


@pytest.mark.parametrize(
    ("name", "values", "index"),
    [
        (
            "known_heads",
            {"rows": '[[1,"r7"]]', "streams": "{1}", "ids": "{r7}"},
            "mirror_rows_by_id",
        ),
        (
            "mirror_rows",
            {"stream_id": 1, "after": 100, "limit": 50, "deleted": False},
            "mirror_rows_in_order",
        ),
        ("mirror_row", {"stream_id": 1, "row_id": "r7"}, "mirror_rows_by_id"),
    ],
)
async def test_rows_of_a_mirror_are_found_through_an_index(store, place, name, values, index):
    for statement in MANY_HEADS:
        place.execute(statement)
    text = await plan(store, name, **values)
    assert index in text, text
    assert "Seq Scan on mirror" not in text, text
    assert "TEMP B-TREE" not in text, text


async def test_whether_a_checkpoint_is_quiet_is_read_in_its_partial_index(store, place, full):
    text = await plan(store, "ready_to_close", rows='[[1,"p"]]', jobs="{1}", names="{p}")
    assert_reads_through(text, "items_by_checkpoint")
