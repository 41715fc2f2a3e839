"""The bare wire: aiohttp in a gather, with nothing around it."""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Iterator

import aiohttp

from headgate.app.event_loop import run_async


async def measure(url: str, requests: int, callers: int) -> dict[str, float]:
    left = iter(range(requests))

    async def caller(session: aiohttp.ClientSession, numbers: Iterator[int]) -> None:
        for number in numbers:
            async with session.get(f"{url}?{number}") as reply:
                assert reply.status == 200
                assert await reply.read()

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        async with session.get(url) as reply:
            await reply.read()
        started = time.perf_counter()
        await asyncio.gather(*(caller(session, left) for _ in range(callers)))
        return {"requests_per_s": requests / (time.perf_counter() - started)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--requests", type=int, required=True)
    parser.add_argument("--callers", type=int, required=True)
    print(json.dumps(run_async(measure(**vars(parser.parse_args())))))


if __name__ == "__main__":
    main()
