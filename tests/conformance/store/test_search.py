"""Lists of a few among many: by text, kind, time, owner and handler."""

import msgspec
import pytest

from headgate.core.errors import BadCursor, UnknownItem, UnknownJob, UsageError
from headgate.core.item import NewItem
from headgate.core.job import NewJob
from headgate.core.paging import SortOrder
from headgate.core.retry import RetryDecision
from headgate.core.settlement import settle
from headgate.core.signature import MOST_VARIANTS
from headgate.core.status import ItemStatus, JobMove, JobState
from headgate.ports.items import EnqueueRequest, RequeueRequest, SettleRequest
from headgate.ports.reads import EventQuery, ItemQuery, JobQuery
from headgate.stores.listing import WINDOW
from tests.kit import factories

PENDING = frozenset({ItemStatus.PENDING})
BAD = frozenset({ItemStatus.ERROR})


async def read(store, query):
    """Every row of a query, and how many pages they came in."""
    found, pages = [], 0
    while True:
        page = await store.reads.items(query)
        found += page.items
        pages += 1
        if page.next is None:
            return found, pages
        query = msgspec.structs.replace(query, after=page.next)


async def keys(store, query):
    return [row.key for row in (await read(store, query))[0]]


async def a_job(store, items, owner="ann", handler="h"):
    job = await store.jobs.create_job(NewJob(handler, "f.csv", owner=owner))
    for start in range(0, len(items), 5_000):
        await store.items.enqueue_many(EnqueueRequest(job.id, items[start : start + 5_000]))
    return await store.jobs.complete_ingest(job.id, ("n",))


@pytest.mark.parametrize("order", list(SortOrder))
async def test_text_is_found_in_key_and_summary_in_any_case(store, place, order):
    items = [
        NewItem("Apple-1", "{}", summary="red"),
        NewItem("x-2", "{}", summary="an APPLE pie"),
        NewItem("x-3", "{}", summary="pear"),
        NewItem("ÄPFEL", "{}", summary="GRÜN"),
        NewItem("50%_a\\b", "{}"),
    ]
    job = await a_job(store, items)
    place.pass_time(5)

    async def found(text):
        return await keys(store, ItemQuery(job.id, text=text, order=order, limit=1))

    assert await found("apple") == ["Apple-1", "x-2"]
    assert await found("aPPle p") == ["x-2"]
    assert await found("äpfel") == ["ÄPFEL"]
    assert await found("grün") == ["ÄPFEL"]
    assert await found("%") == await found("_") == await found("\\B") == ["50%_a\\b"]
    assert await found("x_2") == []
    assert await found("") == [item.key for item in items]
    with pytest.raises(UsageError, match="characters"):
        await found("x" * 201)


@pytest.mark.parametrize("order", list(SortOrder))
async def test_a_rare_text_is_found_by_bounded_looks(store, place, order):
    total = WINDOW + 500
    items = [NewItem(f"key-{n}", "{}", n) for n in range(total)]
    items[10] = NewItem("needle-1", "{}", 10)
    items[-1] = NewItem("needle-2", "{}", total)
    job = await a_job(store, items)
    place.pass_time(5)
    query = ItemQuery(job.id, PENDING, text="needle", order=order)
    first = await store.reads.items(query)
    assert [row.key for row in first.items] == ["needle-1"]
    assert first.next is not None
    found, pages = await read(store, query)
    assert ([row.key for row in found], pages) == (["needle-1", "needle-2"], 2)
    nothing, pages = await read(store, msgspec.structs.replace(query, text="nowhere"))
    assert (nothing, pages) == ([], 2)


async def test_failures_of_one_kind_are_listed(store, place):
    items = [NewItem(f"a{n}", "{}", n, problem=f"{n} columns") for n in range(1, 6)]
    items += [NewItem(f"b{n}", "{}", n, problem="no key") for n in range(6, 8)]
    items += [NewItem("c", "{}", 9)]
    job = await a_job(store, items)
    place.pass_time(5)
    kinds = {group.signature: group.count for group in await store.reads.error_groups(job.id)}
    assert kinds == {"bad_row: <n> columns": 5, "bad_row: no key": 2}
    for order in SortOrder:
        query = ItemQuery(job.id, BAD, signature="bad_row: <n> columns", order=order, limit=2)
        assert await keys(store, query) == ["a1", "a2", "a3", "a4", "a5"]
        assert await keys(store, msgspec.structs.replace(query, text="a3")) == ["a3"]
        nothing = msgspec.structs.replace(query, statuses=PENDING)
        assert await keys(store, nothing) == []


