"""How long it takes to look at a job, at rest and while a worker drains it at full speed."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from benchmarks.serving.service import percentile, serving, tell, times

LOOKS = 300


async def measure(url: str, file: Path, folder: Path) -> dict[str, float]:
    async with serving(url, folder) as service:
        job = await service.upload(file)
        await service.read(job)
        busy: list[float] = []
        while (await service.get(f"/api/jobs/{job}"))["state"] in {"QUEUED", "RUNNING"}:
            busy += await times(lambda: service.get(f"/api/jobs/{job}"), 1)
            await asyncio.sleep(0.005)  # noqa: TID251 -- a page that looks often
        idle = await times(lambda: service.get(f"/api/jobs/{job}"), LOOKS)
    return {
        "idle_ms": percentile(idle, 95) * 1_000,
        "busy_ms": percentile(busy, 95) * 1_000,
        "busy_ratio": percentile(busy, 95) / percentile(idle, 95),
        "looks": len(busy),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--db", required=True)
    parser.add_argument("--file", type=Path, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    options = parser.parse_args()
    tell(asyncio.run(measure(options.db, options.file, options.folder)))


if __name__ == "__main__":
    main()
