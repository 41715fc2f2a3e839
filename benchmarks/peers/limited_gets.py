"""Fetch the same small body over and over from a server with a limit, until interrupted.

Told a rate or a number at a time, it keeps to that; else it backs off when it is refused.
Runs under the bench environment's Python, so it imports nothing of ours.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
from collections.abc import Awaitable, Callable

import aiohttp
import uvloop
from aiolimiter import AsyncLimiter
from tenacity import retry, retry_if_exception_type, wait_random_exponential

REFUSALS = {429, 503}
Fetch = Callable[[str], Awaitable[None]]


class Refused(Exception):
    """Too many."""


def bare(session: aiohttp.ClientSession) -> Fetch:
    async def fetch(url: str) -> None:
        async with session.get(url) as reply:
            await reply.read()
            if reply.status in REFUSALS:
                raise Refused
            assert reply.status == 200

    return fetch


def backing_off(fetch: Fetch) -> Fetch:
    """As tenacity's own documentation has it: up to 1, 2, 4 ... 60 s, drawn evenly, and no end."""
    refused = retry_if_exception_type(Refused)
    return retry(wait=wait_random_exponential(multiplier=1, max=60), retry=refused)(fetch)


def behind(limiter: contextlib.AbstractAsyncContextManager[None], fetch: Fetch) -> Fetch:
    async def limited(url: str) -> None:
        while True:
            with contextlib.suppress(Refused):
                async with limiter:
                    return await fetch(url)

    return limited


async def work(url: str, callers: int, rate: float | None, slots: int | None) -> None:
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        fetch = bare(session)
        if rate:
            fetch = behind(AsyncLimiter(1, 1 / rate), fetch)
        elif slots:
            fetch = behind(asyncio.Semaphore(slots), fetch)
        else:
            fetch = backing_off(fetch)
        numbers = itertools.count()

        async def caller() -> None:
            for number in numbers:
                await fetch(f"{url}?{number}")

        await asyncio.gather(*(caller() for _ in range(callers)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--callers", type=int, required=True)
    told = parser.add_mutually_exclusive_group()
    told.add_argument("--rate", type=float, help="requests a second")
    told.add_argument("--slots", type=int, help="requests at a time")
    with contextlib.suppress(KeyboardInterrupt):
        uvloop.run(work(**vars(parser.parse_args())))


if __name__ == "__main__":
    main()