async def test_failures_are_distinguished_by_what_they_quote_while_that_is_little(store):
    few = ["birth_date", "surname", "city name"]
    many = [f"value {number}" for number in range(MOST_VARIANTS + 1)]
    items = [NewItem(f"k{n}", "{}", n, problem=f"KeyError: '{few[n % 3]}'") for n in range(6)]
    items += [
        NewItem(f"v{n}", "{}", 10 + n, problem=f"cannot read '{each}'")
        for n, each in enumerate(many)
    ]
    items += [
        NewItem(f"s{n}", "{}", 90 + n, problem=f"https://a.example/{n} answered {400 + n}")
        for n in range(4)
    ]
    job = await a_job(store, items)
    groups = {group.signature: group for group in await store.reads.error_groups(job.id)}
    counts = {name: group.count for name, group in groups.items()}
    assert counts == {
        "bad_row: cannot read <value>": len(many),
        **{f"bad_row: KeyError: '{name}'": 2 for name in few},
        **{f"bad_row: <url> answered {400 + n}": 1 for n in range(4)},
    }
    for name, group in groups.items():
        for order in SortOrder:
            query = ItemQuery(job.id, BAD, signature=name, order=order, tail=True)
            page = await store.reads.items(query)
            assert len(page.items) == group.count
        request = RequeueRequest(job.id, signature=name)
        assert (await store.items.would_requeue(request)).moved == group.count
    again = RequeueRequest(job.id, signature="bad_row: KeyError: 'city name'")
    assert (await store.items.requeue(again)).moved == 2
    left = {group.signature for group in await store.reads.error_groups(job.id)}
    assert left == groups.keys() - {again.signature}


async def test_failures_of_handlers_are_distinguished_as_bad_rows_are(store):
    job = await factories.job(store, 6)
    who = await factories.worker(store)
    for item in await factories.claim(store, job.id, who):
        reason = f"KeyError: '{'ab'[item.id % 2]}'"
        verdict = RetryDecision(ItemStatus.ERROR, "error", error_class="permanent", reason=reason)
        await store.items.settle_many(SettleRequest(who, [settle(item, verdict)]))
    groups = await store.reads.error_groups(job.id)
    assert {group.signature: group.count for group in groups} == {
        "permanent: KeyError: 'a'": 3,
        "permanent: KeyError: 'b'": 3,
    }
    request = RequeueRequest(job.id, signature="permanent: KeyError: 'a'")
    assert (await store.items.requeue(request)).moved == 3
    (left,) = await store.reads.error_groups(job.id)
    assert left.signature == "permanent: KeyError: 'b'"


async def test_failures_of_before_stay_together_and_are_found(store, place):
    rows = [NewItem(f"k{n}", "{}", n, problem=f"KeyError: 'c{n % 2}'") for n in range(4)]
    job = await a_job(store, rows)
    place.execute("UPDATE items SET variant = NULL WHERE line = 0")
    (group,) = await store.reads.error_groups(job.id)
    assert (group.signature, group.count) == ("bad_row: KeyError: <value>", 4)
    request = RequeueRequest(job.id, signature=group.signature)
    assert (await store.items.would_requeue(request)).moved == 4


async def test_changes_are_listed_from_one_time_to_another(store, place):
    job = await a_job(store, factories.rows(9))
    place.execute("UPDATE items SET updated_at = 1000 + line")
    query = ItemQuery(job.id, order=SortOrder.UPDATED, changed_from=1003, changed_to=1006, limit=2)
    assert await keys(store, query) == ["key-3", "key-4", "key-5"]
    with pytest.raises(UsageError, match="order"):
        await store.reads.items(ItemQuery(job.id, changed_from=1))
    with pytest.raises(UsageError, match="order"):
        await store.reads.items(ItemQuery(job.id, changed_to=1))


async def test_results_come_along_where_they_are_asked_for(store, place):
    job = await factories.job_of(store, ItemStatus.DONE, 2)
    place.pass_time(5)
    for order in SortOrder:
        (row, _) = (await store.reads.items(ItemQuery(job.id, order=order))).items
        assert row.result is None
        query = ItemQuery(job.id, order=order, with_result=True)
        (row, _) = (await store.reads.items(query)).items
        assert row.result == factories.RESULT


