"""What operators do to gates, on a real ledger that others use at the same time."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import msgspec
import pytest

from headgate.core.errors import StoreMismatch
from headgate.core.gates.config import GateLimits
from headgate.core.gates.shared_limiter import SharedLimiter
from headgate.core.gates.state import GateState
from headgate.core.gates.view import GateView
from headgate.core.rate import Ceilings
from headgate.engine.gate_control import GateControl, read_gates
from headgate.ports.limits import LimitLedger, Proposal
from headgate.ports.reads import EventQuery
from headgate.ports.store import Store
from headgate.stores.postgres.store import PostgresStore
from headgate.stores.sqlite.store import SqliteStore

KEY = "provider:wikidata"
NOTHING = GateLimits({})


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def client(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Store]:
    """Another client of the same database, as often as it is called."""
    if request.param == "sqlite":
        return lambda: SqliteStore(tmp_path / "headgate.db")
    url = request.getfixturevalue("postgres_url")
    return lambda: PostgresStore(url)


@pytest.fixture
async def store(client: Callable[[], Store]) -> AsyncIterator[Store]:
    async with client() as store:
        yield store


async def look(store: Store, key: str = KEY) -> GateView:
    reading = await read_gates(store.limits, NOTHING, [key])
    return reading.views[0]


async def work(ledger: LimitLedger, share: SharedLimiter, tries: int = 20) -> None:
    """One exchange of a process that is at work."""
    for _ in range(tries):
        report = await ledger.exchange((), [KEY])
        entry = report.entries[0]
        state = msgspec.json.decode(entry.state, type=GateState) if entry.state else None
        merged = share.merge(state, report.now_s)
        text = msgspec.json.encode(merged).decode()
        report = await ledger.exchange([Proposal(KEY, entry.version, text)], [KEY])
        if KEY in report.accepted:
            share.accepted(merged, report.now_s)
            return
    raise AssertionError("somebody else was always faster")


async def test_a_rate_can_be_set_before_the_first_request(store: Store):
    await GateControl(store, NOTHING).set_rate([KEY], 5.0)
    view = await look(store)
    assert (view.now_per_s, view.replies) == (5.0, 0)
    assert view.override is not None
    assert view.override.until is None


async def test_a_process_obeys_an_override(store: Store):
    share = SharedLimiter("w1", Ceilings())
    await work(store.limits, share)
    await GateControl(store, NOTHING).set_rate([KEY], 0.25, for_s=3_600)
    await work(store.limits, share)
    now_s = (await store.limits.exchange((), [])).now_s
    assert share.rate(now_s) == 0.25
    await GateControl(store, NOTHING).pause([KEY])
    await work(store.limits, share)
    assert share.closed_until == float("inf")
    assert await GateControl(store, NOTHING).resume([KEY]) == [KEY]
    await work(store.limits, share)
    assert share.closed_until < now_s
    assert (await look(store)).now_per_s == pytest.approx(10.0)


async def test_the_other_processes_are_notified_immediately(
    store: Store, client: Callable[[], Store]
):
    async with client() as listener:
        await listener.limits.wait_urgent(0.0)
        heard = asyncio.create_task(listener.limits.wait_urgent(30.0))
        await GateControl(store, NOTHING).pause([KEY], for_s=60)
        assert await heard


async def test_the_last_override_applies_and_ends_by_itself(store: Store):
    control = GateControl(store, NOTHING)
    await control.set_rate([KEY], 5.0)
    await control.pause([KEY], for_s=90)
    view = await look(store)
    assert view.override is not None
    assert (view.override.rate, view.override.paused, view.closed) == (None, True, True)
    now_s = (await store.limits.exchange((), [])).now_s
    assert view.closed_until == pytest.approx(now_s + 90, abs=30)


async def test_an_override_survives_concurrent_exchanges(store: Store):
    share = SharedLimiter("w1", Ceilings())
    for _ in range(5):
        share.gate(0.0, 0)
        share.on_send(0.0, 1)

    async def busy() -> None:
        for _ in range(20):
            await work(store.limits, share)

    async with asyncio.TaskGroup() as group:
        group.create_task(busy())
        for number in range(8):
            group.create_task(GateControl(store, NOTHING).set_rate([KEY], float(number + 1)))
    view = await look(store)
    assert view.override is not None
    assert view.override.rate in {float(number + 1) for number in range(8)}
    assert set(view.members) == {"w1"}
    events = [event.message for event in await store.reads.events(EventQuery())]
    assert sorted(events) == sorted(f"{KEY}: set to {number + 1}/s" for number in range(8))


async def test_several_gates_at_once(store: Store):
    keys = ["credential:pool/a", "credential:pool/b"]
    await GateControl(store, NOTHING).set_rate(keys, 2.0)
    assert [(await look(store, key)).now_per_s for key in keys] == [2.0, 2.0]


async def test_resume_changes_only_gates_with_an_override(store: Store):
    await work(store.limits, SharedLimiter("w1", Ceilings()))
    before = (await store.limits.entries())[0].version
    assert await GateControl(store, NOTHING).resume([KEY, "host:never.org"]) == []
    assert [entry.version for entry in await store.limits.entries()] == [before]


async def test_forgetting(store: Store):
    control = GateControl(store, NOTHING)
    await control.set_rate([KEY], 5.0)
    assert await control.forget([KEY, "host:never.org"]) == [KEY]
    assert not (await look(store)).asked
    await control.set_rate([KEY], 6.0)
    assert (await look(store)).now_per_s == 6.0


async def test_a_state_that_cannot_be_read_says_how_to_start_over(store: Store):
    await store.limits.exchange([Proposal(KEY, 0, '{"pace": 7}')], [])
    with pytest.raises(StoreMismatch, match="headgate providers forget provider:wikidata"):
        await look(store)
    assert await GateControl(store, NOTHING).forget([KEY]) == [KEY]
