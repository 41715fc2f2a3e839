"""Results of the same work are taken over, if they are young enough and the handler says so."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from headgate.core.errors import UsageError
from headgate.core.identity import result_digest
from headgate.core.job import Job, NewJob
from headgate.core.outcome import NotFound
from headgate.core.status import ItemStatus, JobState
from headgate.engine.job_runtime import Reuse, reuse_in
from headgate.ports.handler import HandlerSpec
from headgate.ports.items import RecallRequest, ReusedResult
from headgate.ports.reads import ItemQuery
from headgate.stores.sqlite.store import SqliteStore
from tests.kit import factories
from tests.kit.engines import run_job


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    async with SqliteStore(tmp_path / "headgate.db") as store:
        yield store


def spec(call: Callable[..., Any], version: str = "1", **options: Any) -> HandlerSpec:
    return HandlerSpec("priced", "priced", call, is_async=True, version=version, **options)


async def job(
    store: SqliteStore, items: int, config: dict[str, Any] | None = None, owner: str = "local"
) -> Job:
    """The rows of two jobs are the same, as far as both have them."""
    new = NewJob("priced", f"{owner} {config}", owner=owner, config=config or {})
    return await factories.job(store, items, new)


async def outcomes(store: SqliteStore, job_id: int) -> list[str]:
    rows = (await store.reads.items(ItemQuery(job_id))).items
    return [(await store.reads.attempts(row.id))[-1].outcome for row in rows]


class Counting:
    """A handler that counts how often it was asked."""

    def __init__(self) -> None:
        self.calls = 0

    async def one(self, item: Any, ctx: object) -> dict[str, Any]:
        self.calls += 1
        return {"got": item.key}

    async def pack(self, items: list[Any], ctx: object) -> list[dict[str, Any]]:
        self.calls += len(items)
        return [{"got": item.key} for item in items]


@pytest.mark.parametrize("pack", [None, 2])
async def test_the_same_work_is_done_once(store: SqliteStore, pack: int | None):
    handler = Counting()
    priced = spec(handler.pack if pack else handler.one, pack=pack)
    first = await job(store, 5)
    await run_job(store, first.id, priced)
    second = await job(store, 7, config={"reuse": "1h"})
    await run_job(store, second.id, priced)
    assert handler.calls == 7
    assert await outcomes(store, second.id) == ["reused"] * 5 + ["done"] * 2
    rows = (await store.reads.items(ItemQuery(second.id, with_result=True))).items
    assert [row.status for row in rows] == [ItemStatus.DONE] * 7
    assert rows[0].result == '{"got":"key-1"}'
    assert await store.reads.result_columns(second.id) == ["got"]


@pytest.mark.parametrize("change", ["version", "owner", "no reuse"])
async def test_results_are_not_reused_for_another_version_or_owner(store: SqliteStore, change: str):
    handler = Counting()
    await run_job(store, (await job(store, 3)).id, spec(handler.one))
    config = {} if change == "no reuse" else {"reuse": "1h"}
    owner = "somebody" if change == "owner" else "local"
    second = await job(store, 3, config=config, owner=owner)
    await run_job(store, second.id, spec(handler.one, "2" if change == "version" else "1"))
    assert handler.calls == 6
    assert await outcomes(store, second.id) == ["done"] * 3


async def test_only_results_are_remembered(store: SqliteStore):
    async def nothing(item: object, ctx: object) -> NotFound:
        return NotFound()

    await run_job(store, (await job(store, 2)).id, spec(nothing))
    handler = Counting()
    second = await job(store, 2, config={"reuse": "1h"})
    await run_job(store, second.id, spec(handler.one))
    assert handler.calls == 2


async def test_rows_with_the_same_normalized_input_are_the_same_work(store: SqliteStore):
    handler = Counting()
    same = spec(handler.one, normalize=lambda _row: {"all": "alike"})
    await run_job(store, (await job(store, 1)).id, same)
    second = await job(store, 4, config={"reuse": "1h"})
    await run_job(store, second.id, same)
    assert handler.calls == 1
    assert await outcomes(store, second.id) == ["reused"] * 4


async def test_a_handler_without_a_version_cannot_be_reused(store: SqliteStore):
    made = await job(store, 1, config={"reuse": "1h"})
    await run_job(store, made.id, spec(Counting().one, version=""))
    failed = await store.reads.job(made.id)
    assert failed.state is JobState.FAILED
    assert "declares no version" in (failed.last_error or "")


@pytest.mark.parametrize(
    ("config", "seconds"), [({}, None), ({"reuse": None}, None), ({"reuse": "30d"}, 2_592_000.0)]
)
def test_how_old_a_result_may_be(config: dict[str, Any], seconds: float | None):
    assert reuse_in(config, spec(Counting().one)) == seconds


def test_an_invalid_time_span_is_refused():
    with pytest.raises(UsageError, match="reuse: 'soon' is not a span of time"):
        reuse_in({"reuse": "soon"}, spec(Counting().one))


class StoredResults:
    """Remembers what it was asked."""

    def __init__(self, *known: str) -> None:
        self.known = known
        self.asked: list[list[str]] = []
        self.broken = False

    async def recall(self, request: RecallRequest) -> list[ReusedResult]:
        self.asked.append([*request.digests])
        if self.broken:
            raise OSError("the store is away")
        return [ReusedResult(each, 1, "{}") for each in request.digests if each in self.known]


async def test_lanes_that_ask_together_share_a_query():
    stored = StoredResults("a", "c")
    reuse = Reuse(stored)
    found = await asyncio.gather(*(reuse.find("ann", digest, 60.0) for digest in "abca"))
    assert [each and each.digest for each in found] == ["a", None, "c", "a"]
    assert stored.asked == [["a", "b", "c"]]
    assert await reuse.find("ann", "a", 60.0)
    assert stored.asked[1:] == [["a"]]


async def test_results_of_each_owner_are_queried_separately():
    stored = StoredResults("a")
    reuse = Reuse(stored)
    await asyncio.gather(reuse.find("ann", "a", 60.0), reuse.find("bob", "a", 60.0))
    assert stored.asked == [["a"], ["a"]]


async def test_an_error_reaches_every_caller():
    stored = StoredResults()
    stored.broken = True
    reuse = Reuse(stored)
    found = await asyncio.gather(
        *(reuse.find("ann", digest, 60.0) for digest in "ab"), return_exceptions=True
    )
    assert [type(each) for each in found] == [OSError, OSError]
    stored.broken = False
    assert await reuse.find("ann", "a", 60.0) is None


def test_members_may_come_in_any_order():
    assert result_digest("h", "1", '{"a":1,"b":2}') == result_digest("h", "1", {"b": 2, "a": 1})
