"""Bodies: small ones in the index, large ones as blobs, and none that is not whole."""

import asyncio
import tracemalloc

import pytest

from headgate.core.call import CallKind
from headgate.core.provider import CachePolicy
from headgate.net.cache.store_reply import INLINE_BYTES
from headgate.net.failure import WireFailure
from headgate.ports.wire import WireRequest
from tests.kit.answers import Answer, always, tagged

CACHED, FETCHED, REVALIDATED = CallKind.CACHED, CallKind.FETCHED, CallKind.REVALIDATED
FRESH = ("Cache-Control", "max-age=60")
LARGE = bytes(range(256)) * 4_000


def files(rig):
    blobs = rig.folder / "blobs"
    return [path for path in blobs.rglob("*") if path.is_file()] if blobs.exists() else []


def fresh(body):
    return always(Answer(200, [FRESH], body))


@pytest.mark.parametrize("size", [0, 1, INLINE_BYTES, INLINE_BYTES + 1, 1_000_000])
async def test_every_size_comes_back_as_it_was(rig, size):
    body = LARGE[:size]
    rig.provider.script = fresh(body)
    await rig.get()
    await rig.cache.flush()
    async with rig.another_cache() as other:
        assert (await rig.get(cache=other))[::2] == (CACHED, body)
    assert len(files(rig)) == (size > INLINE_BYTES)


@pytest.mark.parametrize("size", [0, 1, INLINE_BYTES, INLINE_BYTES + 1, 1_000_000])
async def test_a_body_of_any_size_can_be_read_whole(rig, size):
    body = LARGE[:size]
    rig.provider.script = fresh(body)
    for kind in (FETCHED, CACHED):
        reply = await rig.ask()
        assert reply.kind is kind
        assert await reply.read(size) == body
        await reply.close()


@pytest.mark.parametrize("size", [1_000, 1_000_000])
async def test_a_body_above_the_limit_is_not_read_whole(rig, size):
    rig.provider.script = fresh(LARGE[:size])
    reply = await rig.ask()
    assert await reply.read(size - 1) is None
    await reply.close()
    assert (await rig.get()).kind is FETCHED
    reply = await rig.ask()
    assert (reply.kind, await reply.read(size - 1)) == (CACHED, None)
    await reply.close()


async def test_large_bodies_are_confirmed_too(rig):
    rig.provider.script = tagged(LARGE, "max-age=60")
    await rig.get()
    await rig.clock.advance(60)
    assert (await rig.get())[::2] == (REVALIDATED, LARGE)
    assert (await rig.get())[::2] == (CACHED, LARGE)


async def test_a_large_body_that_has_changed_is_replaced(rig):
    rig.provider.script = tagged(LARGE, "max-age=60")
    await rig.get()
    rig.provider.script = tagged(LARGE[1:], "max-age=60")
    await rig.clock.advance(60)
    assert (await rig.get())[::2] == (FETCHED, LARGE[1:])
    assert (await rig.get())[::2] == (CACHED, LARGE[1:])


async def test_the_same_bytes_lie_there_once(rig):
    rig.provider.script = fresh(LARGE)
    for path in ("/one", "/two"):
        await rig.get(path)
    assert len(files(rig)) == 1


async def test_the_reader_gets_it_while_it_is_kept(rig):
    rig.provider.script = fresh(LARGE)
    reply = await rig.ask()
    first = await anext(reply.chunks())
    assert LARGE.startswith(first)
    assert 0 < len(first) < len(LARGE)
    await reply.close()


@pytest.mark.parametrize("size", [1_000, len(LARGE)])
async def test_a_body_that_was_cut_is_not_kept(rig, size):
    rig.provider.script = always(Answer(200, [FRESH], LARGE[:size], cut_at=size - 1))
    with pytest.raises(WireFailure):
        await rig.get()
    rig.provider.script = fresh(LARGE[:size])
    assert (await rig.get())[::2] == (FETCHED, LARGE[:size])


class ShortReply:
    """A wire that does not notice that bytes are missing."""

    status = 200
    headers = (("cache-control", "max-age=60"), ("content-length", "5"))

    async def chunks(self):
        yield b"hell"

    async def close(self):
        pass


async def test_a_body_shorter_than_announced_is_not_kept(rig):
    async def send(request):
        return ShortReply()

    request = WireRequest("GET", "http://127.0.0.1/short")
    for _ in range(2):
        reply = await rig.cache.fetch(request, send, partition="ann", policy=CachePolicy())
        assert [chunk async for chunk in reply.chunks()] == [b"hell"]
        assert reply.kind is FETCHED


@pytest.mark.parametrize("size", [1_000, len(LARGE)])
async def test_a_body_that_is_not_read_to_its_end_is_not_stored(rig, size):
    rig.provider.script = fresh(LARGE[:size])
    reply = await rig.ask()
    await anext(reply.chunks())
    await reply.close()
    assert (await rig.get())[::2] == (FETCHED, LARGE[:size])
    assert (await rig.get()).kind is CACHED


async def test_a_body_above_the_limit_is_not_cached(rig):
    rig.provider.script = fresh(LARGE)
    policy = CachePolicy(max_bytes=len(LARGE) - 1)
    for _ in range(2):
        assert (await rig.get(policy=policy))[::2] == (FETCHED, LARGE)
    assert (await rig.get(policy=CachePolicy(max_bytes=len(LARGE)))).kind is FETCHED
    assert (await rig.get(policy=policy)).kind is CACHED


class EndlessReply:
    """A body without an announced length."""

    status = 200
    headers = (("cache-control", "max-age=60"),)

    def __init__(self, pieces: int) -> None:
        self._pieces = pieces

    async def chunks(self):
        for _ in range(self._pieces):
            yield LARGE[:65_536]

    async def close(self):
        pass


async def through(rig, pieces, policy=None):
    async def send(request):
        return EndlessReply(pieces)

    request = WireRequest("GET", "http://127.0.0.1/endless")
    policy = policy or CachePolicy()
    return await rig.cache.fetch(request, send, partition="ann", policy=policy)


async def test_a_body_that_turns_out_too_large_is_dropped_on_the_way(rig):
    policy = CachePolicy(max_bytes=1_000_000)
    reply = await through(rig, 20, policy)
    assert sum([len(chunk) async for chunk in reply.chunks()]) == 20 * 65_536
    await rig.blobs.close()
    assert files(rig) == []


async def test_memory_stays_flat_while_a_large_body_is_kept_and_served(rig):
    pieces = 1_024
    peaks = []
    tracemalloc.start()
    try:
        for kind in (FETCHED, CACHED):
            tracemalloc.reset_peak()
            reply = await through(rig, pieces)
            assert reply.kind is kind
            assert sum([len(chunk) async for chunk in reply.chunks()]) == pieces * 65_536
            await reply.close()
            peaks.append(tracemalloc.get_traced_memory()[1])
    finally:
        tracemalloc.stop()
    assert max(peaks) < 4_000_000


async def test_a_reader_that_is_cancelled_leaves_nothing_behind(rig):
    rig.provider.script = always(Answer(200, [FRESH], LARGE, drip_s=0.001))
    task = asyncio.create_task(rig.get())
    while not rig.provider.under_way():
        await rig.clock.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    rig.provider.script = fresh(b"hello")
    assert (await rig.get())[::2] == (FETCHED, b"hello")
