"""Commands and API say the same of a job that no worker, a pause or the reading holds."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from headgate.app.api.job_readings import LimitCache
from headgate.app.cli.jobs import next_steps
from headgate.app.cli.progress import limit_finder, limit_text
from headgate.app.cli.trial import Trial
from headgate.app.local import LocalItems, LocalJobs
from headgate.app.schema_values import wait_view
from headgate.core.fault import FaultClass
from headgate.core.gates.config import GateLimits
from headgate.core.gates.wait import WaitKind
from headgate.core.job import NewJob
from headgate.core.retry import RetryDecision, RetryPolicy
from headgate.core.settlement import settle
from headgate.core.status import ItemStatus, JobMove
from headgate.core.worker import WorkerInfo
from headgate.engine.gate_control import JobGates
from headgate.engine.why import LimitedBy
from headgate.engine.why import limit_of_job as engine_limit_of
from headgate.ports.items import EnqueueRequest, SettleRequest
from headgate.stores.sqlite.store import SqliteStore
from headgate.testing import FakeClock
from tests.kit import factories


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    async with SqliteStore(tmp_path / "headgate.db") as store:
        yield store


async def agreed(store: Any, job_id: int, item_id: int = 1) -> LimitedBy:
    """What all of them say."""
    limits = GateLimits({})
    job = await store.reads.job(job_id)
    by_command = await LocalJobs(store, limits, RetryPolicy()).account(job_id)
    by_api = await LimitCache(store, limits, FakeClock(), {}).limit_of(job)
    by_progress = await engine_limit_of(store, JobGates(store, limits, job_id), job_id)
    of_item = await LocalItems(store, limits).why(item_id)
    assert by_command.limit == wait_view(by_api.wait) == wait_view(by_progress.wait)
    assert of_item.waiting is not None
    assert by_api.wait is not None
    assert of_item.waiting.kind == by_api.wait.kind
    return by_progress


async def test_no_worker_is_there(store: SqliteStore):
    job = await factories.job(store, 2)
    limit = await agreed(store, job.id)
    assert limit.wait is not None
    assert limit.wait.kind is WaitKind.WORKER
    assert limit_text(limit, 0) == "no worker is running; start one with: headgate worker"


async def test_the_progress_of_a_command_says_that_its_worker_is_starting(store: SqliteStore):
    job = await factories.job(store, 2)
    gates = JobGates(store, GateLimits({}), job.id)
    limit = await limit_finder(store, gates, job.id, Trial(store.rows).counts)()
    assert limit_text(limit, 0) == "a worker process is starting"


async def test_the_progress_of_a_few_chosen_rows_names_what_these_wait_for(store: SqliteStore):
    job, who = await factories.job(store, 5), await factories.worker(store)
    trial = Trial(store.rows, limit=2)
    await trial.choose(job.id, 5)
    find = limit_finder(store, JobGates(store, GateLimits({}), job.id), job.id, trial.counts)
    put_off = RetryDecision(
        ItemStatus.PENDING,
        "deferred",
        counted=False,
        due_in_us=60_000_000,
        error_class=FaultClass.DEFERRED,
        reason="come back later",
    )
    chosen = await factories.claim(store, job.id, who, limit=2)
    settlements = [settle(item, put_off) for item in chosen]
    await store.items.settle_many(SettleRequest(who, settlements))
    wait = (await find()).wait
    assert wait is not None
    assert wait.why == "2 rows wait because the handler asked to try later"


async def test_a_worker_for_other_jobs_only_does_not_count(store: SqliteStore):
    job = await factories.job(store, 2)
    info = WorkerInfo("w-1", "session", "host", "boot", 1, 1, "0.1", 10.0, (job.id + 1,))
    await store.jobs.register(info)
    await agreed(store, job.id)
    account = await LocalJobs(store, GateLimits({}), RetryPolicy()).account(job.id)
    assert account.limit is not None
    assert account.limit.kind == WaitKind.WORKER
    assert next_steps(account)


async def test_no_command_is_advised_while_one_works(store: SqliteStore):
    job = await factories.job(store, 2)
    await factories.worker(store)
    account = await LocalJobs(store, GateLimits({}), RetryPolicy()).account(job.id)
    assert account.at_work
    assert next_steps(account) == []
    idle = next_steps(replace(account, at_work=False))
    assert [text for text, _ in idle] == [f"headgate worker --jobs {job.id} --drain"]


async def test_a_pause(store: SqliteStore):
    job = await factories.job(store, 2)
    await store.jobs.move_job(job.id, JobMove.PAUSE, "lunch")
    limit = await agreed(store, job.id)
    assert limit_text(limit, 0) == f"job {job.id} is paused (lunch)"


async def test_a_file_that_is_being_read(store: SqliteStore):
    job = await store.jobs.create_job(NewJob("h", "s"))
    await store.items.enqueue_many(EnqueueRequest(job.id, factories.rows(3)))
    limit = await agreed(store, job.id)
    assert limit_text(limit, 0) == "reading the file… 3 rows read"
    account = await LocalJobs(store, GateLimits({}), RetryPolicy()).account(job.id)
    assert next_steps(account) == []


async def test_other_jobs_come_first(store: SqliteStore):
    job, other = await factories.job(store, 2), await factories.job(store, 2)
    who = await factories.worker(store)
    await factories.claim(store, other.id, who)
    limit = await agreed(store, job.id)
    assert limit.wait is not None
    assert limit.wait.kind is WaitKind.TURN
