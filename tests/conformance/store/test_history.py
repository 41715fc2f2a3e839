"""Items with all that was done about them."""

import msgspec

from headgate.core.item import NewItem
from headgate.core.job import Counts
from headgate.core.status import ItemStatus
from headgate.ports.items import EnqueueRequest, RequeueRequest, SettleRequest
from tests.kit import factories


async def test_a_page_has_the_rows_and_every_attempt_at_them(store):
    job, who = await factories.job(store, 5), await factories.worker(store)
    other = await factories.job(store, 2)
    for each in (job, other):
        items = await factories.claim(store, each.id, who)
        await factories.finish(store, who, items, ItemStatus.PENDING)
    again = await factories.claim(store, job.id, who)
    calls = '[[1,"GET"]]'
    settlements = [factories.settlement(item, ItemStatus.DONE) for item in again]
    with_calls = [msgspec.structs.replace(each, calls=calls) for each in settlements]
    await store.items.settle_many(SettleRequest(who, with_calls))

    seen = []
    after_id = 0
    while page := await store.history.page(job.id, after_id, 2):
        assert len(page) <= 2
        seen += page
        after_id = page[-1].row.id
    assert [each.row for each in seen] == await store.reads.export_rows(job.id, 0, 100)
    for each in seen:
        assert each.attempts == await store.reads.attempts(each.row.id)
    assert [attempt.outcome for attempt in seen[0].attempts] == ["retry", "done"]
    assert [attempt.calls for attempt in seen[0].attempts] == [None, calls]


async def test_a_row_without_attempts_is_in_the_history(store):
    job = await factories.job(store, 1)
    (only,) = await store.history.page(job.id, 0, 10)
    assert (only.row.key, only.attempts) == ("key-1", [])
    assert await store.history.page(job.id, only.row.id, 10) == []


async def test_rows_are_found_by_their_keys(store):
    odd = 'a "key", {odd} \\ and é'
    job = await factories.job(store)
    other = await factories.job(store, 3)
    job = await store.jobs.reopen_ingest(job.id, "more")
    items = [NewItem(odd, "{}", 1), NewItem("b", "{}", 2), NewItem("key-1", "{}", 3)]
    await store.items.enqueue_many(EnqueueRequest(job.id, items))
    found = await store.history.by_key(job.id, [odd, "key-1", "nobody", "key-2"])
    assert {row.key for row in found} == {odd, "key-1"}
    mine = {row.id for row in await store.reads.export_rows(job.id, 0, 10)}
    assert {row.id for row in found} <= mine
    assert len(await store.history.by_key(other.id, ["key-1", "key-3"])) == 2
    assert await store.history.by_key(job.id, []) == []


async def test_a_row_that_asks_for_the_same_is_skipped_when_it_comes(store):
    job = await factories.job(store)
    job = await store.jobs.reopen_ingest(job.id, "more")
    items = [
        NewItem("k", "{}", 1),
        NewItem("k#2", '{"a":1}', 2, problem="the same as line 1", duplicate=True),
        NewItem("#3", "{}", 3, problem="names nothing"),
    ]
    await store.items.enqueue_many(EnqueueRequest(job.id, items, "p", ""))
    await store.jobs.complete_ingest(job.id, ())
    assert await store.reads.counts(job.id) == Counts(pending=1, skipped=1, error=1)
    rows = await store.reads.export_rows(job.id, 0, 10)
    assert [(row.status, row.error_class, row.error) for row in rows] == [
        (ItemStatus.PENDING, None, None),
        (ItemStatus.SKIPPED, "bad_row", "the same as line 1"),
        (ItemStatus.ERROR, "bad_row", "names nothing"),
    ]
    assert [group.count for group in await store.reads.error_groups(job.id)] == [1]
    assert await store.reads.check(repair=False) == []
    # No visit goes to it again, unless a user asks for it by its class.
    everything = RequeueRequest(
        job.id, frozenset({ItemStatus.SKIPPED, ItemStatus.ERROR}), but_class="bad_row"
    )
    assert (await store.items.requeue(everything)).moved == 0
