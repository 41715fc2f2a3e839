"""Plain functions, which run in threads, have the same client."""

import asyncio

import pytest

from headgate.core.fault import AttemptOver
from headgate.net.blocking import BlockingClient
from tests.kit.answers import Answer, always
from tests.kit.http import Bench, bench
from tests.kit.provider import Provider


def client(cli: Bench) -> BlockingClient:
    return BlockingClient(cli.client(), asyncio.get_running_loop())


async def test_an_answer_is_there_when_the_call_returns(provider: Provider):
    async with bench() as cli:
        http = client(cli)
        answer = await asyncio.to_thread(http.get, provider.url("/a"), params={"b": 1})
    assert answer.text == "hello"
    assert provider.seen[0].request.target == "/a?b=1"


@pytest.mark.parametrize("method", ["get", "head", "post", "put", "patch", "delete"])
async def test_there_is_a_method_for_each_method(provider: Provider, method: str):
    async with bench() as cli:
        await asyncio.to_thread(getattr(client(cli), method), provider.url())
    assert provider.seen[0].request.method == method.upper()


async def test_what_ends_an_attempt_is_raised_in_the_thread(provider: Provider):
    provider.script = always(Answer(404))
    async with bench() as cli:
        http = client(cli)

        def lookup() -> None:
            http.post(provider.url()).raise_for_status()

        with pytest.raises(AttemptOver, match="answered 404"):
            await asyncio.to_thread(lookup)


async def test_an_answer_is_read_piece_by_piece(provider: Provider):
    provider.script = always(Answer(200, [("X-A", "1")], b"abc", drip_s=0.02))
    async with bench() as cli:
        http = client(cli)

        def read() -> list[bytes]:
            with http.stream("GET", provider.url()) as answer:
                assert answer.raise_for_status() is answer
                assert (answer.status_code, answer.url) == (200, provider.url())
                assert answer.headers["x-a"] == "1"
                pieces = list(answer.iter_bytes())
            with http.stream("GET", provider.url()) as answer:
                return [*pieces, answer.read()]

        assert await asyncio.to_thread(read) == [b"a", b"b", b"c", b"abc"]
        assert all(permit.released for permit in cli.gates.permits)


async def test_a_stream_that_is_left_early_gives_its_place_back(provider: Provider):
    provider.script = always(Answer(200, body=b"x" * 1_000_000))
    async with bench() as cli:
        http = client(cli)

        def leave() -> None:
            with http.stream("GET", provider.url()) as answer:
                next(answer.iter_bytes())
                raise ValueError("enough")

        with pytest.raises(ValueError, match="enough"):
            await asyncio.to_thread(leave)
        assert cli.gates.permits[0].released


async def test_the_actual_cost_is_reported(provider: Provider):
    async with bench() as cli:
        http = client(cli)
        await asyncio.to_thread(http.get, provider.url(), cost={"tokens": 10})
        await asyncio.to_thread(http.spend, {"tokens": 7})
        assert cli.gates.permits[0].told[-1] == "spend {'tokens': 7}"
