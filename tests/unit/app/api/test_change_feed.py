"""Listeners hear of a new cause, rate or estimate also while the counters stand still."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from headgate.app.api.change_feed import ChangeFeed, Topic
from headgate.app.api.job_readings import LimitCache
from headgate.app.api.monitor import Monitor
from headgate.app.settings import Settings
from headgate.stores.sqlite.store import SqliteStore
from headgate.testing import FakeClock
from tests.kit import factories


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    async with SqliteStore(tmp_path / "headgate.db") as store:
        yield store


class PartialState:
    """What a change feed is made from."""

    def __init__(self, store: SqliteStore) -> None:
        self.store = store
        self.clock = FakeClock()
        self.settings = Settings(providers={})
        self.limit_cache = LimitCache(store, self.settings.gate_limits, self.clock, {})
        self.monitor = Monitor(store, self.clock)


async def told(news: ChangeFeed) -> list[Any]:
    """The causes in what is told at one look."""
    messages = [message async for message in news._changes()]
    return [json.loads(data)["limitedBy"] for kind, _, data in messages if kind == "counters"]


async def test_a_listener_without_access_gets_no_more_events(store: SqliteStore):
    app_state: Any = PartialState(store)
    rights = [True, True, False]

    async def may_read() -> bool:
        return rights.pop(0)

    news = ChangeFeed(app_state, Topic(None, None, gates=False), may_read)
    heard: list[str] = []

    async def listen() -> None:
        heard.extend([kind async for kind, _, _ in news.messages(None)])

    listening = asyncio.ensure_future(listen())
    for _ in range(3 * round(ChangeFeed.CHECK_PERIOD_S / ChangeFeed.PERIOD_S)):
        await app_state.clock.until_asleep()
        assert not listening.done()
        await app_state.clock.advance(ChangeFeed.PERIOD_S)
    await listening
    assert rights == []
    assert heard == ["hello"]


@pytest.mark.parametrize(("of_job", "patience_s"), [(True, 1.0), (False, 5.0)])
async def test_a_worker_that_comes_changes_the_cause(store: SqliteStore, of_job, patience_s):
    job = await factories.job(store, 3)
    app_state: Any = PartialState(store)
    news = ChangeFeed(app_state, Topic(job.id if of_job else None, None, gates=False))
    (first,) = await told(news)
    assert first["kind"] == "worker"
    await app_state.clock.advance(patience_s)
    assert await told(news) == [], "nothing is new"
    await factories.worker(store)
    await app_state.clock.advance(patience_s)
    (second,) = await told(news)
    assert second["why"] == "a worker is running, but it has not taken a row yet"
