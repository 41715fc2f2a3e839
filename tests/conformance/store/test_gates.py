"""Items that have gates of their own are claimed gate by gate, and closed gates keep theirs."""

from collections import Counter

import msgspec
import pytest

from headgate.core.fault import FaultClass
from headgate.core.item import NewItem
from headgate.core.job import NewJob
from headgate.core.retry import RetryDecision
from headgate.core.settlement import settle
from headgate.core.status import ItemStatus
from headgate.ports.items import ClaimRequest, EnqueueRequest, GateFilter, SettleRequest
from headgate.ports.reads import ItemQuery
from tests.kit import factories


async def gated_job(store, **items_at):
    """A job with a number of items at each gate, one gate after the other in the input."""
    made = await store.jobs.create_job(NewJob("fetch", "urls.csv"))
    gates = [gate for gate, count in items_at.items() for _ in range(count)]
    rows = [NewItem(str(line), "{}", line, gate=gate) for line, gate in enumerate(gates, 1)]
    await store.items.enqueue_many(EnqueueRequest(made.id, rows))
    return await store.jobs.complete_ingest(made.id, ())


async def claim_open(store, job, who, limit=100, retries=0, **gates):
    request = ClaimRequest(who, job.id, limit, 60.0, gates=GateFilter(**gates), retries=retries)
    return await store.items.claim(request)


async def test_a_closed_gate_keeps_its_items(store):
    job, who = await gated_job(store, a=50, b=3, c=2), await factories.worker(store)
    claimed = await claim_open(store, job, who, closed=("a",))
    assert Counter(item.gate for item in claimed) == {"b": 3, "c": 2}
    assert await claim_open(store, job, who, closed=("a",)) == []
    assert len(await claim_open(store, job, who)) == 50


async def test_gates_share_a_claim(store):
    job, who = await gated_job(store, a=50, b=50, c=50), await factories.worker(store)
    claimed = await claim_open(store, job, who, 9)
    assert Counter(item.gate for item in claimed) == {"a": 3, "b": 3, "c": 3}
    assert len(await claim_open(store, job, who, 10)) == 10


async def test_each_gate_gives_its_items_in_input_order(store):
    job, who = await gated_job(store, b=3, a=2), await factories.worker(store)
    claimed = await claim_open(store, job, who)
    assert [(item.gate, item.key) for item in claimed] == [
        ("a", "4"),
        ("a", "5"),
        ("b", "1"),
        ("b", "2"),
        ("b", "3"),
    ]


async def test_a_claim_starts_behind_the_gate_it_is_told(store):
    job, who = await gated_job(store, a=2, b=2, c=2), await factories.worker(store)
    assert {item.gate for item in await claim_open(store, job, who, 2, after="a")} == {"b", "c"}


async def test_behind_the_last_gate_comes_the_first(store):
    job = await gated_job(store, a=9, b=9, c=9, d=9)
    who = await factories.worker(store)
    claimed = await claim_open(store, job, who, 9, after="c", closed=("a",))
    assert Counter(item.gate for item in claimed) == {"d": 3, "b": 3, "c": 3}
    for after in ("d", "e"):
        claimed = await claim_open(store, job, who, 4, after=after)
        assert Counter(item.gate for item in claimed) == {"a": 1, "b": 1, "c": 1, "d": 1}


async def test_a_claim_visits_a_bounded_number_of_open_gates(store):
    many = {f"gate-{number:03d}": 1 for number in range(ClaimRequest.GATES + 5)}
    job, who = await gated_job(store, **many), await factories.worker(store)
    closed = ("gate-000", "gate-001")
    claimed = await claim_open(store, job, who, 1_000, closed=closed)
    assert len(claimed) == ClaimRequest.GATES
    rest = await claim_open(store, job, who, 1_000, closed=closed, after=claimed[-1].gate)
    assert len(rest) == 3


async def test_a_claim_that_goes_round_visits_no_gate_twice(store):
    many = {f"gate-{number:03d}": 9 for number in range(ClaimRequest.GATES - 4)}
    job, who = await gated_job(store, **many), await factories.worker(store)
    claimed = await claim_open(store, job, who, len(many), after="gate-050")
    assert Counter(item.gate for item in claimed) == dict.fromkeys(many, 1)


async def test_items_without_a_gate_follow_those_of_open_gates(store):
    job, who = await gated_job(store, a=3, **{"": 4}), await factories.worker(store)
    claimed = await claim_open(store, job, who, 5, closed=("b",))
    assert [item.gate for item in claimed] == ["a", "a", "a", "", ""]
    claimed = await claim_open(store, job, who, 5)
    assert [(item.gate, item.key) for item in claimed] == [("", "6"), ("", "7")]
    assert await claim_open(store, job, who, 5) == []


async def test_items_without_a_gate_are_found_behind_those_of_a_closed_one(store):
    job, who = await gated_job(store, a=50, **{"": 2}), await factories.worker(store)
    claimed = await claim_open(store, job, who, 10, closed=("a",))
    assert [item.key for item in claimed] == ["51", "52"]


