"""How long a page of items takes over HTTP, at the start and at the far end of a huge job."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from benchmarks.serving.service import Service, percentile, serving, tell, times
from headgate.app.settings import Settings
from headgate.app.wiring import open_store
from headgate.core.item import NewItem
from headgate.core.job import NewJob
from headgate.core.status import JobMove
from headgate.ports.items import EnqueueRequest

BATCH = 8_000
PAGE = 100
STRIDE = 1_000
REPEATS = 300


async def fill(url: str, items: int) -> int:
    """A paused job with this number of items, written straight into the store."""
    async with open_store(Settings(database_url=url)) as store:
        job = await store.jobs.create_job(NewJob("bench.noop", "made", owner="local", open=True))
        for start in range(0, items, BATCH):
            rows = [
                NewItem(str(n), f'{{"n":{n}}}', n, summary=f"number {n}")
                for n in range(start, min(start + BATCH, items))
            ]
            await store.items.enqueue_many(EnqueueRequest(job.id, rows))
        await store.jobs.move_job(job.id, JobMove.PAUSE)
        return job.id


async def deepest(service: Service, path: str, items: int) -> str:
    """The last page, reached as a client would: from page to page."""
    left, cursor = items, ""
    while left > PAGE:
        size = min(STRIDE, left - PAGE)
        page = await service.get(f"{path}?pageSize={size}{cursor}")
        left -= len(page["items"])
        cursor = f"&after={page['next']}"
    return f"{path}?pageSize={PAGE}{cursor}"


async def measure(url: str, items: int, folder: Path) -> dict[str, float]:
    job = await fill(url, items)
    async with serving(url, folder) as service:
        path = f"/api/jobs/{job}/items"
        first = f"{path}?pageSize={PAGE}"
        last = await deepest(service, path, items)
        near, far = [], []
        for _ in range(REPEATS):
            near += await times(lambda: service.get(first), 1)
            far += await times(lambda: service.get(last), 1)
    return {
        "first_ms": percentile(near, 95) * 1_000,
        "deepest_ms": percentile(far, 95) * 1_000,
        "page_ratio": percentile(far, 95) / percentile(near, 95),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--db", required=True)
    parser.add_argument("--items", type=int, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    options = parser.parse_args()
    tell(asyncio.run(measure(options.db, options.items, options.folder)))


if __name__ == "__main__":
    main()
