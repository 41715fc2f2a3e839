"""Listings with details, from the description over the engine into a store."""

import asyncio
import json
from typing import Any

from aiohttp import web

from headgate.core.mirror import Proof
from headgate.engine.clock import SystemClock
from headgate.engine.passes import Passes, PassOrder, PassSource
from headgate.handlers.extract import EXTRACT, bound_source, plan_pass
from headgate.ports.store import Store
from headgate.stores.sqlite import SqliteStore
from tests.kit.engines import IMPATIENT, run_slice
from tests.kit.json_site import serving
from tests.kit.mirrors import PassRun

THINGS = {
    "name": "things",
    "endpoint": {"paginator": "single_page"},
    "detail": {"path": "/things/{id}", "when": "changed"},
}


class Shop:
    """A site whose listing has stamps only, and a page for each thing."""

    def __init__(self) -> None:
        self.stamps = {"a": 1, "b": 1, "c": 1}
        self.asked: list[str] = []

    def answer(self, request: web.Request) -> web.Response:
        name = request.path.rpartition("/")[2]
        if name == "things":
            listed = [{"id": each, "stamp": stamp} for each, stamp in self.stamps.items()]
            return web.json_response(listed)
        self.asked.append(name)
        if name not in self.stamps:
            return web.json_response({}, status=404)
        return web.json_response({"id": name, "whole": f"{name} {self.stamps[name]}"})


async def pass_over(store: Store, source: Any) -> PassRun:
    """Run one pass to its end."""
    bound = bound_source(source, {})
    passed = PassSource(
        "shop",
        source,
        bound.digest,
        EXTRACT.name,
        {"source": source},
        lambda states, wish: plan_pass(bound.description, states, wish),
    )
    begun = await Passes(store, SystemClock()).begin(passed, PassOrder())
    assert not begun.is_resumed
    async with asyncio.timeout(60):
        await run_slice(store, begun.job.id, lambda _reference: EXTRACT, IMPATIENT)
    assert await store.jobs.finish_job(begun.job.id)
    return PassRun(store, begun.job, "")


async def bodies(run: PassRun) -> dict[str, str]:
    return {row.id: json.loads(row.body)["whole"] for row in await run.stored("things")}


async def test_each_pass_asks_only_for_details_of_rows_that_are_new_or_changed(tmp_path):
    shop = Shop()
    async with serving(shop.answer) as url, SqliteStore(tmp_path / "store.db") as store:
        source = {"client": {"base_url": url}, "resources": [THINGS]}
        first = await pass_over(store, source)
        assert sorted(shop.asked) == ["a", "b", "c"]
        assert await bodies(first) == {"a": "a 1", "b": "b 1", "c": "c 1"}
        assert (await first.checkpoint("things")).proof is Proof.CHAINED

        shop.asked.clear()
        shop.stamps["b"] = 2
        del shop.stamps["c"]
        second = await pass_over(store, source)
        assert shop.asked == ["b"]
        assert await bodies(second) == {"a": "a 1", "b": "b 2"}
        checkpoint = await second.checkpoint("things")
        counted = (checkpoint.added, checkpoint.changed, checkpoint.unchanged)
        assert counted == (0, 1, 1)
        (gone,) = [row for row in await second.stored("things", deleted=True) if row.deleted_at]
        assert gone.id == "c"

        shop.asked.clear()
        third = await pass_over(store, source)
        assert (shop.asked, (await third.checkpoint("things")).unchanged) == ([], 2)
