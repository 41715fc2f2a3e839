"""The wire sends requests unchanged, and describes failures in plain words."""

import asyncio
import gzip
from collections.abc import AsyncIterator

import pytest

from headgate.core.fault import Fault, FaultClass
from headgate.net.connections import BUFFER
from headgate.net.failure import FailureKind, RequestRecalled, WireFailure
from headgate.net.wire import MANY, AiohttpReply, AiohttpWire
from headgate.ports.wire import Headers, WireRequest, WireTimeouts
from tests.kit.answers import Answer, always, in_turn, redirect
from tests.kit.ports import LOOPBACK, free_port
from tests.kit.provider import Provider, wait_until
from tests.kit.tcp_server import Listener

SHORT = WireTimeouts(connect_s=5.0, read_s=0.2, total_s=5.0)


@pytest.fixture
async def wire() -> AsyncIterator[AiohttpWire]:
    wire = AiohttpWire()
    yield wire
    await wire.close()


async def fetch(
    wire: AiohttpWire, url: str, headers: Headers = (), patience: WireTimeouts | None = None
) -> tuple[AiohttpReply, bytes]:
    reply = await wire.send(WireRequest("GET", url, headers, patience=patience or WireTimeouts()))
    body = await reply.read(1_000_000)
    assert body is not None
    return reply, body


async def failure(wire: AiohttpWire, url: str, patience: WireTimeouts | None = None) -> WireFailure:
    with pytest.raises(WireFailure) as caught:
        await fetch(wire, url, patience=patience)
    # Whatever aiohttp said may name the whole URL, in which a key may stand.
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    assert "secret" not in str(caught.value)
    return caught.value


async def test_a_request_carries_its_own_headers_and_no_others(
    wire: AiohttpWire, provider: Provider
):
    headers = (
        ("user-agent", "us"),
        ("accept", "text/*"),
        ("accept-encoding", "gzip"),
        ("x-a", "1"),
    )
    request = WireRequest("POST", provider.url("/a?b=c%20d"), headers, b"body")
    await (await wire.send(request)).read(100)
    [seen] = provider.seen
    assert (seen.request.method, seen.request.target) == ("POST", "/a?b=c%20d")
    assert seen.request.body == b"body"
    told = {name: text for name, text in seen.request.headers.items() if name != "host"}
    assert told == {**dict(headers), "content-length": "4"}


async def test_no_cookie_is_kept(wire: AiohttpWire, provider: Provider):
    provider.script = always(Answer(200, [("Set-Cookie", "a=b; Path=/")], b"hello"))
    for _ in range(2):
        await fetch(wire, provider.url())
    assert [seen for seen in provider.seen if "cookie" in seen.request.headers] == []


async def test_a_redirect_is_an_answer_like_any_other(wire: AiohttpWire, provider: Provider):
    provider.script = always(redirect("/elsewhere"))
    reply, _ = await fetch(wire, provider.url())
    assert reply.status == 302
    assert ("location", "/elsewhere") in reply.headers
    assert len(provider.seen) == 1


async def test_headers_come_in_order_with_small_names(wire: AiohttpWire, provider: Provider):
    provider.script = always(Answer(200, [("X-B", "1"), ("X-A", "2"), ("x-b", "3")]))
    reply, _ = await fetch(wire, provider.url())
    assert [header for header in reply.headers if header[0].startswith("x-")] == [
        ("x-b", "1"),
        ("x-a", "2"),
        ("x-b", "3"),
    ]


async def test_a_body_is_decoded(wire: AiohttpWire, provider: Provider):
    encoding = [("Content-Encoding", "gzip")]
    provider.script = always(Answer(200, encoding, gzip.compress(b"hello" * 1_000)))
    _, body = await fetch(wire, provider.url())
    assert body == b"hello" * 1_000


async def test_a_body_comes_in_pieces_as_it_arrives(wire: AiohttpWire, provider: Provider):
    provider.script = always(Answer(200, body=b"abc", drip_s=0.02))
    reply = await wire.send(WireRequest("GET", provider.url()))
    assert [piece async for piece in reply.chunks()] == [b"a", b"b", b"c"]


