"""Streams whose bodies a handler keeps: fetched once, confirmed later, and known by a note."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from headgate.core.call import CallKind
from headgate.core.errors import UsageError
from headgate.net.blocking import BlockingClient
from headgate.net.cache import HttpCache
from headgate.testing import FakeClock
from headgate.transfer.blobs import LocalBlobs
from tests.kit.answers import Answer, always, by_path, in_turn, tagged
from tests.kit.http import Bench, bench, no_trouble
from tests.kit.provider import Provider

FRESH = [("Cache-Control", "max-age=60")]
FETCHED, CACHED, REVALIDATED = CallKind.FETCHED, CallKind.CACHED, CallKind.REVALIDATED


@pytest.fixture
async def cache(tmp_path: Path) -> AsyncIterator[HttpCache]:
    clock = FakeClock()
    async with HttpCache(
        tmp_path, LocalBlobs(tmp_path / "blobs", clock), clock, warn=no_trouble
    ) as cache:
        yield cache


async def download(cli: Bench, url: str, **options: Any) -> tuple[CallKind, bytes, str]:
    """Fetch, and keep under the name `a.pdf`."""
    async with cli.client().stream("GET", url, kept_in="/papers", **options) as answer:
        body = await answer.aread()
        if answer.status_code == 200 and not answer.kept:
            await answer.keep("a.pdf")
        return answer.kind, body, answer.kept


async def test_a_fresh_one_costs_no_request(provider: Provider, cache: HttpCache):
    provider.script = always(Answer(200, FRESH, b"hello"))
    async with bench(cache=cache) as cli:
        assert await download(cli, provider.url()) == (FETCHED, b"hello", "")
        assert await download(cli, provider.url()) == (CACHED, b"", "a.pdf")
        assert len(cli.gates.permits) == 1
    assert [(call.kind, call.status, call.bytes) for call in cli.calls] == [
        (FETCHED, 200, 5),
        (CACHED, 200, 0),
    ]


async def test_a_stale_one_costs_a_304(provider: Provider, cache: HttpCache):
    provider.script = tagged(b"hello")
    async with bench(cache=cache) as cli:
        await download(cli, provider.url())
        assert await download(cli, provider.url()) == (REVALIDATED, b"", "a.pdf")
    assert [(call.kind, call.status, call.bytes) for call in cli.calls] == [
        (FETCHED, 200, 5),
        (REVALIDATED, 304, 0),
    ]


async def test_what_is_gone_is_asked_for_again(provider: Provider, cache: HttpCache):
    provider.script = tagged(b"hello", "max-age=60")
    async with bench(cache=cache) as cli:
        await download(cli, provider.url())
        assert await download(cli, provider.url(), refetch=True) == (FETCHED, b"hello", "")
    assert "if-none-match" not in provider.seen[1].request.headers


async def test_a_chain_of_redirects_is_remembered_too(provider: Provider, cache: HttpCache):
    moved = Answer(301, [*FRESH, ("Location", "/b")], b"over there")
    provider.script = by_path({"/a": always(moved), "/b": always(Answer(200, FRESH, b"hello"))})
    async with bench(cache=cache) as cli:
        assert await download(cli, provider.url("/a")) == (FETCHED, b"hello", "")
        async with cli.client().stream("GET", provider.url("/a"), kept_in="/papers") as answer:
            assert (answer.kind, answer.kept) == (CACHED, "a.pdf")
            assert answer.url == provider.url("/b")
    assert len(provider.seen) == 2


async def test_a_part_is_asked_for_past_the_cache(provider: Provider, cache: HttpCache):
    part = Answer(206, [*FRESH, ("Content-Range", "bytes 3-4/5"), ("ETag", '"1"')], b"lo")
    whole = Answer(200, [*FRESH, ("ETag", '"1"')], b"hello")
    provider.script = in_turn(whole, part)
    headers = {"Range": "bytes=3-", "If-Range": '"1"'}
    async with bench(cache=cache) as cli:
        await download(cli, provider.url())
        found = await download(cli, provider.url(), headers=headers)
        assert found == (FETCHED, b"lo", "")
        assert await download(cli, provider.url()) == (CACHED, b"", "a.pdf")
    assert provider.seen[1].request.headers["range"] == "bytes=3-"


async def test_one_fetches_for_all_who_keep_in_one_place(provider: Provider, cache: HttpCache):
    provider.script = always(Answer(200, FRESH, b"hello", delay_s=0.05))
    async with bench(cache=cache) as cli:
        answers = await asyncio.gather(*(download(cli, provider.url()) for _ in range(16)))
    assert sorted(answers) == [
        (FETCHED, b"hello", ""),
        *[(CallKind.SHARED, b"", "a.pdf")] * 15,
    ]
    assert len(provider.seen) == 1


async def test_without_a_cache_keeping_does_nothing(provider: Provider):
    provider.script = always(Answer(200, FRESH, b"hello"))
    async with bench() as cli:
        for _ in range(2):
            assert await download(cli, provider.url()) == (FETCHED, b"hello", "")


async def test_only_a_stream_can_be_kept(provider: Provider):
    async with bench() as cli:
        with pytest.raises(UsageError, match=r"use ctx\.http\.stream"):
            await cli.client().get(provider.url(), kept_in="/papers")
    assert provider.seen == []


async def test_plain_functions_keep_in_the_same_way(provider: Provider, cache: HttpCache):
    provider.script = always(Answer(200, FRESH, b"hello"))
    async with bench(cache=cache) as cli:
        http = BlockingClient(cli.client(), asyncio.get_running_loop())

        def fetch() -> tuple[CallKind, str]:
            with http.stream("GET", provider.url(), kept_in="/papers") as answer:
                if answer.read():
                    answer.keep("a.pdf")
                return answer.kind, answer.kept

        assert await asyncio.to_thread(fetch) == (FETCHED, "")
        assert await asyncio.to_thread(fetch) == (CACHED, "a.pdf")
