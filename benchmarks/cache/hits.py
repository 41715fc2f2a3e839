"""Fresh hits: fill the cache from a real server, reopen it, and ask for everything again."""

from __future__ import annotations

import argparse
import json
from itertools import cycle, islice
from pathlib import Path

from benchmarks.cache.asking import opened
from headgate.app.event_loop import run_async


async def measure(folder: Path, url: str, entries: int, hits: int) -> dict[str, float]:
    urls = [f"{url}?{number}" for number in range(entries)]
    async with opened(folder) as asker:
        kinds, store_s = await asker.ask(urls)
        assert kinds == {"fetched": entries}, kinds
    async with opened(folder) as asker:
        kinds, hit_s = await asker.ask(islice(cycle(urls), hits))
        assert kinds == {"cached": hits}, kinds
    return {
        "stores_per_s": entries / store_s,
        "answers_per_s": hits / hit_s,
        "requests": asker.requests,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--url", required=True)
    parser.add_argument("--entries", type=int, required=True)
    parser.add_argument("--hits", type=int, required=True)
    options = parser.parse_args()
    print(json.dumps(run_async(measure(**vars(options)))))


if __name__ == "__main__":
    main()
