"""One reading of a job's gates serves all concurrent callers, and is always complete."""

import asyncio
from pathlib import Path

import pytest

from headgate.app.api.job_readings import LimitCache
from headgate.core.gates.config import GateLimits
from headgate.stores.sqlite.store import SqliteStore
from headgate.testing import FakeClock
from tests.kit import factories


async def test_concurrent_callers_share_one_reading(tmp_path: Path):
    async with SqliteStore(tmp_path / "headgate.db") as store:
        job = await factories.job(store, 1)
        limit_cache = LimitCache(store, GateLimits({}), FakeClock(), {})
        first, *others = await asyncio.gather(*(limit_cache.read(job.id) for _ in range(5)))
        assert first is not None
        assert all(other is first for other in others)


async def test_a_caller_that_is_cancelled_does_not_cancel_the_others(tmp_path: Path):
    async with SqliteStore(tmp_path / "headgate.db") as store:
        job = await factories.job(store, 1)
        limit_cache = LimitCache(store, GateLimits({}), FakeClock(), {})
        gone = asyncio.ensure_future(limit_cache.read(job.id))
        other = asyncio.ensure_future(limit_cache.read(job.id))
        await limit_cache.gates_of(job.id)  # by now both have begun
        gone.cancel()
        assert await other is not None
        with pytest.raises(asyncio.CancelledError):
            await gone


async def test_a_job_that_is_gone_has_no_gates(tmp_path: Path):
    async with SqliteStore(tmp_path / "headgate.db") as store:
        assert await LimitCache(store, GateLimits({}), FakeClock(), {}).read(4711) is None


async def test_a_user_does_not_see_the_gates_of_others(tmp_path: Path):
    """The same worker serves both."""
    async with SqliteStore(tmp_path / "headgate.db") as store:
        who = await factories.worker(store)
        await factories.gate(store, "host:secret.example", who)
        await factories.gate(store, "provider:shop", who)
        job = await factories.job(store, 1)
        await factories.claim(store, job.id, who, 1)
        nobody = LimitCache(store, GateLimits({}), FakeClock(), {})
        shop = LimitCache(store, GateLimits({}), FakeClock(), {job.handler: "shop"})
        assert [await names(nobody, job.id), await names(shop, job.id)] == [[], ["shop"]]


async def names(limit_cache: LimitCache, job_id: int) -> list[str]:
    reading = await limit_cache.read(job_id)
    assert reading is not None
    return [view.name for view in reading.views]
