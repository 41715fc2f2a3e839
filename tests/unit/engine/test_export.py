"""Rows go out as they are stored, in input order, with proof."""

import hashlib
import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from headgate.core.item import NewItem
from headgate.core.job import NewJob
from headgate.core.outcome import Done, GiveUp, NotFound, Outcome, Review
from headgate.core.retry import RetryPolicy, decide
from headgate.core.settlement import settle
from headgate.core.worker import WorkerInfo
from headgate.engine.export import Columns, Export
from headgate.engine.result import stored_text
from headgate.ports.items import ClaimRequest, EnqueueRequest, ResultColumns, SettleRequest
from headgate.ports.store import Store
from headgate.stores.sqlite import SqliteStore
from headgate.testing import FakeClock
from headgate.transfer.sources import open_writer

WORKER = WorkerInfo("w", "s", "host", "boot", 1, 1, "0", 10.0)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with SqliteStore(tmp_path / "headgate.db") as store:
        yield store


async def job_with(
    store: Store,
    columns: Sequence[str],
    rows: Sequence[tuple[dict[str, Any], Outcome | None]],
    results: tuple[str, ...] = (),
) -> int:
    """A job whose items ended as stated (None: still open)."""
    job = await store.jobs.create_job(NewJob("h", "rows.csv", fingerprint="f"))
    items = [NewItem(str(n), json.dumps(values), n) for n, (values, _) in enumerate(rows, 1)]
    await store.items.enqueue_many(EnqueueRequest(job.id, items))
    await store.jobs.complete_ingest(job.id, tuple(columns))
    ended = [outcome for _, outcome in rows if outcome is not None]
    await store.jobs.register(WORKER)
    claimed = await store.items.claim(ClaimRequest("w", job.id, max(len(ended), 1), 60.0))
    settlements = [
        settle(item, decide(item, outcome, RetryPolicy(), 1, None), stored_text(outcome, 9_999)[0])
        for item, outcome in zip(claimed, ended, strict=False)
    ]
    await store.items.settle_many(
        SettleRequest("w", settlements, [ResultColumns(job.id, results)]),
    )
    return job.id


async def export(store: Store, job_id: int, path: Path, page: int = 2):
    service = Export(store.reads, FakeClock())
    service.PAGE = page
    return await service.run(job_id, open_writer(path))


OUTCOMES = [
    ({"sku": "A1"}, Done({"price": 12.5, "tags": ["x", {"y": None}]})),
    ({"sku": "A2"}, NotFound("no such sku")),
    ({"sku": "=A3"}, GiveUp("broken")),
    ({"sku": "A4"}, Review([{"id": 1}], "two of them")),
    ({"sku": "A5"}, Done({"price": None})),
]


NEUTRALISED = (
    "1 cell looks like a formula and got an apostrophe in front, so that a spreadsheet does not"
    " run it; `--formulas raw` writes such cells unchanged"
)


async def test_csv_has_input_result_status_and_error(store: Store, tmp_path: Path):
    job_id = await job_with(store, ["sku"], OUTCOMES, ("price", "tags"))
    report = await export(store, job_id, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text().splitlines() == [
        "sku,price,tags,_status,_error",
        'A1,12.5,"[""x"",{""y"":null}]",DONE,',
        "A2,,,NOT_FOUND,no such sku",
        "'=A3,,,ERROR,permanent: broken",
        "A4,,,REVIEW,two of them",
        "A5,,,DONE,",
    ]
    assert (report.rows, report.cutoff) == (5, None)
    assert report.statuses["DONE"] == 2
    assert json.loads((tmp_path / "out.csv.meta.json").read_text()) == {
        "job_id": job_id,
        "handler": "h",
        "source": "rows.csv",
        "fingerprint": "f",
        "notes": [NEUTRALISED],
        "columns": ["sku", "price", "tags", "_status", "_error"],
        "rows": 5,
        "sha256": report.sha256,
        "statuses": dict(report.statuses),
        "exported_at": "2027-01-15T08:00:00.000000Z",
        "cutoff": None,
    }


async def test_json_lines_keep_values_as_they_are(store: Store, tmp_path: Path):
    job_id = await job_with(store, ["sku"], OUTCOMES, ("price", "tags"))
    await export(store, job_id, tmp_path / "out.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert rows[0] == {
        "sku": "A1",
        "price": 12.5,
        "tags": ["x", {"y": None}],
        "_status": "DONE",
        "_error": None,
    }
    assert rows[2] == {"sku": "=A3", "_status": "ERROR", "_error": "permanent: broken"}


async def test_the_hash_is_over_the_values_whatever_the_format(store: Store, tmp_path: Path):
    job_id = await job_with(store, ["sku"], OUTCOMES, ("price", "tags"))
    reports = [
        await export(store, job_id, tmp_path / name, page)
        for name, page in [("a.csv", 1), ("b.tsv", 2), ("c.jsonl", 100)]
    ]
    lines = [
        '["A1",12.5,["x",{"y":null}],"DONE",null]',
        '["A2",null,null,"NOT_FOUND","no such sku"]',
        '["=A3",null,null,"ERROR","permanent: broken"]',
        '["A4",null,null,"REVIEW","two of them"]',
        '["A5",null,null,"DONE",null]',
    ]
    wanted = hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()
    assert {report.sha256 for report in reports} == {wanted}


async def test_an_export_of_a_running_job_names_its_cut_off(store: Store, tmp_path: Path):
    rows = [({"sku": "A1"}, Done({})), ({"sku": "A2"}, None), ({"sku": "A3"}, None)]
    job_id = await job_with(store, ["sku"], rows)
    report = await export(store, job_id, tmp_path / "out.csv")
    assert report.cutoff is not None
    assert (report.cutoff.open_items, report.rows) == (2, 3)
    last = (await store.reads.export_rows(job_id, 0, 10))[-1]
    assert report.cutoff.last_item_id == last.id


async def test_a_job_without_rows_is_a_header(store: Store, tmp_path: Path):
    job_id = await job_with(store, ["sku"], [])
    assert (await export(store, job_id, tmp_path / "out.csv")).rows == 0
    assert (tmp_path / "out.csv").read_text() == "sku,_status,_error\n"


async def test_a_taken_name_gets_a_prefix(store: Store, tmp_path: Path):
    row = {"price": "old", "_status": "x"}
    job_id = await job_with(
        store, ["price", "_status"], [(row, Done({"price": 1, "_error": "e"}))], ("price", "_error")
    )
    await export(store, job_id, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text().splitlines() == [
        "price,_status,result_price,_error,result__status,result__error",
        "old,x,1,e,DONE,",
    ]


def test_names_stay_different_however_they_collide():
    columns = Columns(["a", "result_a"], ["a", "result_a", "_status"])
    assert len(set(columns.all)) == len(columns.all)
    assert columns.result_names == {
        "a": "result_result_a",
        "result_a": "result_result_result_a",
        "_status": "_status",
    }
    assert columns.status == "result__status"


async def test_a_failed_export_keeps_the_existing_file(store: Store, tmp_path: Path, monkeypatch):
    path = tmp_path / "out.csv"
    path.write_text("old")
    job_id = await job_with(store, ["sku"], OUTCOMES)
    monkeypatch.setattr(Columns, "row", _fail)
    with pytest.raises(RuntimeError):
        await export(store, job_id, path)
    assert path.read_text() == "old"
    assert names_in(tmp_path) == ["out.csv"]


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if "out" in path.name]


def _fail(self, row):
    raise RuntimeError
