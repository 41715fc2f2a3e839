"""hishel: its public states over its own asynchronous SQLite storage, as its transports drive them.

No HTTP client stands around it, so nothing but the cache is measured.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator
from email.utils import formatdate
from itertools import cycle, islice
from pathlib import Path

import uvloop
from hishel import (
    AsyncSqliteStorage,
    CacheMiss,
    CacheOptions,
    FromCache,
    Headers,
    IdleClient,
    Request,
    Response,
    StoreAndUse,
)

CALLERS = 64
OPTIONS = CacheOptions(shared=False, supported_methods=["GET", "HEAD"], allow_stale=False)
ASKED = {
    "user-agent": "headgate-benchmark (mailto:nobody@example.org)",
    "accept": "*/*",
    "accept-encoding": "gzip, deflate",
}


def answer(size: int) -> Response:
    """What nginx says about a file."""

    async def stream() -> AsyncIterator[bytes]:
        yield b"x" * size

    headers = {
        "server": "nginx/1.22.1",
        "date": formatdate(usegmt=True),
        "content-type": "text/plain",
        "content-length": str(size),
        "last-modified": formatdate(usegmt=True),
        "connection": "keep-alive",
        "etag": '"67ab-4e20"',
        "cache-control": "max-age=3600",
        "accept-ranges": "bytes",
    }
    return Response(200, Headers(headers), stream())


async def fetch(storage: AsyncSqliteStorage, url: str, size: int) -> bool:
    """Whether it came from the cache."""
    request = Request("GET", url, Headers(ASKED))
    state = IdleClient(options=OPTIONS).next(request, await storage.get_entries(url))
    if isinstance(state, FromCache):
        response, cached = state.entry.response, True
    else:
        assert isinstance(state, CacheMiss)
        stored = state.next(answer(size))
        assert isinstance(stored, StoreAndUse)
        entry = await storage.create_entry(request, stored.response, url)
        response, cached = entry.response, False
    assert isinstance(response.stream, AsyncIterator)
    body = b"".join([chunk async for chunk in response.stream])
    assert len(body) == size
    return cached


async def ask(storage: AsyncSqliteStorage, urls: Iterator[str], size: int) -> tuple[int, float]:
    """How many came from the cache, and the seconds that it took."""
    cached = 0

    async def caller() -> None:
        nonlocal cached
        for url in urls:
            came_from_cache = await fetch(storage, url, size)
            cached += came_from_cache

    started = time.perf_counter()
    await asyncio.gather(*(caller() for _ in range(CALLERS)))
    return cached, time.perf_counter() - started


async def measure(folder: Path, size: int, entries: int, hits: int) -> dict[str, float]:
    urls = [f"http://127.0.0.1/20k?{number}" for number in range(entries)]
    storage = AsyncSqliteStorage(database_path=folder / "hishel.db")
    cached, store_s = await ask(storage, iter(urls), size)
    assert cached == 0
    await storage.close()
    storage = AsyncSqliteStorage(database_path=folder / "hishel.db")
    cached, hit_s = await ask(storage, islice(cycle(urls), hits), size)
    assert cached == hits
    await storage.close()
    return {"stores_per_s": entries / store_s, "answers_per_s": hits / hit_s}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--size", type=int, required=True)
    parser.add_argument("--entries", type=int, required=True)
    parser.add_argument("--hits", type=int, required=True)
    options = parser.parse_args()
    print(json.dumps(uvloop.run(measure(**vars(options)))))


if __name__ == "__main__":
    main()
