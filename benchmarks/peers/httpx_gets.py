"""Fetch the same small body many times with httpx2 alone, and print one JSON line.

Runs under the bench environment's Python, so it imports nothing of ours.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Iterator

import httpx2
import uvloop


async def measure(url: str, requests: int, callers: int) -> dict[str, object]:
    left = iter(range(requests))

    async def caller(client: httpx2.AsyncClient, numbers: Iterator[int]) -> None:
        for number in numbers:
            reply = await client.get(f"{url}?{number}")
            assert reply.status_code == 200
            assert reply.content

    limits = httpx2.Limits(max_connections=callers, max_keepalive_connections=callers)
    async with httpx2.AsyncClient(limits=limits) as client:
        await client.get(url)
        started = time.perf_counter()
        await asyncio.gather(*(caller(client, left) for _ in range(callers)))
        seconds = time.perf_counter() - started
    return {"requests_per_s": requests / seconds, "version": httpx2.__version__}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--requests", type=int, required=True)
    parser.add_argument("--callers", type=int, required=True)
    print(json.dumps(uvloop.run(measure(**vars(parser.parse_args())))))


if __name__ == "__main__":
    main()
