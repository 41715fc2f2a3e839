"""`Crawl-delay`: the time that a host wants between two requests."""

import asyncio

import pytest

from headgate.core.fault import Fault, FaultClass
from headgate.core.provider import InlineRetry, ProviderPolicy
from headgate.net.crawl_delay import CrawlDelayed, CrawlDelays
from headgate.testing import FakeClock
from tests.kit.answers import Answer, Script, always, by_path, in_turn
from tests.kit.gates import NarrowGates
from tests.kit.http import Bench, bench
from tests.kit.provider import Provider

OBEDIENT = {"shop": ProviderPolicy(robots=True, patience_s=25.0)}


def asking_for(delay: str, otherwise: Script | None = None) -> Script:
    rules = Answer(200, body=f"User-agent: *\nCrawl-delay: {delay}".encode())
    return by_path({"/robots.txt": always(rules)}, otherwise or always(Answer(200)))


def pages(provider: Provider) -> int:
    return sum(seen.request.path != "/robots.txt" for seen in provider.seen)


async def status(cli: Bench, url: str) -> int:
    return (await cli.client("shop").get(url)).status_code


async def sent_away(cli: Bench, url: str) -> float | None:
    with pytest.raises(CrawlDelayed) as caught:
        await status(cli, url)
    assert isinstance(caught.value.ending, Fault)
    assert caught.value.ending.kind is FaultClass.THROTTLED
    return caught.value.ending.retry_after_s


async def test_requests_keep_the_distance(provider: Provider):
    provider.script = asking_for("10")
    clock = FakeClock()
    async with bench(OBEDIENT, clock=clock) as cli:
        assert await status(cli, provider.url()) == 200
        second = asyncio.ensure_future(status(cli, provider.url()))
        await clock.until_asleep()
        await clock.advance(9.9)
        assert clock.sleepers == 1
        assert pages(provider) == 1
        await clock.advance(0.1)
        assert await second == 200
    _, first, last = cli.calls
    assert (first.waited_ms, first.cause) == (0.0, "")
    assert last.waited_ms == 10_000.0
    assert last.cause == "crawl-delay: robots.txt asks for 10 s between two requests"
    assert last.at_us - first.at_us == 10_000_000


async def test_repetitions_keep_it_too(provider: Provider):
    provider.script = asking_for("10", in_turn(Answer(500), Answer(200)))
    clock = FakeClock()
    policy = ProviderPolicy(robots=True, retry=InlineRetry(retries=1, base_s=0.0))
    async with bench({"shop": policy}, clock=clock) as cli:
        repeated = asyncio.ensure_future(status(cli, provider.url()))
        await clock.until_asleep()
        assert pages(provider) == 1
        await clock.advance(10)
        assert await repeated == 200


async def test_a_request_that_would_wait_too_long_goes_back_with_its_own_time(provider: Provider):
    provider.script = asking_for("10")
    clock = FakeClock()
    async with bench(OBEDIENT, clock=clock) as cli:
        await status(cli, provider.url())
        standing = [asyncio.ensure_future(status(cli, provider.url())) for _ in range(2)]
        await clock.until_asleep()
        assert [await sent_away(cli, provider.url()) for _ in range(3)] == [30.0, 40.0, 50.0]
        for task in standing:
            await clock.advance(10)
            await task
        await clock.advance(10)
        assert await status(cli, provider.url()) == 200
        assert pages(provider) == 4


async def test_the_crawl_delay_counts_from_the_time_of_the_permit(provider: Provider):
    provider.script = asking_for("10")
    clock, gates = FakeClock(), NarrowGates(1)
    async with bench(OBEDIENT, clock=clock, gates=gates) as cli:
        async with cli.client("shop").stream("GET", provider.url()):
            await clock.advance(10)
            at_the_gate = asyncio.ensure_future(status(cli, provider.url("/2")))
            after_it = asyncio.ensure_future(status(cli, provider.url("/3")))
            await clock.advance(7)
        assert await at_the_gate == 200
        assert clock.sleepers == 1
        await clock.advance(9.9)
        assert clock.sleepers == 1
        await clock.advance(0.1)
        assert await after_it == 200
    sent = [call.at_us for call in cli.calls[2:]]
    assert sent[1] - sent[0] == 10_000_000


@pytest.mark.parametrize(
    ("delay", "wait_s"), [("3600", 60.0), ("0.5", 0.5), ("0", None), ("-1", None), ("soon", None)]
)
async def test_no_more_than_a_minute_is_granted(
    provider: Provider, delay: str, wait_s: float | None
):
    provider.script = asking_for(delay)
    policy = ProviderPolicy(robots=True, patience_s=0.0)
    async with bench({"shop": policy}, clock=FakeClock()) as cli:
        await status(cli, provider.url())
        if wait_s is None:
            assert await status(cli, provider.url()) == 200
        else:
            assert await sent_away(cli, provider.url()) == wait_s


async def test_a_crawl_delay_never_waits_more_than_an_hour(provider: Provider):
    provider.script = asking_for("60")
    async with bench(
        {"shop": ProviderPolicy(robots=True, patience_s=0.0)}, clock=FakeClock()
    ) as cli:
        await status(cli, provider.url())
        waits = [await sent_away(cli, provider.url()) for _ in range(62)]
    assert waits[:2] == [60.0, 120.0]
    assert waits[-4:] == [3_540.0, 3_600.0, 3_600.0, 3_600.0]


async def test_a_host_may_ask_for_less_later(provider: Provider):
    provider.script = asking_for("60")
    clock = FakeClock()
    async with bench({"shop": ProviderPolicy(robots=True, patience_s=0.0)}, clock=clock) as cli:
        await status(cli, provider.url())
        provider.script = always(Answer(404))
        await clock.advance(86_400)
        for _ in range(3):
            await status(cli, provider.url())


async def test_no_more_is_remembered_than_there_is_room_for(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(CrawlDelays, "MOST", 1)
    provider.script = asking_for("10")
    async with bench(OBEDIENT, clock=FakeClock()) as cli:
        await status(cli, provider.url())
        await status(cli, provider.url(host="localhost"))
        routes, crawl_delays = cli.stack.routes, cli.stack.deps.crawl_delays
        assert crawl_delays.of(routes.find(provider.url(), "shop")[0]) is None
        assert crawl_delays.of(routes.find(provider.url(host="localhost"), "shop")[0]) is not None