@pytest.mark.parametrize(("number", "reads_on"), [(2, True), (MANY + 1, False)])
async def test_among_many_streams_no_body_is_read_ahead_of_its_reader(
    wire: AiohttpWire, provider: Provider, number: int, reads_on: bool
):
    body = bytes(range(256)) * 40_000
    provider.script = always(Answer(200, body=body))
    replies = [await wire.send(WireRequest("GET", provider.url())) for _ in range(number)]
    pieces = replies[0].chunks()
    taken = [await anext(pieces)]
    while len(taken[-1]) < BUFFER:
        taken.append(await anext(pieces))
    assert replies[0]._connection.transport.is_reading() is reads_on
    taken += [piece async for piece in pieces]
    assert b"".join(taken) == body
    for reply in replies:
        await reply.close()


async def test_a_body_beyond_the_limit_is_not_read(wire: AiohttpWire, provider: Provider):
    provider.script = always(Answer(200, body=b"x" * 1_000_000))
    reply = await wire.send(WireRequest("GET", provider.url()))
    assert await reply.read(999_999) is None
    await reply.close()


async def test_a_connection_is_used_again_only_after_a_whole_answer(
    wire: AiohttpWire, provider: Provider
):
    for _ in range(3):
        await fetch(wire, provider.url())
    assert provider.connections == 1
    provider.script = always(Answer(200, body=b"x" * 10_000_000))
    await (await wire.send(WireRequest("GET", provider.url()))).close()
    provider.script = always(Answer(200))
    await fetch(wire, provider.url())
    assert provider.connections == 2


async def test_a_connection_that_was_closed_at_rest_costs_nothing(
    wire: AiohttpWire, provider: Provider
):
    good, gone = Answer(200, body=b"hello"), Answer(hang_up=True)
    provider.script = in_turn(good, gone, good)
    await fetch(wire, provider.url("/a"))
    _, body = await fetch(wire, provider.url("/b"))
    assert body == b"hello"
    assert [seen.request.path for seen in provider.seen] == ["/a", "/b", "/b"]


async def test_a_post_is_not_repeated_on_another_connection(wire: AiohttpWire, provider: Provider):
    provider.script = in_turn(Answer(200, body=b"hello"), Answer(hang_up=True))
    await fetch(wire, provider.url("/a"))
    with pytest.raises(WireFailure) as caught:
        await wire.send(WireRequest("POST", provider.url("/b"), (), b"deed"))
    assert (caught.value.kind, caught.value.sent) == (FailureKind.CUT, True)
    assert [seen.request.path for seen in provider.seen] == ["/a", "/b"]


async def test_an_interim_response_is_not_the_answer(wire: AiohttpWire):
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello")

    async with Listener(answer) as server:
        reply, body = await fetch(wire, server.url())
    assert (reply.status, body) == (200, b"hello")
    assert reply.headers == [("content-length", "5")]


async def test_a_head_has_no_body_to_wait_for(wire: AiohttpWire, provider: Provider):
    provider.script = always(Answer(200, [("X-A", "1")], b"hello"))
    for _ in range(2):
        reply = await wire.send(WireRequest("HEAD", provider.url()))
        assert await reply.read(100) == b""
        assert ("x-a", "1") in reply.headers


async def test_a_connection_is_dropped_whose_request_was_answered_half_way(wire: AiohttpWire):
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n")
        await gone.wait()

    gone = asyncio.Event()
    async with Listener(answer) as server:
        url = server.url()
        for _ in range(2):
            reply = await wire.send(WireRequest("POST", url, (), b"x" * 50_000_000))
            assert (reply.status, await reply.read(100)) == (413, b"")
        gone.set()
    assert server.connections == 2


async def test_a_name_without_an_address(wire: AiohttpWire):
    failed = await failure(wire, "http://nowhere.invalid/a?key=secret")
    assert (failed.kind, failed.sent) == (FailureKind.DNS, False)
    assert str(failed) == "no address is known for http://nowhere.invalid/a"
    assert failed.why == "unknown host name"


async def test_a_port_without_a_listener_is_unreachable(wire: AiohttpWire):
    url = f"http://{LOOPBACK}:{free_port()}/?key=secret"
    failed = await failure(wire, url)
    assert (failed.kind, failed.sent) == (FailureKind.CONNECT, False)
    assert "no connection to" in str(failed)
    assert failed.why == "connection refused"


