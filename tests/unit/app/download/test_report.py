"""The account of a download job."""

from collections.abc import Sequence

import msgspec
import pytest

from headgate.app.download import report as module
from headgate.app.download.report import NOBODY, OTHERS, Report, report_of
from headgate.core.call import CallKind
from headgate.core.download_folder import FinalOutcome
from headgate.core.status import ItemStatus
from headgate.ports.jobs import ItemHistory
from headgate.ports.reads import ExportRow
from tests.unit.app.download.histories import FILE, attempt, call, history


class Pages:
    """A store of these items."""

    def __init__(self, *items: ItemHistory) -> None:
        self._items = [
            ItemHistory(msgspec.structs.replace(each.row, id=number), each.attempts)
            for number, each in enumerate(items, 1)
        ]

    async def page(self, job_id: int, after_id: int, limit: int) -> list[ItemHistory]:
        return [each for each in self._items if each.row.id > after_id][:limit]

    async def by_key(self, job_id: int, keys: Sequence[str]) -> list[ExportRow]:
        raise AssertionError("a report needs no others")


async def report(*items: ItemHistory) -> Report:
    return await report_of(Pages(*items), 1)


async def test_an_empty_job():
    found = await report()
    assert (found.items, found.resolvers, found.reasons, found.hosts) == (0, [], [], [])
    assert (found.traffic.cache_ratio, found.traffic.revalidation_ratio) == (0.0, 0.0)


async def test_outcomes_by_resolver():
    gone = {"reason": "http-404", "resolver": "direct"}
    found = await report(
        history(result=FILE),
        history(result={**FILE, "bytes": 500}),
        history(ItemStatus.SKIPPED, result={**FILE, "reason": "unchanged"}),
        history(ItemStatus.ERROR, result=gone),
        history(ItemStatus.NOT_FOUND, result={"reason": "no-file"}),
        history(ItemStatus.ERROR, error_class="bad_row", error="'x' names nothing"),
        history(ItemStatus.ERROR, error_class="bad_row", error="'y' names nothing"),
        history(ItemStatus.PENDING),
    )
    assert (found.items, found.unfinished) == (8, 1)
    rows = [(one.resolver, one.done, one.skipped, one.not_found, one.error, one.bytes)
            for one in found.resolvers]  # fmt: skip
    assert rows == [
        (NOBODY, 0, 0, 1, 2, 0),
        ("unpaywall", 2, 1, 0, 0, 4_500),
        ("direct", 0, 0, 0, 1, 0),
    ]
    assert [(one.outcome, one.reason, one.items) for one in found.reasons] == [
        (FinalOutcome.ERROR, "bad_row", 2),
        (FinalOutcome.ERROR, "http-404", 1),
        (FinalOutcome.NOT_FOUND, "no-file", 1),
        (FinalOutcome.SKIPPED, "unchanged", 1),
    ]


async def test_the_last_visit_is_counted_separately():
    first = attempt("done", call(CallKind.REFUSED, 429, bytes=9, waited_ms=500.0), call(), number=1)
    second = attempt("skipped", call(CallKind.REVALIDATED, 304, bytes=0), number=2)
    other = attempt("skipped", call(CallKind.CACHED, bytes=0), number=1)
    found = await report(
        history(ItemStatus.SKIPPED, [first, second], result=FILE),
        history(ItemStatus.SKIPPED, [other], result=FILE),
    )
    latest, traffic = found.latest, found.traffic
    assert (latest.requests, latest.confirmed, latest.cached, latest.bytes) == (1, 1, 1, 0)
    assert (latest.cache_ratio, latest.revalidation_ratio) == (0.5, 0.5)
    assert (traffic.requests, traffic.fetched, traffic.refused) == (3, 1, 1)
    assert (traffic.bytes, traffic.waited_s) == (2_009, 0.5)
    assert traffic.cache_ratio == pytest.approx(1 / 3)


async def test_politeness_is_by_host():
    calls = [
        call(provider="unpaywall", host="api.example"),
        call(provider="files", host="a.example"),
        call(CallKind.BARRED, 0, host="a.example"),
        call(CallKind.FAILED, 0, host="b.example"),
    ]
    found = await report(history(attempts=[attempt("done", *calls)], result=FILE))
    assert {one.name: (one.requests, one.barred) for one in found.hosts} == {
        "a.example": (1, 1),
        "api.example": (1, 0),
        "b.example": (1, 0),
    }
    assert (found.traffic.barred, found.traffic.failed) == (1, 1)


async def test_the_number_of_reasons_in_a_report_is_limited(monkeypatch):
    monkeypatch.setattr(module, "MOST_REASONS", 3)
    odd = [history(ItemStatus.ERROR, result={"reason": f"odd {n}"}) for n in range(10)]
    found = await report(*odd)
    assert {one.reason: one.items for one in found.reasons} == {
        "odd 0": 1,
        "odd 1": 1,
        "odd 2": 1,
        OTHERS: 7,
    }
