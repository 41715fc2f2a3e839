"""A pass is begun, resumed or given up; a mirror has one unfinished pass at a time."""

from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest

from headgate.core.errors import UsageError
from headgate.core.item import NewItem
from headgate.core.mirror import PassMode
from headgate.core.status import ItemStatus, JobState
from headgate.engine.clock import SystemClock
from headgate.engine.job_control import JobControl
from headgate.engine.passes import Passes, PassOrder, PassSource
from headgate.ports.mirrors import NewCheckpoint, PassPlan, PassWish, StreamState
from headgate.stores.sqlite import SqliteStore
from tests.kit import factories
from tests.kit.mirrors import PassRun, rows

DAY_US = 86_400 * 1_000_000


class LateClock(SystemClock):
    """The time of the system, and some more."""

    late_us = 0

    def now(self) -> int:
        return super().now() + self.late_us


def plan(states: Mapping[str, StreamState], wish: PassWish) -> PassPlan:
    known = states.get("people", StreamState()).watermark
    since = None if wish.full else wish.since or known
    mode = PassMode.FULL if since is None else PassMode.INCREMENTAL
    checkpoint = NewCheckpoint("people", "people", {}, "", mode, since)
    return PassPlan([checkpoint], [NewItem("people/first", "{}", checkpoint="people")])


def source(digest: str = "one", rate: str = "") -> PassSource:
    return PassSource("books", {}, digest, "extract", {"rate": rate}, plan)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    async with SqliteStore(tmp_path / "headgate.db") as store:
        yield store


@pytest.fixture
def clock() -> LateClock:
    return LateClock()


@pytest.fixture
def passes(store: SqliteStore, clock: LateClock) -> Passes:
    return Passes(store, clock)


async def complete(store: SqliteStore, passes: Passes, *, deletes: bool = True) -> int:
    """A whole pass with a watermark."""
    job = (await passes.begin(source(), PassOrder())).job
    run = PassRun(store, job, await factories.worker(store))
    (page,) = await run.claim(1)
    await run.settle(page, rows=rows(1))
    await run.close(watermark="2026", deletes=deletes)
    await store.jobs.finish_job(job.id)
    return job.id


async def mode(store: SqliteStore, job_id: int) -> PassMode:
    (checkpoint,) = await store.mirrors.checkpoints(job_id)
    return checkpoint.mode


async def test_after_a_complete_pass_the_next_lists_what_has_changed(store, passes):
    first = await complete(store, passes)
    begun = await passes.begin(source(), PassOrder())
    assert (begun.is_resumed, begun.job.id > first) == (False, True)
    assert await mode(store, begun.job.id) is PassMode.INCREMENTAL


async def test_another_description_is_listed_in_full(store, passes):
    await complete(store, passes)
    begun = await passes.begin(source("two"), PassOrder())
    assert begun.has_changed
    assert await mode(store, begun.job.id) is PassMode.FULL


async def test_another_description_stays_to_be_listed_in_full_if_its_pass_was_cancelled(
    store, passes
):
    await complete(store, passes)
    begun = await passes.begin(source("two"), PassOrder())
    await JobControl(store).cancel(begun.job.id, "an operator", "enough")
    again = await passes.begin(source("two"), PassOrder())
    assert not again.is_resumed
    assert await mode(store, again.job.id) is PassMode.FULL


async def test_a_full_listing_that_deletes_nothing_counts_as_one(store, passes):
    await complete(store, passes, deletes=False)
    begun = await passes.begin(source(), PassOrder())
    assert await mode(store, begun.job.id) is PassMode.INCREMENTAL


async def test_an_unfinished_pass_is_resumed_with_the_config_of_today(store, passes):
    first = (await passes.begin(source(), PassOrder())).job
    again = await passes.begin(source(rate="1/s"), PassOrder())
    assert (again.is_resumed, again.job.id) == (True, first.id)
    assert again.job.config == {"rate": "1/s"}


async def test_failed_pages_are_tried_again(store, passes):
    job = (await passes.begin(source(), PassOrder())).job
    run = PassRun(store, job, await factories.worker(store))
    (page,) = await run.claim(1)
    await run.settle(page, ItemStatus.ERROR)
    await store.jobs.finish_job(job.id)
    again = await passes.begin(source(), PassOrder())
    assert (again.job.id, again.retried, again.job.state) == (job.id, 1, JobState.QUEUED)


@pytest.mark.parametrize("why", ["new", "old", "changed"])
async def test_a_pass_that_cannot_be_resumed_is_given_up(store, passes, clock, why):
    first = (await passes.begin(source(), PassOrder())).job
    clock.late_us = 2 * DAY_US if why == "old" else 0
    digest = "two" if why == "changed" else "one"
    begun = await passes.begin(source(digest), PassOrder(new=why == "new"))
    assert (begun.given_up, begun.is_resumed) == (first.id, False)
    assert begun.reason
    assert (await store.reads.job(first.id)).state is JobState.CANCELLED


async def test_a_pass_at_work_is_not_given_up(store, passes):
    first = (await passes.begin(source(), PassOrder())).job
    await factories.worker(store)
    with pytest.raises(UsageError, match=f"pass {first.id} is at work"):
        await passes.begin(source(), PassOrder(new=True))
    assert (await store.reads.job(first.id)).state is JobState.QUEUED


async def test_other_options_than_those_of_an_unfinished_pass_are_refused(store, passes):
    await passes.begin(source(), PassOrder(PassWish(full=True)))
    with pytest.raises(UsageError, match="with --full"):
        await passes.begin(source(), PassOrder(PassWish(("people",))))
    assert (await passes.begin(source(), PassOrder())).is_resumed


async def test_a_plan_stores_nothing(store, passes):
    assert len((await passes.plan(source(), PassOrder())).items) == 1
    assert await store.mirrors.mirrors() == []
