"""What the cache can answer passes no gate, and is written down all the same."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from headgate.core.call import CallKind
from headgate.core.provider import CachePolicy, CredentialPolicy, ProviderPolicy
from headgate.net.cache import HttpCache
from headgate.net.policy import NetPolicy
from headgate.ports.gate import Turn
from headgate.testing import FakeClock
from headgate.transfer.blobs import LocalBlobs
from tests.kit.answers import Answer, always, refusal, tagged
from tests.kit.http import bench, no_trouble
from tests.kit.provider import Provider

FRESH = [("Cache-Control", "max-age=60")]


@pytest.fixture
async def cache(tmp_path: Path) -> AsyncIterator[HttpCache]:
    clock = FakeClock()
    async with HttpCache(
        tmp_path, LocalBlobs(tmp_path / "blobs", clock), clock, warn=no_trouble
    ) as cache:
        yield cache


async def test_a_fresh_answer_costs_no_token(provider: Provider, cache: HttpCache):
    provider.script = always(Answer(200, FRESH, b"hello"))
    async with bench(cache=cache) as cli:
        first = await cli.client().get(provider.url())
        second = await cli.client().get(provider.url())
        assert len(cli.gates.permits) == 1
    assert (first.text, first.from_cache) == ("hello", False)
    assert (second.text, second.from_cache) == ("hello", True)
    fetched, cached = cli.calls
    assert (fetched.kind, fetched.bytes) == (CallKind.FETCHED, 5)
    assert (cached.kind, cached.bytes, cached.status) == (CallKind.CACHED, 5, 200)
    assert cached.host == fetched.host


async def test_a_streamed_answer_comes_from_the_cache_too(provider: Provider, cache: HttpCache):
    provider.script = always(Answer(200, FRESH, b"x" * 1_000_000))
    async with bench(cache=cache) as cli:
        for _ in range(2):
            async with cli.client().stream("GET", provider.url()) as answer:
                assert len(await answer.aread()) == 1_000_000
    assert [call.kind for call in cli.calls] == [CallKind.FETCHED, CallKind.CACHED]
    assert [call.bytes for call in cli.calls] == [1_000_000] * 2


async def test_a_confirmed_answer_is_one_call(provider: Provider, cache: HttpCache):
    provider.script = tagged(b"hello")
    async with bench(cache=cache) as cli:
        await cli.client().get(provider.url())
        answer = await cli.client().get(provider.url())
    assert (answer.text, answer.status_code, answer.from_cache) == ("hello", 200, True)
    assert [(call.kind, call.status) for call in cli.calls] == [
        (CallKind.FETCHED, 200),
        (CallKind.REVALIDATED, 304),
    ]


async def test_one_caller_fetches_for_all(provider: Provider, cache: HttpCache):
    provider.script = always(Answer(200, FRESH, b"hello", delay_s=0.05))
    async with bench(cache=cache) as cli:
        answers = await asyncio.gather(*(cli.client().get(provider.url()) for _ in range(64)))
        assert len(cli.gates.permits) == 1
    assert {answer.text for answer in answers} == {"hello"}
    assert sorted(call.kind for call in cli.calls) == [CallKind.FETCHED, *[CallKind.SHARED] * 63]


async def test_the_cache_can_be_bypassed(provider: Provider, cache: HttpCache):
    provider.script = always(Answer(200, FRESH, b"hello"))
    async with bench(cache=cache) as cli:
        await cli.client().get(provider.url())
        answer = await cli.client().get(provider.url(), fresh=True)
    assert not answer.from_cache
    assert len(provider.seen) == 2


async def test_a_provider_may_want_no_cache(provider: Provider, cache: HttpCache):
    provider.script = always(Answer(200, FRESH, b"hello"))
    off = ProviderPolicy(cache=CachePolicy(enabled=False))
    async with bench({"p": off}, cache=cache) as cli:
        for _ in range(2):
            await cli.client("p").get(provider.url())
    assert len(provider.seen) == 2


async def test_a_refusal_is_not_kept(provider: Provider, cache: HttpCache):
    provider.script = always(refusal("0", headers=FRESH))
    async with bench(cache=cache) as cli:
        with pytest.raises(Exception, match="asked to slow down"):
            await cli.client().get(provider.url())
        provider.script = always(Answer(200, FRESH, b"hello"))
        assert (await cli.client().get(provider.url())).text == "hello"


async def test_owners_share_nothing(provider: Provider, cache: HttpCache):
    provider.script = always(Answer(200, FRESH, b"hello"))
    async with bench(cache=cache) as cli:
        await cli.client().get(provider.url())
        bob = cli.stack.client(Turn("bob", 2), "", cli.calls.append)
        await bob.get(provider.url())
    assert len(provider.seen) == 2


async def test_a_guarded_request_sees_nothing_that_was_fetched_unguarded(
    provider: Provider, cache: HttpCache
):
    provider.script = always(Answer(200, FRESH, b"hello"))
    async with bench(cache=cache) as cli:
        await cli.client().get(provider.url())
        with pytest.raises(Exception, match="address refused"):
            await cli.client(guarded=True).get(provider.url())


async def test_an_answer_to_a_credential_is_served_only_with_that_credential(
    provider: Provider, cache: HttpCache, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("KEY", "secret")
    provider.script = always(Answer(200, FRESH, b"hello"))
    host = f"127.0.0.1:{provider.port}"
    keyed = ProviderPolicy(hosts=(host,), credentials={"main": CredentialPolicy(env="KEY")})
    async with bench({"p": keyed}, cache=cache) as cli:
        await cli.client("p").get(provider.url())
    async with bench(cache=cache, policy=NetPolicy()) as cli:
        await cli.client().get(provider.url())
    assert len(provider.seen) == 2


async def test_a_cached_answer_that_is_too_large_is_too_large(provider: Provider, cache: HttpCache):
    provider.script = always(Answer(200, FRESH, b"x" * 2_000))
    async with bench(cache=cache) as cli:
        await cli.client().get(provider.url())
    async with bench(cache=cache, policy=NetPolicy(body_bytes=1_000)) as cli:
        with pytest.raises(Exception, match="more than 1,000 bytes"):
            await cli.client().get(provider.url())
    assert len(provider.seen) == 1
