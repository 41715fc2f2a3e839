"""How long it takes from the first byte of an upload until all its rows can be queried."""

from __future__ import annotations

import argparse
import asyncio
import time
from pathlib import Path

from benchmarks.serving.service import Service, serving, tell


async def measure(url: str, file: Path, items: int, folder: Path) -> dict[str, float]:
    async with serving(url, folder) as service:
        await asyncio.sleep(1.0)  # noqa: TID251 -- let all of its processes come to rest
        before = service.resident_mb()
        watching = asyncio.ensure_future(peak(service))
        started = time.perf_counter()
        job = await service.upload(file)
        answered = time.perf_counter()
        found = await service.read(job)
        seconds = time.perf_counter() - started
        watching.cancel()
        assert found["counts"]["total"] == items, found
        await service.post(f"/api/jobs/{job}/cancel")
        return {
            "rows_per_s": items / seconds,
            "answered_s": answered - started,
            "seconds": seconds,
            "growth_mb": max(highest) - before,
        }


highest: list[float] = []


async def peak(service: Service) -> None:
    while True:
        highest.append(service.resident_mb())
        await asyncio.sleep(0.05)  # noqa: TID251 -- samples of a real process


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--db", required=True)
    parser.add_argument("--file", type=Path, required=True)
    parser.add_argument("--items", type=int, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    options = parser.parse_args()
    tell(asyncio.run(measure(options.db, options.file, options.items, options.folder)))


if __name__ == "__main__":
    main()
