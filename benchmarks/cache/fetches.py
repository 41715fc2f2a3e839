"""The same answers without a cache: bare aiohttp in a gather."""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Iterator

import aiohttp

from benchmarks.cache.asking import CALLERS, HEADERS
from headgate.app.event_loop import run_async


async def measure(url: str, entries: int, hits: int) -> dict[str, float]:
    left = iter([f"{url}?{number % entries}" for number in range(hits)])

    async def caller(session: aiohttp.ClientSession, urls: Iterator[str]) -> None:
        for each in urls:
            async with session.get(each) as reply:
                assert await reply.read()

    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector, headers=HEADERS) as session:
        started = time.perf_counter()
        await asyncio.gather(*(caller(session, left) for _ in range(CALLERS)))
        return {"answers_per_s": hits / (time.perf_counter() - started)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--entries", type=int, required=True)
    parser.add_argument("--hits", type=int, required=True)
    options = parser.parse_args()
    print(json.dumps(run_async(measure(**vars(options)))))


if __name__ == "__main__":
    main()
