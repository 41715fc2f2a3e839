"""Every verb of every store passes the observer."""

import inspect
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from headgate.core.errors import UnknownJob
from headgate.core.item import ClaimedItem, NewItem
from headgate.core.job import NewJob
from headgate.core.settlement import Settlement
from headgate.core.status import JobMove
from headgate.core.user import Role
from headgate.engine.clock import SystemClock
from headgate.engine.observed import (
    ObservedItems,
    ObservedJobs,
    ObservedLimits,
    ObservedStore,
)
from headgate.ports.access import NewUser
from headgate.ports.items import EnqueueRequest, ItemStore
from headgate.ports.jobs import JobStore
from headgate.ports.limits import LedgerEntry, LimitLedger, Proposal
from headgate.ports.reads import JobQuery
from headgate.stores.sqlite.store import SqliteStore


class Spy:
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.verbs: list[tuple[str, int, str | None]] = []
        self.news: list[tuple[str, dict[str, object]]] = []

    def verb(self, name: str, seconds: float, rows: int, error: BaseException | None) -> None:
        assert seconds >= 0
        self.verbs.append((name, rows, type(error).__name__ if error else None))

    def started(self, item: ClaimedItem, handler: str) -> None:
        raise AssertionError

    def ended(self, item: ClaimedItem, handler: str, settlement: Settlement) -> None:
        raise AssertionError

    def changed(self, what: str, **facts: object) -> None:
        self.news.append((what, facts))


@pytest.fixture
def spy() -> Spy:
    return Spy()


@pytest.fixture
async def store(tmp_path: Path, spy: Spy) -> AsyncIterator[ObservedStore]:
    inside = SqliteStore(tmp_path / "headgate.db")
    async with ObservedStore(inside, spy, SystemClock()) as store:
        yield store


@pytest.mark.parametrize(
    ("wrapper", "port"),
    [(ObservedItems, ItemStore), (ObservedJobs, JobStore), (ObservedLimits, LimitLedger)],
)
def test_every_verb_is_observed(wrapper: type, port: type):
    verbs = {name for name, _ in inspect.getmembers(port, inspect.isfunction) if name[0] != "_"}
    assert verbs <= set(vars(wrapper))


async def test_a_verb_is_reported_with_its_rows(store: ObservedStore, spy: Spy):
    job = await store.jobs.create_job(NewJob("price", "products.csv"))
    items = [NewItem("a", "{}"), NewItem("b", "{}")]
    await store.items.enqueue_many(EnqueueRequest(job.id, items))
    assert spy.verbs == [("create_job", 0, None), ("enqueue_many", 2, None)]
    assert spy.news == [("job state", {"job": job.id, "state": "INGESTING"})]


async def test_a_failed_verb_is_reported_and_still_fails(store: ObservedStore, spy: Spy):
    with pytest.raises(UnknownJob):
        await store.jobs.move_job(99, JobMove.PAUSE)
    assert spy.verbs == [("move_job", 0, "UnknownJob")]
    assert spy.news == []


async def test_changes_of_limits_are_reported_and_reads_are_not(store: ObservedStore, spy: Spy):
    proposals = [Proposal("a", 0, "x"), Proposal("b", 4, "late")]
    assert (await store.limits.exchange(proposals, [])).accepted == {"a"}
    assert await store.limits.entries() == [LedgerEntry("a", 1, "x")]
    assert await store.limits.wait_urgent(0.0)
    assert await store.limits.forget("a")
    assert not await store.limits.forget("a")
    assert spy.verbs == [("exchange", 1, None), ("forget", 1, None), ("forget", 0, None)]
    assert spy.news == [("gate forgotten", {"gate": "a"})]


async def test_people_and_exports_pass_through(store: ObservedStore, spy: Spy):
    await store.access.add_user(NewUser("ann", Role.USER))
    assert await store.exports.exports_to_make(1) == []
    assert spy.verbs == []


async def test_reads_and_upkeep_pass_through(store: ObservedStore, spy: Spy, tmp_path: Path):
    assert await store.reads.jobs(JobQuery()) == []
    assert await store.migrate() == []
    await store.backup(str(tmp_path / "copy.db"))
    assert (tmp_path / "copy.db").exists()
    assert spy.verbs == []