async def test_a_server_without_tls_is_a_tls_failure(wire: AiohttpWire):
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    async with Listener(answer) as server:
        failed = await failure(wire, server.url("/?key=secret", scheme="https"))
    assert (failed.kind, failed.sent) == (FailureKind.TLS, False)
    assert "no secure connection to" in str(failed)


async def test_a_server_that_never_answers(wire: AiohttpWire, provider: Provider):
    provider.script = always(Answer(silent=True))
    patience = WireTimeouts(connect_s=0.1, read_s=0.1, total_s=None)
    failed = await failure(wire, provider.url("/?key=secret"), patience)
    assert (failed.kind, failed.sent) == (FailureKind.TIMEOUT, True)
    assert "was silent for 0.1 s" in str(failed)
    assert isinstance(failed.ending, Fault)
    assert failed.ending.kind is FaultClass.TIMEOUT
    await asyncio.to_thread(
        wait_until, lambda: provider.seen
    )  # the connection was dropped, so the server noticed


async def test_a_server_that_falls_silent(wire: AiohttpWire, provider: Provider):
    provider.script = always(Answer(200, body=b"abc", drip_s=2.0))
    failed = await failure(wire, provider.url("/?key=secret"), SHORT)
    assert failed.kind is FailureKind.TIMEOUT
    assert "was silent for 0.2 s" in str(failed)


async def test_a_server_that_drips_forever(wire: AiohttpWire, provider: Provider):
    provider.script = always(Answer(200, body=b"x" * 1_000, drip_s=0.05))
    patience = WireTimeouts(connect_s=5.0, read_s=5.0, total_s=0.4)
    failed = await failure(wire, provider.url("/?key=secret"), patience)
    assert failed.kind is FailureKind.TIMEOUT
    assert "took longer than 0.4 s" in str(failed)


@pytest.mark.parametrize("cut_at", [0, 3])
async def test_a_body_that_is_cut(wire: AiohttpWire, provider: Provider, cut_at: int):
    provider.script = always(Answer(200, body=b"hello", cut_at=cut_at))
    failed = await failure(wire, provider.url("/?key=secret"))
    assert (failed.kind, failed.sent) == (FailureKind.CUT, True)
    assert "ended before the answer was complete" in str(failed)


async def test_a_server_that_hangs_up(wire: AiohttpWire, provider: Provider):
    provider.script = always(Answer(hang_up=True))
    failed = await failure(wire, provider.url("/?key=secret"))
    assert (failed.kind, failed.sent) == (FailureKind.CUT, True)
    assert isinstance(failed.ending, Fault)
    assert failed.ending.kind is FaultClass.TRANSIENT


@pytest.mark.parametrize(
    "answer",
    [
        Answer(200, [("Content-Length", "many")], b"hello"),
        Answer(200, [("X-Long", "x" * 100_000)], b"hello"),
    ],
)
async def test_a_reply_that_is_not_http_is_a_failure(
    wire: AiohttpWire, provider: Provider, answer: Answer
):
    provider.script = always(answer)
    failed = await failure(wire, provider.url("/?key=secret"))
    assert failed.kind in {FailureKind.PROTOCOL, FailureKind.CUT}
    assert failed.sent


async def test_a_request_whose_permit_is_revoked_while_it_connects_is_not_sent(
    wire: AiohttpWire, provider: Provider
):
    with pytest.raises(RequestRecalled):
        await wire.send(WireRequest("GET", provider.url()), lambda: True)
    reply = await wire.send(WireRequest("GET", provider.url()), lambda: False)
    assert await reply.read(100) == b"hello"
    assert len(provider.seen) == 1
    assert provider.connections == 1, "the connection is kept for the next request"


async def test_a_cancellation_is_not_reported_as_a_timeout(wire: AiohttpWire, provider: Provider):
    provider.script = always(Answer(silent=True))
    task = asyncio.create_task(wire.send(WireRequest("GET", provider.url())))
    await asyncio.to_thread(wait_until, provider.under_way)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_time_limit_leaves_the_task_uncancelled(wire: AiohttpWire, provider: Provider):
    provider.script = in_turn(Answer(silent=True), Answer(200, body=b"hello"))
    await failure(wire, provider.url(), WireTimeouts(connect_s=0.1, read_s=0.1))
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0
    assert (await fetch(wire, provider.url()))[1] == b"hello"
