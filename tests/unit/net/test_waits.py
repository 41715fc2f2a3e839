"""Every wait for another request, or for a host's wish, stops the clock of the handler."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from headgate.core.provider import InlineRetry, ProviderPolicy
from headgate.net.cache import HttpCache
from headgate.net.client import HttpClient
from headgate.ports.gate import Turn
from headgate.testing import FakeClock
from headgate.transfer.blobs import LocalBlobs
from tests.kit.answers import Answer, always, by_path
from tests.kit.http import Bench, bench, no_trouble
from tests.kit.provider import Provider

OBEDIENT = {"shop": ProviderPolicy(robots=True, retry=InlineRetry(retries=0))}
FRESH = [("Cache-Control", "max-age=60")]
HELLO = always(Answer(200, FRESH, b"hello", delay_s=0.05))


class Heard:
    """Counts the waits of one handler."""

    def __init__(self) -> None:
        self.begun = 0
        self.open = 0

    def begin(self) -> None:
        self.begun += 1
        self.open += 1

    def end(self) -> None:
        self.open -= 1
        assert self.open >= 0


@pytest.fixture
async def cache(tmp_path: Path) -> AsyncIterator[HttpCache]:
    clock = FakeClock()
    async with HttpCache(
        tmp_path, LocalBlobs(tmp_path / "blobs", clock), clock, warn=no_trouble
    ) as cache:
        yield cache


def client(cli: Bench, heard: Heard, provider: str = "") -> HttpClient:
    return cli.stack.client(Turn("alice", 1, heard), provider, cli.calls.append)


async def test_one_that_gets_the_answer_of_another_waits_for_it(
    provider: Provider, cache: HttpCache
):
    """The one that fetches may stand before a gate meanwhile."""
    provider.script = HELLO
    first, second = Heard(), Heard()
    async with bench(cache=cache) as cli:
        await asyncio.gather(
            client(cli, first).get(provider.url()), client(cli, second).get(provider.url())
        )
    assert (first.begun, second.begun) == (0, 1)
    assert second.open == 0


async def test_one_that_waits_for_robots_txt_waits(provider: Provider):
    provider.script = by_path({"/robots.txt": HELLO}, otherwise=HELLO)
    first, second = Heard(), Heard()
    async with bench(OBEDIENT) as cli:
        await asyncio.gather(
            client(cli, first, "shop").get(provider.url("/1")),
            client(cli, second, "shop").get(provider.url("/2")),
        )
    assert second.begun >= 1
    assert (first.open, second.open) == (0, 0)


async def test_one_whose_host_asks_for_time_between_requests_waits(provider: Provider):
    rules = Answer(200, body=b"User-agent: *\nCrawl-delay: 0.05")
    provider.script = by_path({"/robots.txt": always(rules)}, otherwise=HELLO)
    heard = Heard()
    async with bench(OBEDIENT) as cli:
        for row in range(3):
            await client(cli, heard, "shop").get(provider.url(f"/{row}"))
    assert heard.begun >= 3
    assert heard.open == 0
