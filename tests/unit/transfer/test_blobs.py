"""Blobs appear whole or not at all, once each, and only the aged ones go."""

import asyncio
import hashlib

import pytest

from headgate.testing import FakeClock
from headgate.transfer.blobs import BLOCK, LocalBlobs

HOUR_US = 3_600_000_000


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture(params=[True, False], ids=["durable", "quick"])
async def blobs(request, tmp_path, clock):
    blobs = LocalBlobs(tmp_path / "blobs", clock, durable=request.param)
    yield blobs
    await blobs.close()


async def keep(blobs, *pieces):
    writer = await blobs.create()
    for piece in pieces:
        await writer.write(piece)
    return await writer.commit()


async def content(blobs, name):
    blob = await blobs.open(name)
    chunks = [chunk async for chunk in blob.chunks()]
    blob.close()
    assert sum(map(len, chunks)) == blob.size
    return b"".join(chunks)


def files(tmp_path):
    return sorted(path.name for path in tmp_path.rglob("*") if path.is_file())


@pytest.mark.parametrize("pieces", [[], [b""], [b"a", b"b"], [b"x" * BLOCK, b"y" * (BLOCK + 1)]])
async def test_bytes_come_back_under_the_hash_of_them(blobs, pieces):
    name = await keep(blobs, *pieces)
    assert name == hashlib.sha256(b"".join(pieces)).hexdigest()
    assert await content(blobs, name) == b"".join(pieces)


async def test_the_same_bytes_lie_there_once(blobs, tmp_path):
    assert await keep(blobs, b"one", b"two") == await keep(blobs, b"onetwo")
    assert len(files(tmp_path)) == 1


async def test_a_damaged_copy_is_replaced(blobs, tmp_path):
    name = await keep(blobs, b"hello")
    [path] = tmp_path.rglob(name)
    path.write_bytes(b"hell")
    await keep(blobs, b"hello")
    assert await content(blobs, name) == b"hello"


async def test_nothing_is_there_before_the_commit(blobs):
    name = hashlib.sha256(b"x" * BLOCK).hexdigest()
    writer = await blobs.create()
    await writer.write(b"x" * BLOCK)
    assert await blobs.open(name) is None
    assert await content(blobs, await writer.commit()) == b"x" * BLOCK


@pytest.mark.parametrize("name", ["0" * 64, "", "..", "../secret", "unfinished"])
async def test_what_is_not_a_name_of_a_blob_opens_nothing(blobs, tmp_path, name):
    (tmp_path / "secret").write_text("secret")
    await keep(blobs, b"hello")
    assert await blobs.open(name) is None


async def test_what_is_abandoned_leaves_no_trace(blobs, tmp_path):
    writer = await blobs.create()
    await writer.write(b"x" * BLOCK)
    writer.abandon()
    writer.abandon()
    await blobs.close()
    assert files(tmp_path) == []


async def test_abandoning_after_the_commit_or_the_end_is_harmless(blobs, tmp_path):
    kept, late = await blobs.create(), await blobs.create()
    await kept.write(b"hello")
    await kept.commit()
    await blobs.close()
    kept.abandon()
    late.abandon()
    assert files(tmp_path) == [hashlib.sha256(b"hello").hexdigest()]


async def test_a_write_that_is_cancelled_can_be_abandoned(blobs, tmp_path):
    writer = await blobs.create()
    task = asyncio.create_task(writer.write(b"x" * 50 * BLOCK))
    await asyncio.sleep(0)  # noqa: TID251  lets the task begin
    task.cancel()
    await asyncio.wait([task])
    writer.abandon()
    await blobs.close()
    assert files(tmp_path) == []


async def test_an_open_blob_can_be_read_although_it_was_removed(blobs, clock):
    name = await keep(blobs, b"hello")
    blob = await blobs.open(name)
    await clock.advance(1)
    assert await blobs.remove([name], clock.now()) == 1
    assert [chunk async for chunk in blob.chunks()] == [b"hello"]
    blob.close()
    assert await blobs.open(name) is None


async def test_a_blob_that_was_committed_again_is_not_removed(blobs, clock):
    old, again = await keep(blobs, b"old"), await keep(blobs, b"again")
    await clock.advance(3_600)
    await keep(blobs, b"again")
    before = clock.now() - HOUR_US // 2
    assert [name async for names in blobs.aged(before) for name in names] == [old]
    assert await blobs.remove([old, again, "0" * 64, "../x"], before) == 1
    assert await blobs.open(old) is None
    assert await content(blobs, again) == b"again"


async def test_what_was_never_finished_is_cleaned_up_when_it_is_old(blobs, clock, tmp_path):
    forgotten, slow = await blobs.create(), await blobs.create()
    await forgotten.write(b"x" * BLOCK)
    await clock.advance(3_600)
    await slow.write(b"y" * BLOCK)
    assert await blobs.tidy(clock.now() - HOUR_US // 2) == 1
    assert await content(blobs, await slow.commit()) == b"y" * BLOCK
    forgotten.abandon()


async def test_an_empty_place_has_nothing_to_remove(blobs, clock):
    assert await blobs.tidy(clock.now()) == 0
    assert [names async for names in blobs.aged(clock.now())] == []


async def test_the_file_of_a_blob_can_be_found(blobs):
    name = await keep(blobs, b"an image")
    assert blobs.locate(name).read_bytes() == b"an image"
    with pytest.raises(FileNotFoundError):
        blobs.locate("0" * 64)


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "0" * 63, "A" * 64, "0" * 64 + "\n"])
def test_what_is_not_a_name_leads_to_no_file(blobs, name):
    with pytest.raises(ValueError, match="not the name of a blob"):
        blobs.locate(name)
