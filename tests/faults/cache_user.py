"""One process of several that use the same HTTP cache, and check all that it gives them."""

import asyncio
import sys
from pathlib import Path
from random import Random

from headgate.core.provider import CachePolicy
from headgate.engine.clock import SystemClock
from headgate.net.cache import HttpCache
from headgate.ports.wire import WireRequest
from headgate.transfer.blobs import LocalBlobs

URLS = 60
CALLERS = 8


def body_of(url: str) -> bytes:
    """Every other one is too large for the index."""
    number = int(url.rpartition("/")[2])
    return f"{url} ".encode() * (3_000 if number % 2 else 300)


class Reply:
    """An answer that may be kept, for a while or until it is asked about."""

    def __init__(self, request: WireRequest, rng: Random) -> None:
        url = request.url
        known = any(name == "if-none-match" for name, _ in request.headers)
        self.status = 304 if known else 200
        age = rng.choice(["max-age=0", "max-age=60", "no-store"])
        self.headers = (("cache-control", age), ("etag", f'"{url}"'))
        self._body = b"" if known else body_of(url)

    async def chunks(self):
        for place in range(0, len(self._body), 16_384):
            yield self._body[place : place + 16_384]

    async def read(self, limit):
        return self._body

    async def close(self):
        pass


async def use(cache: HttpCache, rng: Random, rounds: int) -> None:
    async def send(request: WireRequest) -> Reply:
        return Reply(request, rng)

    for _ in range(rounds):
        url = f"http://a/{rng.randrange(URLS)}"
        method = "POST" if rng.random() < 0.02 else "GET"
        request = WireRequest(method, url)
        reply = await cache.fetch(request, send, partition="ann", policy=CachePolicy())
        body = b"".join([chunk async for chunk in reply.chunks()])
        assert body == body_of(url), (url, reply.kind, len(body))
        await reply.close()


async def main(folder: Path, seed: int, rounds: int) -> None:
    clock = SystemClock()
    blobs = LocalBlobs(folder / "blobs", clock, durable=False)
    warnings: list[object] = []

    def warn(event: str, **facts: object) -> None:
        warnings.append((event, facts))

    async with HttpCache(folder, blobs, clock, max_bytes=1_500_000, warn=warn) as cache:
        rng = Random(seed)
        await use(cache, rng, 20)
        print("begun", flush=True)  # noqa: T201  the test waits for this word
        await asyncio.gather(*(use(cache, rng, rounds) for _ in range(CALLERS)))
    await blobs.close()
    assert warnings == [], warnings


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
