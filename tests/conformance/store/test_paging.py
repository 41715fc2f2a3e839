import msgspec
import pytest

from headgate.core.errors import BadCursor, UnknownItem, UsageError
from headgate.core.fault import FaultClass
from headgate.core.job import NewJob
from headgate.core.paging import SortOrder
from headgate.core.retry import RetryDecision
from headgate.core.settlement import settle
from headgate.core.status import ItemStatus
from headgate.ports.items import EnqueueRequest, SettleRequest
from headgate.ports.reads import ErrorGroup, EventQuery, ItemQuery, JobQuery
from tests.kit import factories


async def pages(store, query):
    """Every page of a query, as lists of rows."""
    found = []
    while True:
        page = await store.reads.items(query)
        found.append(list(page.items))
        if page.next is None:
            return found
        query = msgspec.structs.replace(query, after=page.next)


def flat(found):
    return [row for page in found for row in page]


async def spread(store, count):
    """A job whose items stand in many statuses, changed one after the other."""
    job, who = await factories.job(store, count), await factories.worker(store)
    cycle = [ItemStatus.DONE, ItemStatus.ERROR, ItemStatus.NOT_FOUND, ItemStatus.PENDING]
    for number, item in enumerate(await factories.claim(store, job.id, who, count - 2)):
        await factories.finish(store, who, [item], cycle[number % 4])
    await factories.claim(store, job.id, who, 1)
    return job


async def test_input_order_shows_every_item_once(store):
    job = await spread(store, 23)
    found = await pages(store, ItemQuery(job.id, limit=5))
    assert [len(page) for page in found] == [5, 5, 5, 5, 3]
    assert [row.key for row in flat(found)] == [f"key-{line}" for line in range(1, 24)]


async def test_input_order_can_be_filtered(store):
    job = await spread(store, 23)
    statuses = frozenset({ItemStatus.ERROR, ItemStatus.DONE})
    rows = flat(await pages(store, ItemQuery(job.id, statuses, limit=4)))
    assert {row.status for row in rows} == statuses
    assert [row.id for row in rows] == sorted(row.id for row in rows)
    counts = await store.reads.counts(job.id)
    assert len(rows) == counts.error + counts.done
    wrong = ItemQuery(job.id, statuses, error_class="timeout")
    assert flat(await pages(store, wrong)) == []


@pytest.mark.parametrize(
    "statuses",
    [
        frozenset(),
        frozenset({ItemStatus.ERROR}),
        frozenset({ItemStatus.DONE, ItemStatus.ERROR, ItemStatus.PENDING}),
    ],
)
async def test_order_by_change_is_one_order_over_all_statuses(store, place, statuses):
    job = await spread(store, 23)
    place.pass_time(5)
    rows = flat(await pages(store, ItemQuery(job.id, statuses, order=SortOrder.UPDATED, limit=4)))
    stamps = [(row.updated_at, row.id) for row in rows]
    assert stamps == sorted(stamps)
    everything = flat(await pages(store, ItemQuery(job.id, statuses)))
    assert sorted(row.id for row in rows) == sorted(row.id for row in everything)


async def test_pages_by_change_stop_short_of_now_unless_asked(store, place):
    job = await factories.job_of(store, ItemStatus.DONE, 3)
    query = ItemQuery(job.id, order=SortOrder.UPDATED)
    assert flat(await pages(store, query)) == []
    look = msgspec.structs.replace(query, tail=True)
    assert len(flat(await pages(store, look))) == 3
    place.pass_time(2.5)
    assert len(flat(await pages(store, query))) == 3


async def test_a_row_that_changes_while_pages_are_read_is_not_missed(store, place):
    job, who = await factories.job(store, 6), await factories.worker(store)
    place.pass_time(100)
    query = ItemQuery(job.id, order=SortOrder.UPDATED, limit=2, tail=True)
    first = await store.reads.items(query)
    moved = await factories.claim(store, job.id, who, 4)
    rest = flat(await pages(store, msgspec.structs.replace(query, after=first.next)))
    seen = [row.id for row in [*first.items, *rest]]
    assert len(set(seen)) == 6
    # Rows that changed after they were shown are shown again, last.
    assert seen[-4:] == [item.id for item in moved]


async def test_across_jobs_rows_of_all_owners_are_merged(store, place):
    jobs = []
    for owner, handler in (("ada", "h"), ("bob", "h"), ("ada", "other")):
        new = NewJob(handler, f"{owner}-{handler}", owner=owner)
        job, who = await factories.job(store, 4, new), await factories.worker(store)
        leased = await factories.claim(store, job.id, who, 3)
        await factories.finish(store, who, leased[:2], ItemStatus.ERROR)
        jobs.append(job)
    place.pass_time(5)

    async def listed(**filters):
        query = ItemQuery(None, order=SortOrder.UPDATED, limit=2, **filters)
        return flat(await pages(store, query))

    rows = await listed()
    assert len(rows) == 12
    stamps = [(row.updated_at, row.id) for row in rows]
    assert stamps == sorted(stamps)
    errors = await listed(statuses=frozenset({ItemStatus.ERROR}))
    assert len(errors) == 6
    theirs = await listed(statuses=frozenset({ItemStatus.ERROR}), owner="ada", handler="other")
    assert {row.job_id for row in theirs} == {jobs[2].id}
    waiting = await listed(statuses=frozenset({ItemStatus.PENDING}), owner="bob")
    assert [row.job_id for row in waiting] == [jobs[1].id]
    running = await listed(statuses=frozenset({ItemStatus.PROCESSING}), handler="h")
    assert sorted(row.job_id for row in running) == [jobs[0].id, jobs[1].id]
    assert await listed(error_class="timeout") == []


