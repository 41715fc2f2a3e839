"""What a worker says while it works."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from headgate.app.cli.output import Output
from headgate.app.cli.progress import LINE_S
from headgate.app.cli.worker_progress import WorkerProgress
from headgate.core.gates.config import GateLimits
from headgate.stores.sqlite.store import SqliteStore
from headgate.testing import FakeClock
from tests.kit import factories


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    async with SqliteStore(tmp_path / "headgate.db") as store:
        yield store


async def test_a_line_every_few_seconds_while_something_changes(store: SqliteStore):
    job, who = await factories.job(store, 20), await factories.worker(store)
    working = WorkerProgress(Output(), FakeClock(), store, GateLimits({}), None)
    first = await working._words()
    assert first == f"job {job.id} · 0 finished · 20 left"
    items = await factories.claim(store, job.id, who, 4)
    await factories.finish(store, who, items[:3])
    assert (await working._words()).startswith(f"job {job.id} · 3 finished · 17 left")


async def test_the_work_of_jobs_that_have_ended_counts(store: SqliteStore):
    short, long = await factories.job(store, 2), await factories.job(store, 9)
    who = await factories.worker(store)
    working = WorkerProgress(Output(), FakeClock(), store, GateLimits({}), None)
    assert (await working._words()).startswith("2 jobs · 0 finished · 11 left")
    await factories.finish(store, who, await factories.claim(store, short.id, who))
    await store.jobs.finish_job(short.id)
    assert (await working._words()).startswith(f"job {long.id} · 2 finished · 9 left")


async def test_no_line_is_repeated_and_none_is_printed_without_work(store: SqliteStore, capsys):
    clock = FakeClock()
    working = WorkerProgress(Output(), clock, store, GateLimits({}), None)
    working._show(await working._words())
    job = await factories.job(store, 1)
    for _ in range(3):
        await clock.advance(LINE_S)
        working._show(await working._words())
    assert capsys.readouterr().err == f"job {job.id} · 0 finished · 1 left · 0/s\n"