@pytest.mark.parametrize(
    "change",
    [
        {"text": "k"},
        {"signature": "s"},
        {"changed_from": 1},
        {"changed_to": 2**50},
        {"owner": "local"},
        {"handler": "price.lookup"},
    ],
)
async def test_a_cursor_knows_every_filter(store, place, change):
    job = await factories.job(store, 5)
    place.pass_time(5)
    query = ItemQuery(job.id, order=SortOrder.UPDATED, limit=2)
    after = (await store.reads.items(query)).next
    with pytest.raises(BadCursor):
        await store.reads.items(msgspec.structs.replace(query, after=after, **change))


async def test_what_belongs_to_another_is_unknown(store):
    job = await a_job(store, factories.rows(2))
    (row, _) = await store.reads.export_rows(job.id, 0, 10)
    assert (await store.reads.job(job.id, "ann")).id == job.id
    assert (await store.reads.item(row.id, "ann")).row.id == row.id
    assert len((await store.reads.items(ItemQuery(job.id, owner="ann"))).items) == 2
    with pytest.raises(UnknownJob):
        await store.reads.job(job.id, "bob")
    with pytest.raises(UnknownItem):
        await store.reads.item(row.id, "bob")
    for order in SortOrder:
        with pytest.raises(UnknownJob):
            await store.reads.items(ItemQuery(job.id, owner="bob", order=order))
        with pytest.raises(UnknownJob):
            await store.reads.items(ItemQuery(4711, owner="bob", order=order))


async def test_everything_that_waits_is_seen_across_jobs(store, place):
    jobs = [
        await a_job(store, factories.rows(700), owner, handler)
        for owner in ("ann", "bob", "eve")
        for handler in ("h", "g")
    ]
    place.pass_time(5)

    async def waiting(**filters):
        query = ItemQuery(None, PENDING, order=SortOrder.UPDATED, limit=97, **filters)
        rows, _ = await read(store, query)
        assert len({row.id for row in rows}) == len(rows)
        return len(rows), {row.job_id for row in rows}

    ids = [job.id for job in jobs]
    assert await waiting() == (4_200, set(ids))
    assert await waiting(owner="bob") == (1_400, set(ids[2:4]))
    assert await waiting(handler="g") == (2_100, set(ids[1::2]))
    assert await waiting(owner="eve", handler="h") == (700, {ids[4]})
    assert await waiting(owner="nobody") == (0, set())
    assert await waiting(owner="ann", text="key-69") == (22, set(ids[:2]))


async def test_jobs_are_found_by_state_handler_and_name(store):
    async def make(**values):
        return (await store.jobs.create_job(NewJob(**{"handler": "h", "source": "s", **values}))).id

    first = await make(name="Prices MÄRZ", owner="ann", reading={"format": "csv"})
    second = await make(handler="g", file="prices_april.xlsx", owner="ann")
    third = await make(name="100% other", owner="bob")
    await store.jobs.move_job(second, JobMove.CANCEL)

    async def found(**filters):
        return [job.id for job in await store.reads.jobs(JobQuery(**filters))]

    assert await found(owner="ann") == [second, first]
    assert await found(states=frozenset({JobState.INGESTING})) == [third, first]
    assert await found(handler="g") == [second]
    assert await found(text="PRICES") == [second, first]
    assert await found(text="märz") == [first]
    assert await found(text="s_a") == [second]
    assert await found(text="%") == [third]
    assert await found(read_by_server=True) == [first]
    assert await found(text="prices", after_id=second) == [first]


async def test_events_are_read_in_either_order_and_by_owner(store):
    ann = await a_job(store, factories.rows(1))
    bob = await a_job(store, factories.rows(1), "bob")
    await store.jobs.record_event("note", "nobody's")

    async def ids(**filters):
        return [event.id for event in await store.reads.events(EventQuery(**filters))]

    everything = await ids()
    assert everything == sorted(everything)
    assert await ids(newest_first=True) == everything[::-1]
    assert await ids(newest_first=True, limit=2, after_id=everything[-1]) == everything[-2:-4:-1]
    mine = await ids(owner="ann")
    assert mine == await ids(job_id=ann.id) == await ids(job_id=ann.id, owner="ann")
    assert await ids(owner="ann", newest_first=True, limit=1) == mine[-1:]
    assert await ids(owner="ann", after_id=mine[0]) == mine[1:]
    assert await ids(job_id=ann.id, newest_first=True, after_id=mine[1]) == mine[:1]
    assert await ids(job_id=ann.id, owner="bob") == []
    assert not set(await ids(owner="bob")) & set(mine)
    await factories.remove(store, bob.id)
    last = (await store.reads.events(EventQuery(owner="bob", newest_first=True)))[0]
    assert last.kind == "job_deleted"
