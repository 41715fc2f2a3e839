"""Bodies with false lengths, early ends, no end or huge expansion; and many at the same time."""

import asyncio
import gzip
import tracemalloc
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack

import pytest

from headgate.core.body_limits import DecompressionLimit
from headgate.core.fault import Fault, FaultClass
from headgate.net.failure import FailureKind, WireFailure
from headgate.net.wire import AiohttpWire
from headgate.ports.wire import Headers, WireRequest, WireTimeouts
from tests.kit.answers import Answer, always, in_turn
from tests.kit.endless_servers import FloodServer
from tests.kit.http import bench
from tests.kit.provider import Provider
from tests.kit.tcp_server import Listener

CHUNKED = [("Transfer-Encoding", "chunked")]
GZIP = [("Content-Encoding", "gzip")]
HELLO = b"5\r\nhello\r\n"
IMPATIENT = WireTimeouts(connect_s=5.0, read_s=0.2, total_s=1.0)
STREAMS = 64


@pytest.fixture
async def wire() -> AsyncIterator[AiohttpWire]:
    wire = AiohttpWire(inflation=DecompressionLimit(harmless_bytes=1_000_000))
    yield wire
    await wire.close()


@pytest.fixture
def flood() -> Iterator[FloodServer]:
    with FloodServer() as flood:
        yield flood


async def pieces(
    wire: AiohttpWire, url: str, headers: Headers = (), patience: WireTimeouts | None = None
) -> AsyncIterator[bytes]:
    """A body as a reader of streams gets it."""
    reply = await wire.send(WireRequest("GET", url, headers, patience=patience or WireTimeouts()))
    try:
        async for piece in reply.chunks():
            yield piece
    finally:
        await reply.close()


async def through(body: AsyncIterator[bytes]) -> None:
    """Read to the end and keep nothing."""
    async for _ in body:
        pass


async def body_of(wire: AiohttpWire, url: str) -> bytes:
    return b"".join([piece async for piece in pieces(wire, url)])


LIES = {
    "shorter than it says": (
        Answer(200, [("Content-Length", "10")], b"hello!", cut_at=5),
        FailureKind.CUT,
    ),
    "10 GB, it says": (
        Answer(200, [("Content-Length", "10000000000")], b"hello!", cut_at=5),
        FailureKind.CUT,
    ),
    "cut between chunks": (Answer(200, CHUNKED, HELLO + b".", cut_at=len(HELLO)), FailureKind.CUT),
    "cut within a chunk": (Answer(200, CHUNKED, HELLO, cut_at=5), FailureKind.CUT),
    "cut before the first chunk": (Answer(200, CHUNKED, HELLO, cut_at=0), FailureKind.CUT),
    "falls silent": (Answer(200, [("Content-Length", "10")], b"hello"), FailureKind.TIMEOUT),
    "falls silent between chunks": (Answer(200, CHUNKED, HELLO), FailureKind.TIMEOUT),
    "drips": (Answer(200, body=b"x" * 1_000, drip_s=0.1), FailureKind.TIMEOUT),
}
SPOILT = {
    "no gzip": (Answer(200, GZIP, b"hello"), FailureKind.ENCODING),
    "half of a gzip": (Answer(200, GZIP, gzip.compress(b"hello" * 100)[:-8]), FailureKind.ENCODING),
    "an encoding that nobody asked for": (
        Answer(200, [("Content-Encoding", "br")], b"hello"),
        FailureKind.ENCODING,
    ),
    "a bomb": (Answer(200, GZIP, gzip.compress(bytes(20_000_000))), FailureKind.BOMB),
}


@pytest.mark.parametrize("lie", LIES)
async def test_a_false_answer_ends_with_a_reason_and_its_connection_is_closed(
    wire: AiohttpWire, provider: Provider, lie: str
):
    answer, kind = LIES[lie]
    provider.script = in_turn(answer, Answer(200, body=b"hello"))
    with pytest.raises(WireFailure) as caught:
        await through(pieces(wire, provider.url("/?key=secret"), patience=IMPATIENT))
    assert (caught.value.kind, caught.value.sent) == (kind, True)
    assert "secret" not in str(caught.value)
    assert await body_of(wire, provider.url()) == b"hello"
    assert provider.connections == 2


async def test_a_body_that_is_declared_chunked_and_is_not(wire: AiohttpWire, provider: Provider):
    provider.script = in_turn(Answer(200, CHUNKED, b"hello hello"), Answer(200, body=b"hello"))
    with pytest.raises(WireFailure) as caught:
        await through(pieces(wire, provider.url(), patience=IMPATIENT))
    # aiohttp says so only if head and body came together; else the watch over the body ends it.
    assert caught.value.kind in {FailureKind.PROTOCOL, FailureKind.TIMEOUT}
    assert await body_of(wire, provider.url()) == b"hello"
    assert provider.connections == 2


