"""A file that an export wrote equals the store, and any change to it is named."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from headgate.core.item import NewItem
from headgate.core.job import NewJob
from headgate.engine.export import Export
from headgate.engine.export_check import ExportCheck, ExportCheckReport
from headgate.ports.items import EnqueueRequest
from headgate.ports.store import Store
from headgate.stores.sqlite import SqliteStore
from headgate.testing import FakeClock
from headgate.transfer.formats.cells import Formulas
from headgate.transfer.formats.xlsx import XlsxWriter
from headgate.transfer.sources import WriteOptions, open_writer, open_written

ENDINGS = ["csv", "tsv", "jsonl", "xlsx", "parquet"]
ROWS: list[dict[str, Any]] = [
    {"=name": "=1+1", "value": 1, "more": None},
    {"=name": "'=1+1", "value": 2.0, "more": [1, {"a": "é"}]},
    {"=name": "-5", "value": True, "more": "2024-02-29"},
    {"=name": "", "value": "1", "more": "x" * 40_000, "_extra": ["surplus"]},
    {"value": 2**60, "more": "2024-02-29T01:02:03"},
    {"=name": " a\r\nb\t\0", "value": -1.5e300, "more": False},
]


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with SqliteStore(tmp_path / "headgate.db") as store:
        yield store


async def job_of(store: Store, rows: list[dict[str, Any]]) -> int:
    job = await store.jobs.create_job(NewJob("h", "rows"))
    texts = [msgspec.json.encode(row).decode() for row in rows]
    items = [NewItem(str(n), text, n) for n, text in enumerate(texts, 1)]
    await store.items.enqueue_many(EnqueueRequest(job.id, items))
    await store.jobs.complete_ingest(job.id, ("=name", "value", "more"))
    return job.id


async def check(store: Store, job_id: int, path: Path) -> ExportCheckReport:
    service = ExportCheck(store.reads)
    service.PAGE = 2
    return await service.check(job_id, *open_written(path))


@pytest.mark.parametrize(
    ("ending", "formulas"),
    [*((ending, Formulas.NEUTRAL) for ending in ENDINGS), ("csv", Formulas.RAW)],
)
async def test_an_export_equals_the_store(
    store: Store, tmp_path: Path, ending: str, formulas: Formulas
):
    job_id = await job_of(store, ROWS)
    path = tmp_path / f"out.{ending}"
    exported = await Export(store.reads, FakeClock()).run(
        job_id, open_writer(path, WriteOptions(formulas=formulas))
    )
    report = await check(store, job_id, path)
    assert report == ExportCheckReport(job_id, len(ROWS), exported.sha256)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(
    ("rows", "difference"),
    [
        (ROWS[:-1], "the file ends before row 6"),
        ([*ROWS, ROWS[0]], "is a row that the store does not have"),
        ([ROWS[0], ROWS[2], ROWS[1], *ROWS[3:]], "row 2 "),
        ([{**ROWS[0], "value": 3}, *ROWS[1:]], "'value' is "),
        ([{**ROWS[0], "value": True}, *ROWS[1:]], "'value' is "),
        ([*ROWS[:4], {**ROWS[4], "value": 2**60 + 1}, ROWS[5]], "row 5 "),
    ],
)
async def test_every_difference_is_found(
    store: Store, tmp_path: Path, ending: str, rows: list[dict[str, Any]], difference: str
):
    other = await job_of(store, rows)
    path = tmp_path / f"out.{ending}"
    await Export(store.reads, FakeClock()).run(other, open_writer(path))
    report = await check(store, await job_of(store, ROWS), path)
    assert difference in (report.difference or "")


async def test_another_header_is_a_difference(store: Store, tmp_path: Path):
    job_id = await job_of(store, ROWS)
    (tmp_path / "out.csv").write_text("=name,value,_status,_error\n1,2,PENDING,\n")
    report = await check(store, job_id, tmp_path / "out.csv")
    assert report.difference == "the columns differ: missing are ['more'], unknown are []"


async def test_all_sheets_of_a_workbook_count(store: Store, tmp_path: Path):
    job_id = await job_of(store, ROWS)
    path = tmp_path / "out.xlsx"
    await Export(store.reads, FakeClock()).run(job_id, XlsxWriter(path, sheet_rows=3))
    assert (await check(store, job_id, path)).difference is None
    shorter = await job_of(store, ROWS[:5])
    found = (await check(store, shorter, path)).difference
    assert found == "line 3 of the file is a row that the store does not have"
