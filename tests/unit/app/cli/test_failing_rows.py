"""What `headgate run` says of rows that fail while it works."""

from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from headgate.app.cli.run_checks import FailingRows
from headgate.core.failing import ErrorLimit
from headgate.core.fault import FaultClass
from headgate.core.item import ClaimedItem
from headgate.core.job import Counts
from headgate.core.retry import RetryDecision
from headgate.core.settlement import settle
from headgate.core.status import ItemStatus
from headgate.engine.error_count import ErrorCount
from headgate.ports.items import SettleRequest
from headgate.stores.sqlite.store import SqliteStore
from tests.kit import factories

TRACE = '{"where":"lookup.py:12","text":"  File \\"lookup.py\\", line 12, in price\\nKeyError: é"}'
REFUSED = "no connection to http://10.1.1.1:81/x/{}"
WRONG = "KeyError: 'name {}'"


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    async with SqliteStore(tmp_path / "headgate.db") as store:
        yield store


async def failing(
    store: SqliteStore,
    reason: str,
    *,
    trace: str | None = None,
    ended: bool = False,
    revisits: bool = False,
) -> FailingRows:
    """Two of three rows failed, each with its own number in `reason`; one is enough to stop."""
    job, who = await factories.job(store, 3), await factories.worker(store)
    rows = FailingRows(store.rows, job.id, revisits=revisits)
    errors = ErrorCount.create(ErrorLimit("1", rows=1), 3)
    limited = FailingRows(store.rows, job.id, errors)
    for each in (rows, limited):
        await each.begin(Counts(pending=3), 2)
    status = ItemStatus.ERROR if ended else ItemStatus.PENDING
    settlements = [
        msgspec.structs.replace(
            settle(
                item,
                RetryDecision(
                    status,
                    "error" if ended else "retry",
                    failed=True,
                    due_in_us=60_000_000,
                    error_class=FaultClass.TRANSIENT,
                    reason=reason.format(item.id),
                ),
            ),
            trace=trace,
        )
        for item in await factories.claim(store, job.id, who, limit=2)
    ]
    await store.items.settle_many(SettleRequest(who, settlements))
    for settlement in settlements:
        errors.add(settlement)
    counts = await store.reads.counts(job.id)
    for each in (rows, limited):
        await each.check(counts)
    assert limited.raised is bool(trace and limited.too_many)
    return rows


@pytest.mark.parametrize("reason", [REFUSED, WRONG])
async def test_failures_that_differ_in_the_values_of_rows_are_of_one_kind(
    store: SqliteStore, reason: str
):
    first, second = await failing(store, reason), await failing(store, reason)
    assert first.remark != second.remark
    assert first.kind == second.kind != ""


async def test_a_hint_names_the_handler_only_if_its_code_raised(store: SqliteStore):
    raised = await failing(store, WRONG, trace=TRACE)
    assert raised.hint == (
        "the first 2 rows all failed in the same way: KeyError: 'name 1' at lookup.py:12;"
        " press Ctrl-C, fix the handler, and run the same command"
    )
    outside = await failing(store, REFUSED)
    assert outside.hint.startswith(
        "the first 2 rows all failed in the same way: no connection to http://10"
    )
    assert outside.hint.endswith("; press Ctrl-C, fix the cause, and run the same command")


@pytest.mark.parametrize(("revisits", "option"), [(False, " with --retry-failed"), (True, "")])
async def test_a_hint_names_only_options_that_the_command_has(
    store: SqliteStore, option: str, *, revisits: bool
):
    """`download` tries failed rows again by itself."""
    ended = await failing(store, REFUSED, ended=True, revisits=revisits)
    assert ended.hint.endswith(f"fix the cause, and run the same command{option}")


async def test_no_hint_is_given_once_all_rows_are_finished(store: SqliteStore):
    job, who = await factories.job(store, 2), await factories.worker(store)
    rows = FailingRows(store.rows, job.id)
    await rows.begin(Counts(pending=2), 2)
    items = await factories.claim(store, job.id, who, limit=2)
    await factories.finish(store, who, items, ItemStatus.ERROR)
    await rows.check(await store.reads.counts(job.id))
    assert rows.hint == "", "there is nothing left to interrupt"


@pytest.mark.parametrize(("left", "stops"), [(0, False), (1, True)])
async def test_a_job_without_rows_left_is_not_stopped(store: SqliteStore, left: int, stops: bool):
    await failing(store, REFUSED, ended=True)
    errors = ErrorCount.create(ErrorLimit("1", rows=1), 3)
    rows = FailingRows(store.rows, 1, errors)
    item = ClaimedItem(1, 1, "1", "{}", None, 1, 0, 0, 0, 0, False, 0)
    errors.add(factories.settlement(item, ItemStatus.ERROR))
    await rows.begin(Counts(pending=3), 2)
    rows._since_at = 0  # the failures above came before
    await rows.check(Counts(pending=left, error=2))
    assert bool(rows.too_many) is stops