async def test_across_jobs_finished_items_are_not_listed_and_input_order_has_no_meaning(store):
    done = ItemQuery(None, frozenset({ItemStatus.DONE}), order=SortOrder.UPDATED)
    with pytest.raises(UsageError, match="DONE"):
        await store.reads.items(done)
    with pytest.raises(UsageError, match="items of all jobs"):
        await store.reads.items(ItemQuery(None))


async def test_a_cursor_fits_only_the_query_it_came_from(store):
    job = await factories.job(store, 5)
    page = await store.reads.items(ItemQuery(job.id, limit=2))
    for query in (
        ItemQuery(job.id + 1, after=page.next),
        ItemQuery(job.id, frozenset({ItemStatus.DONE}), after=page.next),
        ItemQuery(job.id, order=SortOrder.UPDATED, after=page.next),
        ItemQuery(job.id, after="rubbish"),
    ):
        with pytest.raises(BadCursor):
            await store.reads.items(query)
    wider = ItemQuery(job.id, after=page.next, limit=100)
    assert len((await store.reads.items(wider)).items) == 3


async def test_an_item_shows_everything_and_an_unknown_one_is_named(store):
    job = await factories.job_of(store, ItemStatus.DONE)
    (row,) = await store.reads.export_rows(job.id, 0, 10)
    detail = await store.reads.item(row.id)
    assert (detail.row.id, detail.row.job_id, detail.input) == (row.id, job.id, '{"n":1}')
    assert (detail.result, detail.row.owner) == (factories.RESULT, job.owner)
    with pytest.raises(UnknownItem, match="4711"):
        await store.reads.item(4711)


async def test_an_export_reads_input_order_in_steps(store):
    job = await spread(store, 9)
    other = await factories.job(store, 2)
    found, after = [], 0
    while rows := await store.reads.export_rows(job.id, after, 4):
        found += rows
        after = rows[-1].id
    assert [row.key for row in found] == [f"key-{line}" for line in range(1, 10)]
    assert [row.result for row in found[:2]] == [factories.RESULT, None]
    assert (found[1].status, found[1].error_class) == (ItemStatus.ERROR, "permanent")
    assert (found[1].error, found[0].error) == ("gave up", None)
    assert len(await store.reads.export_rows(other.id, 0, 10)) == 2


async def test_failures_are_grouped_by_kind(store):
    job, who = await factories.job(store, 5), await factories.worker(store)
    leased = await factories.claim(store, job.id, who, 4)
    kinds = [FaultClass.TIMEOUT, FaultClass.PERMANENT, FaultClass.TIMEOUT, FaultClass.TIMEOUT]
    for number, (item, kind) in enumerate(zip(leased, kinds, strict=True)):
        reason = "no answer" if number == 3 else f"no answer for {number} s"
        verdict = RetryDecision(ItemStatus.ERROR, "error", error_class=kind, reason=reason)
        await store.items.settle_many(SettleRequest(who, [settle(item, verdict)]))
    groups = [
        ErrorGroup("timeout", "timeout: no answer for <n> s", 2, leased[0].id, "no answer for 0 s"),
        ErrorGroup(
            "permanent", "permanent: no answer for <n> s", 1, leased[1].id, "no answer for 1 s"
        ),
        ErrorGroup("timeout", "timeout: no answer", 1, leased[3].id, "no answer"),
    ]
    assert await store.reads.error_groups(job.id) == groups
    assert await store.reads.error_groups(job.id, limit=2) == groups[:2]


async def test_jobs_are_listed_newest_first_and_found_by_their_identity(store):
    made = [
        await store.jobs.create_job(NewJob("h", f"file-{number % 2}", owner=owner))
        for number, owner in enumerate(["ada", "bob", "ada", "ada"])
    ]
    ids = [job.id for job in made]
    assert [job.id for job in await store.reads.jobs(JobQuery())] == ids[::-1]
    assert [job.id for job in await store.reads.jobs(JobQuery("ada", limit=2))] == [ids[3], ids[2]]
    assert [job.id for job in await store.reads.jobs(JobQuery("ada", after_id=ids[2]))] == [ids[0]]
    same = await store.reads.find_jobs("ada", "h", "file-0")
    assert [job.id for job in same] == [ids[2], ids[0]]
    assert await store.reads.find_jobs("ada", "other", "file-0") == []


async def test_events_are_read_oldest_first_from_any_point(store):
    job = await factories.job(store)
    for number in range(4):
        await store.jobs.record_event("note", f"{number}", job.id)
    await store.jobs.record_event("note", "of nobody")
    events = await store.reads.events(EventQuery(job.id))
    ids = [event.id for event in events]
    assert ids == sorted(ids)
    assert [event.message for event in events[-4:]] == ["0", "1", "2", "3"]
    rest = await store.reads.events(EventQuery(job.id, after_id=ids[-2]))
    assert [event.message for event in rest] == ["3"]
    everything = await store.reads.events(EventQuery())
    assert everything[-1].message == "of nobody"
    assert len(await store.reads.events(EventQuery(limit=2))) == 2


async def test_rows_added_while_pages_are_read_come_at_the_end(store):
    job = await store.jobs.create_job(NewJob("h", "queue:x", open=True))
    await store.items.enqueue_many(EnqueueRequest(job.id, factories.rows(4)))
    page = await store.reads.items(ItemQuery(job.id, limit=3))
    await store.items.enqueue_many(EnqueueRequest(job.id, factories.rows(2, 5)))
    rest = await store.reads.items(ItemQuery(job.id, limit=10, after=page.next))
    assert [row.line for row in [*page.items, *rest.items]] == [1, 2, 3, 4, 5, 6]