@pytest.mark.parametrize("how", SPOILT)
async def test_a_body_that_cannot_be_decompressed_ends_with_a_reason(
    wire: AiohttpWire, provider: Provider, how: str
):
    answer, kind = SPOILT[how]
    provider.script = always(answer)
    with pytest.raises(WireFailure) as streamed:
        await through(pieces(wire, provider.url("/?key=secret")))
    reply = await wire.send(WireRequest("GET", provider.url()))
    with pytest.raises(WireFailure) as read:
        await reply.read(100_000_000)
    assert (streamed.value.kind, read.value.kind) == (kind, kind)
    assert "secret" not in str(streamed.value)


async def test_more_than_was_announced_is_not_taken_for_the_next_answer(
    wire: AiohttpWire, provider: Provider
):
    extra = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
    lie = Answer(200, [("Content-Length", "5")], b"hello" + extra)
    provider.script = in_turn(lie, Answer(200, body=b"good"))
    assert await body_of(wire, provider.url()) == b"hello"
    assert await body_of(wire, provider.url()) == b"good"


async def test_data_after_the_end_of_a_body_is_not_taken_for_the_next_answer(wire: AiohttpWire):
    head_read = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n")
        await head_read.wait()
        writer.write(b"good" + b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
        await reader.read()

    async with Listener(answer) as server:
        url = server.url()
        for _ in range(2):
            reply = await wire.send(WireRequest("GET", url))
            head_read.set()
            assert await reply.read(100) == b"good"
            head_read.clear()
        await wire.close()


async def test_a_compressed_body_is_decompressed_even_if_it_was_not_requested(
    wire: AiohttpWire, provider: Provider
):
    provider.script = always(Answer(200, GZIP, gzip.compress(b"%PDF-1.7" * 100_000)))
    identity = (("accept-encoding", "identity"),)
    found = [piece async for piece in pieces(wire, provider.url(), identity)]
    assert b"".join(found) == b"%PDF-1.7" * 100_000
    assert max(map(len, found)) <= 64 * 1024


async def test_a_file_that_is_packed_by_itself_stays_so(wire: AiohttpWire, provider: Provider):
    packed = gzip.compress(b"a tar file")
    both = [("Content-Encoding", "x-gzip"), ("Content-Type", "application/x-gzip")]
    provider.script = always(Answer(200, both, packed))
    assert await body_of(wire, provider.url()) == packed


@pytest.mark.parametrize("encoding", ["gzip", "br"])
async def test_no_body_needs_no_unpacking(wire: AiohttpWire, provider: Provider, encoding: str):
    provider.script = always(Answer(200, [("Content-Encoding", encoding)], b""))
    assert await body_of(wire, provider.url()) == b""
    reply = await wire.send(WireRequest("HEAD", provider.url()))
    assert await reply.read(10) == b""


async def test_a_bomb_costs_little_memory_and_no_further_try(provider: Provider):
    bomb = gzip.compress(bytes(50_000_000))
    provider.script = always(Answer(200, GZIP, bomb))
    async with bench() as cli:
        async with cli.client().stream("GET", provider.url()) as answer:
            tracemalloc.start()
            try:
                with pytest.raises(WireFailure, match="sent a decompression bomb") as caught:
                    await through(answer.aiter_bytes())
                _, peak = tracemalloc.get_traced_memory()
            finally:
                tracemalloc.stop()
        with pytest.raises(WireFailure, match="sent a decompression bomb"):
            await cli.client().get(provider.url())
    assert caught.value.kind is FailureKind.BOMB
    assert isinstance(caught.value.ending, Fault)
    assert caught.value.ending.kind is FaultClass.PERMANENT
    assert peak < 5_000_000
    assert len(provider.seen) == 2


async def test_an_endless_body_ends_when_its_time_is_over(wire: AiohttpWire, flood: FloodServer):
    patience = WireTimeouts(total_s=0.3)
    with pytest.raises(WireFailure, match=r"took longer than 0\.3 s") as caught:
        await through(pieces(wire, flood.url(), patience=patience))
    assert caught.value.kind is FailureKind.TIMEOUT


async def test_many_streams_of_one_host_run_at_once(flood: FloodServer):
    async with bench() as cli, AsyncExitStack() as streams:
        opening = (
            streams.enter_async_context(cli.client().stream("GET", flood.url()))
            for _ in range(STREAMS)
        )
        answers = await asyncio.gather(*opening)
        readers = [answer.aiter_bytes() for answer in answers]
        assert all(await asyncio.gather(*(anext(reader) for reader in readers)))
        assert cli.gates.inside == STREAMS
        assert flood.connections == STREAMS


async def test_a_body_that_is_read_slowly_is_not_buffered(wire: AiohttpWire, flood: FloodServer):
    """The server sends as fast as it can; what we do not read stays there."""
    bodies = [pieces(wire, flood.url()) for _ in range(STREAMS)]
    for body in bodies:
        await anext(body)
    tracemalloc.start()
    try:
        for _ in range(5):
            for body in bodies:
                await anext(body)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        for body in bodies:
            await body.aclose()  # type: ignore[attr-defined]
    # One piece at the reader's and one that lies ready; a loop reads 256 kB at a time.
    assert peak / STREAMS < 600_000