async def test_retries_and_fresh_rows_share_the_place_of_each_gate(store, place):
    job, who = await gated_job(store, a=8, b=8), await factories.worker(store)
    await put_off(store, who, await claim_open(store, job, who, 8))
    place.pass_time(11)
    claimed = await claim_open(store, job, who, 8, retries=2)
    assert Counter((item.gate, item.attempts) for item in claimed) == {
        ("a", 0): 3,
        ("a", 1): 1,
        ("b", 0): 3,
        ("b", 1): 1,
    }
    (fresh,) = await claim_open(store, job, who, 1, after="a", closed=("b",))
    (retry,) = await claim_open(store, job, who, 1, retries=1, after="a", closed=("b",))
    assert [(item.gate, item.attempts) for item in (fresh, retry)] == [("a", 0), ("a", 1)]
    assert len(await claim_open(store, job, who, 100, retries=1)) == 6


async def test_retries_of_many_gates_are_not_more_than_asked_for(store, place):
    many = {f"gate-{number}": 2 for number in range(8)}
    job, who = await gated_job(store, **many), await factories.worker(store)
    await put_off(store, who, await claim_open(store, job, who, 8))
    place.pass_time(11)
    claimed = await claim_open(store, job, who, 8, retries=2)
    assert sum(item.attempts for item in claimed) == 2


async def put_off(store, who, items):
    """These fail, and are due again after ten seconds."""
    later = RetryDecision(
        ItemStatus.PENDING, "retry", failed=True, due_in_us=10**7, error_class="transient"
    )
    await store.items.settle_many(SettleRequest(who, [settle(item, later) for item in items]))


async def test_items_that_are_not_due_stay(store):
    job, who = await gated_job(store, a=1, b=1), await factories.worker(store)
    items = await claim_open(store, job, who)
    later = RetryDecision(
        ItemStatus.PENDING, "throttled", counted=False, throttled=True, due_in_us=10**9
    )
    await store.items.settle_many(SettleRequest(who, [settle(items[0], later)]))
    await store.items.release(who, [])
    assert await claim_open(store, job, who) == []


async def test_without_a_filter_gates_do_not_matter(store):
    job, who = await gated_job(store, b=2, a=2), await factories.worker(store)
    claimed = await factories.claim(store, job.id, who)
    assert [item.key for item in claimed] == ["1", "2", "3", "4"]
    assert [item.gate for item in claimed] == ["b", "b", "a", "a"]
    assert [item.gate for item in await store.items.leases_of(who)] == ["b", "b", "a", "a"]


async def test_a_hand_back_names_the_gate_that_the_item_waits_for(store):
    job, who = await factories.job(store, 2), await factories.worker(store)
    items = await factories.claim(store, job.id, who)
    closed = RetryDecision(ItemStatus.PENDING, "throttled", counted=False, throttled=True)
    back = [
        msgspec.structs.replace(settle(items[0], closed), gate="host:slow.example"),
        settle(items[1], closed),
    ]
    await store.items.settle_many(SettleRequest(who, back))
    assert (await store.reads.item(items[0].id)).row.gate == "host:slow.example"
    assert (await store.reads.item(items[1].id)).row.gate == ""
    again = await claim_open(store, job, who)
    assert [item.id for item in again] == [items[0].id, items[1].id]


@pytest.mark.parametrize("text", ['[[1,"GET"]]', '["ü\\n\\t\\"quoted\\" \\\\ back"]'])
async def test_an_attempt_keeps_its_calls(store, text):
    job, who = await factories.job(store, 2), await factories.worker(store)
    items = await factories.claim(store, job.id, who)
    gone = RetryDecision(ItemStatus.ERROR, "error", error_class=FaultClass.PERMANENT, reason="no")
    with_calls = msgspec.structs.replace(settle(items[0], gone), calls=text)
    await store.items.settle_many(SettleRequest(who, [with_calls, settle(items[1], gone)]))
    (first,) = await store.reads.attempts(items[0].id)
    (second,) = await store.reads.attempts(items[1].id)
    assert (first.calls, second.calls) == (text, None)


async def test_the_calls_of_a_job_are_read_page_by_page_in_input_order(store):
    job, who = await factories.job(store, 5), await factories.worker(store)
    other = await factories.job(store, 1)
    for each in (job, other):
        items = await factories.claim(store, each.id, who)
        await store.items.settle_many(SettleRequest(who, [_called(item) for item in items]))
    texts: list[str] = []
    page = await store.reads.calls(job.id, 0, 2)
    while page.next_after_id is not None:
        texts += page.texts
        page = await store.reads.calls(job.id, page.next_after_id, 2)
    assert texts == [
        f'["{item.key}"]'
        for item in (await store.reads.items(ItemQuery(job.id))).items
        if item.key != "key-3"
    ]


def _called(item):
    ended = settle(item, RetryDecision(ItemStatus.NOT_FOUND, "not_found", reason="no"))
    calls = None if item.key == "key-3" else f'["{item.key}"]'
    return msgspec.structs.replace(ended, calls=calls)
