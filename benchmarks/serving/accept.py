"""How long it takes until a job over a source elsewhere is accepted."""

from __future__ import annotations

import argparse
import asyncio
from itertools import count
from pathlib import Path

from benchmarks.serving.service import percentile, serving, tell, times


async def measure(url: str, repeats: int, folder: Path) -> dict[str, float]:
    numbers = count()
    async with serving(url, folder) as service:

        async def ask() -> None:
            source = (folder / f"{next(numbers)}.csv").as_uri()
            await service.post("/api/jobs", json={"handler": "bench.noop", "source": source})

        taken = await times(ask, repeats)
    return {"p50_ms": percentile(taken, 50) * 1_000, "p99_ms": percentile(taken, 99) * 1_000}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--db", required=True)
    parser.add_argument("--repeats", type=int, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    options = parser.parse_args()
    tell(asyncio.run(measure(options.db, options.repeats, options.folder)))


if __name__ == "__main__":
    main()
