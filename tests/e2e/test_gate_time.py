"""Waiting at a gate costs a row neither time nor an attempt, even with a short `timeout`."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from headgate.core.fault import FaultClass
from headgate.core.item import Item
from headgate.core.status import ItemStatus
from headgate.engine.policy import WorkerPolicy
from headgate.net import blocking, cache, stack, wire
from headgate.ports.handler import Context, HandlerSpec
from headgate.ports.reads import ItemQuery
from headgate.stores.sqlite import SqliteStore
from tests.kit import factories
from tests.kit.answers import Answer, Request, always, refusal
from tests.kit.engines import IMPATIENT, run_slice
from tests.kit.provider import Provider

pytestmark = pytest.mark.slow

LIMIT_S, CLOSED_S = 3.0, 4
"""The gate is closed for longer than a handler may run, and a busy machine is no reason to fail."""
LOADED = (blocking, cache, stack, wire)
"""Loading them takes long, and the first request would have to wait for it."""
ROWS = 5
OKAY = always(Answer(200, body=b"hello"))
SETTINGS = msgspec.structs.replace(IMPATIENT, worker=WorkerPolicy(concurrency=8, poll_s=0.05))


class Closing:
    """Refuses one request after a few, as a service does whose limit is passed."""

    def __init__(self) -> None:
        self._answers = 0

    def __call__(self, request: Request) -> Answer:
        self._answers += 1
        return refusal(str(CLOSED_S)) if self._answers == 3 else OKAY(request)


async def awaited(item: Item, ctx: Context) -> Any:
    await ctx.http.get(ctx.job.config["url"] + item.key)
    return {}


def plain(item: Item, ctx: Context) -> Any:
    ctx.http.get(ctx.job.config["url"] + item.key)  # type: ignore[unused-coroutine]  # it blocks
    return {}


async def side_by_side(item: Item, ctx: Context) -> Any:
    urls = [f"{ctx.job.config['url']}{item.key}/{part}" for part in "ab"]
    await asyncio.gather(*map(ctx.http.get, urls))
    return {}


async def packs(items: list[Item], ctx: Context) -> Any:
    urls = [ctx.job.config["url"] + item.key for item in items]
    await asyncio.gather(*map(ctx.http.get, urls))
    return [{} for _ in items]


HANDLERS: dict[str, tuple[Callable[..., Any], int | None]] = {
    "awaited": (awaited, None),
    "plain": (plain, None),
    "side by side": (side_by_side, None),
    "packs": (packs, 4),
}


async def test_a_row_that_waits_for_a_closed_gate_outlives_its_time_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """One job of each kind, each with a provider of its own, all at the same time."""
    monkeypatch.chdir(tmp_path)  # for the cache of answers
    specs = {
        name: HandlerSpec(
            name, name, call, asyncio.iscoroutinefunction(call), pack=pack, timeout_s=LIMIT_S
        )
        for name, (call, pack) in HANDLERS.items()
    }
    providers = {name: Provider(Closing()) for name in specs}
    async with SqliteStore(tmp_path / "headgate.db") as store:
        jobs = {}
        for name, provider in providers.items():
            provider.__enter__()
            new = factories.NewJob(name, f"{name}.csv", config={"url": provider.url("/")})
            jobs[name] = await factories.job(store, ROWS, new)
        try:
            async with asyncio.timeout(50):
                await asyncio.gather(
                    *(
                        run_slice(store, job.id, specs.__getitem__, SETTINGS)
                        for job in jobs.values()
                    )
                )
        finally:
            for provider in providers.values():
                provider.__exit__(None, None, None)
        for name, job in jobs.items():
            rows = (await store.reads.items(ItemQuery(job.id))).items
            endings = {(row.status, row.attempts) for row in rows}
            # One that was turned away at the gate has its turn later; that costs no attempt either.
            assert endings <= {(ItemStatus.DONE, 1), (ItemStatus.PENDING, 0)}, name
            assert {row.error_class for row in rows} <= {None, FaultClass.THROTTLED}, name
            assert sum(row.status is ItemStatus.DONE for row in rows) > ROWS / 2, name
