"""How long a page of items takes at the start and at the far end of a job; prints one JSON line."""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import time

import msgspec

from headgate.app.settings import Settings
from headgate.app.wiring import open_store
from headgate.core.paging import SortOrder
from headgate.core.status import ItemStatus
from headgate.ports.reads import ItemQuery, ReadStore

PAGE = 100
STRIDE = 5_000
REPEATS = 200
SETTLE_S = 2.5  # pages by time of change stop two seconds before now


def queries(job: int) -> dict[str, ItemQuery]:
    """Both orders that have an index: the grid's, and that of the pending lists."""
    done = frozenset({ItemStatus.DONE})
    return {
        "input": ItemQuery(job_id=job, order=SortOrder.INPUT, limit=PAGE),
        "updated": ItemQuery(job_id=job, order=SortOrder.UPDATED, statuses=done, limit=PAGE),
    }


async def deepest(reads: ReadStore, query: ItemQuery, total: int) -> ItemQuery:
    """The query for the last page, reached as a client would: from page to page."""
    left, cursor = total, None
    while left > PAGE:
        stride = min(STRIDE, left - PAGE)
        page = await reads.items(msgspec.structs.replace(query, after=cursor, limit=stride))
        assert page.items
        left, cursor = left - len(page.items), page.next
    return msgspec.structs.replace(query, after=cursor)


async def time_page(reads: ReadStore, query: ItemQuery, expected: int) -> float:
    started = time.perf_counter()
    page = await reads.items(query)
    seconds = time.perf_counter() - started
    assert len(page.items) == expected
    return seconds


async def compare(reads: ReadStore, first: ItemQuery, total: int) -> float:
    """Deepest page ÷ first page, read in turn so that both meet the same minute."""
    last = await deepest(reads, first, total)
    expected = min(PAGE, total)
    near, far = [], []
    for _ in range(REPEATS):
        near.append(await time_page(reads, first, expected))
        far.append(await time_page(reads, last, expected))
    return statistics.median(far) / statistics.median(near)


async def measure(url: str, job: int, total: int) -> dict[str, float]:
    async with open_store(Settings(database_url=url)) as store:
        return {
            f"page_ratio_{name}": await compare(store.reads, query, total)
            for name, query in queries(job).items()
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--db", required=True)
    parser.add_argument("--job", type=int, required=True)
    parser.add_argument("--total", type=int, required=True)
    options = parser.parse_args()
    time.sleep(SETTLE_S)
    print(json.dumps(asyncio.run(measure(options.db, options.job, options.total))))


if __name__ == "__main__":
    main()
