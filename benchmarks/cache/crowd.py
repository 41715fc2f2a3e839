"""Many callers of one cold URL, and every stale answer confirmed: what the server sees of it."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from benchmarks.cache.asking import CALLERS, opened
from headgate.app.event_loop import run_async


async def measure(folder: Path, fresh: str, stale: str, entries: int) -> dict[str, float]:
    """`fresh` and `stale` name the same body, with and without leave to give it again."""
    async with opened(folder) as asker:
        kinds, _ = await asker.ask([fresh] * CALLERS)
        assert kinds == {"fetched": 1, "shared": CALLERS - 1}, kinds
        cold = asker.requests
        urls = [f"{stale}?{number}" for number in range(entries)]
        await asker.ask(urls)
        kinds, seconds = await asker.ask(urls)
        return {
            "cold_requests": cold,
            "confirmed_share": kinds["revalidated"] / entries,
            "confirmed_per_s": entries / seconds,
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--fresh", required=True)
    parser.add_argument("--stale", required=True)
    parser.add_argument("--entries", type=int, required=True)
    options = parser.parse_args()
    print(json.dumps(run_async(measure(**vars(options)))))


if __name__ == "__main__":
    main()
