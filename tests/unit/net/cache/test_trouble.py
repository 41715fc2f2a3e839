"""Every request gets an answer, with any failure of the disk."""

import asyncio
import errno
import os
import threading

import apsw
import pytest

from headgate.core.call import CallKind
from headgate.net.cache.store import CacheStore
from tests.kit.answers import Answer, always, in_turn

CACHED, FETCHED = CallKind.CACHED, CallKind.FETCHED
FRESH = ("Cache-Control", "max-age=100000")
LARGE = bytes(range(256)) * 1_000
DAMAGED = "the HTTP cache was damaged and starts empty"
RESTS = "the HTTP cache keeps nothing new for 60 s"
LOST = "a body of the HTTP cache is lost"


def fresh(body=b"hello"):
    return always(Answer(200, [FRESH], body))


def blob_of(rig):
    [path] = [path for path in (rig.folder / "blobs").rglob("*") if path.is_file()]
    return path


async def twice(rig, **options):
    return [(await rig.get(**options)).kind for _ in range(2)]


@pytest.mark.parametrize("rubbish", [b"no database at all", b"SQLite format 3\0" + b"\xff" * 5_000])
async def test_a_file_that_is_not_a_database_is_set_aside(rig, rubbish, tmp_path):
    folder = tmp_path / "other"
    folder.mkdir()
    (folder / "cache.db").write_bytes(rubbish)
    rig.folder = folder
    async with rig.another_cache() as cache:
        rig.provider.script = fresh()
        assert await twice(rig, cache=cache) == [FETCHED, CACHED]
    assert rig.warnings == [DAMAGED]
    assert (folder / "cache.db.damaged").read_bytes() == rubbish


async def test_a_file_of_another_version_is_set_aside(rig):
    rig.provider.script = fresh()
    await rig.get()
    await rig.cache.flush()
    rig.cache._cache_store._file._writer.pragma("user_version", 99)
    async with rig.another_cache() as cache:
        assert await twice(rig, cache=cache) == [FETCHED, CACHED]
    assert rig.warnings == [DAMAGED]


async def test_a_file_that_is_damaged_while_in_use_is_replaced(rig):
    rig.provider.script = fresh()
    for number in range(200):
        await rig.get(f"/{number}")
    await rig.cache.flush()
    mode = apsw.SQLITE_CHECKPOINT_TRUNCATE
    assert rig.cache._cache_store._file._writer.wal_checkpoint(mode=mode) == (0, 0)
    path = rig.folder / "cache.db"
    with path.open("r+b") as file:
        file.seek(16_384)
        file.write(os.urandom(path.stat().st_size - 16_384))
    async with rig.another_cache() as cache:
        answers = [await rig.get(f"/{number}", cache=cache) for number in range(200)]
        assert {answer.body for answer in answers} == {b"hello"}
        await cache.flush()
        assert await twice(rig, path="/new", cache=cache) == [FETCHED, CACHED]
    assert rig.warnings == [DAMAGED]


async def test_a_folder_that_cannot_be_used_costs_only_the_cache(rig, tmp_path):
    (tmp_path / "file").write_text("in the way")
    rig.folder = tmp_path / "file" / "cache"
    rig.provider.script = fresh()
    async with rig.another_cache() as cache:
        assert await twice(rig, cache=cache) == [FETCHED, FETCHED]
    assert rig.warnings == [RESTS]


async def test_a_folder_that_can_be_used_later_is(rig, tmp_path):
    (tmp_path / "file").write_text("in the way")
    rig.folder = tmp_path / "file"
    rig.provider.script = fresh()
    async with rig.another_cache() as cache:
        await rig.get(cache=cache)
        (tmp_path / "file").unlink()
        await rig.clock.advance(CacheStore.REST_S)
        assert await cache.sweep() == 0  # nothing to sweep is not a new error
        await rig.get(cache=cache)
        await cache.flush()
        assert await twice(rig, path="/new", cache=cache) == [FETCHED, CACHED]


@pytest.mark.parametrize("spoil", [os.unlink, lambda path: os.truncate(path, 1_000)])
async def test_a_damaged_blob_is_fetched_again(rig, spoil):
    rig.provider.script = fresh(LARGE)
    await rig.get()
    spoil(blob_of(rig))
    assert (await rig.get())[::2] == (FETCHED, LARGE)
    assert (await rig.get())[::2] == (CACHED, LARGE)
    assert rig.warnings == [LOST]


async def test_a_lost_blob_is_not_confirmed(rig):
    etag = ("ETag", '"1"')
    rig.provider.script = in_turn(
        Answer(200, [("Cache-Control", "max-age=60"), etag], LARGE),
        Answer(200, [("Cache-Control", "max-age=60"), etag], LARGE),
    )
    await rig.get()
    blob_of(rig).unlink()
    await rig.clock.advance(60)
    assert (await rig.get())[::2] == (FETCHED, LARGE)
    assert [bool(request.headers) for request in rig.sent] == [False, False]


class SickBlobs:
    """A blob store on a disk that fails at one of its verbs."""

    def __init__(self, blobs, verb):
        self._blobs = blobs
        self.verb = verb

    def __getattr__(self, name):
        return getattr(self._blobs, name)

    def fail(self, verb):
        if verb == self.verb:
            raise OSError(errno.ENOSPC, f"cannot {verb}")

    async def create(self):
        self.fail("create")
        return SickWriter(await self._blobs.create(), self)

    async def open(self, name):
        self.fail("open")
        return SickBlob(await self._blobs.open(name), self)


class SickWriter:
    def __init__(self, writer, blobs):
        self._writer = writer
        self._blobs = blobs
        self.abandon = writer.abandon

    async def write(self, data):
        self._blobs.fail("write")
        await self._writer.write(data)

    async def commit(self):
        self._blobs.fail("commit")
        return await self._writer.commit()


class SickBlob:
    def __init__(self, blob, blobs):
        self._blob = blob
        self._blobs = blobs
        self.size = blob.size
        self.close = blob.close

    async def chunks(self):
        async for chunk in self._blob.chunks():
            yield chunk
            self._blobs.fail("read")


@pytest.mark.parametrize("verb", ["create", "write", "commit"])
async def test_a_disk_that_is_full_keeps_no_body_and_harms_none(rig, verb):
    blobs = rig.blobs = SickBlobs(rig.blobs, verb)
    rig.provider.script = fresh(LARGE)
    async with rig.another_cache() as cache:
        for _ in range(2):
            assert (await rig.get(cache=cache))[::2] == (FETCHED, LARGE)
        assert rig.warnings == [RESTS]
        blobs.verb = None
        await rig.clock.advance(CacheStore.REST_S)
        assert await twice(rig, cache=cache) == [FETCHED, CACHED]


async def test_a_body_that_cannot_be_opened_is_fetched_again(rig):
    blobs = rig.blobs = SickBlobs(rig.blobs, None)
    rig.provider.script = fresh(LARGE)
    async with rig.another_cache() as cache:
        await rig.get(cache=cache)
        blobs.verb = "open"
        assert (await rig.get(cache=cache))[::2] == (FETCHED, LARGE)
    assert rig.warnings == [LOST]


async def test_a_body_that_cannot_be_read_to_its_end_is_not_tried_again(rig):
    blobs = rig.blobs = SickBlobs(rig.blobs, None)
    rig.provider.script = fresh(LARGE)
    async with rig.another_cache() as cache:
        await rig.get(cache=cache)
        await cache.flush()
        blobs.verb = "read"
        with pytest.raises(OSError, match="cannot read"):
            await rig.get(cache=cache)
        assert (await rig.get(cache=cache))[::2] == (FETCHED, LARGE)
    assert rig.warnings == [LOST]


def fill_disk(rig):
    """SQLite then says what it says on a full disk."""
    rig.cache._cache_store._file._writer.pragma("max_page_count", 1)


async def test_an_index_that_is_full_can_still_be_read(rig):
    rig.provider.script = fresh(b"x" * 30_000)
    await rig.get("/old")
    await rig.cache.flush()
    fill_disk(rig)
    await rig.get("/new")
    await rig.cache.flush()
    assert rig.warnings == [RESTS]
    assert (await rig.get("/old")).kind is CACHED
    assert await twice(rig, path="/new") == [FETCHED, FETCHED]


async def test_a_damaged_answer_is_not_served_even_if_it_cannot_be_removed(rig, monkeypatch):
    rig.provider.script = fresh()
    await rig.get()
    await rig.cache.flush()
    file = rig.cache._cache_store._file

    def full(batch):
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(file, "write", full)
    await rig.get(method="POST")
    assert (await rig.get()).kind is FETCHED
    monkeypatch.undo()
    await rig.clock.advance(CacheStore.REST_S)
    await rig.get("/other")
    await rig.cache.flush()
    async with rig.another_cache() as cache:
        assert (await rig.get(cache=cache)).kind is FETCHED


async def test_bodies_do_not_pile_up_in_memory_before_a_slow_disk(rig, monkeypatch):
    file = rig.cache._cache_store._file
    write, go_on = file.write, threading.Event()
    monkeypatch.setattr(file, "write", lambda batch: go_on.wait() and write(batch))
    monkeypatch.setattr(CacheStore, "BACKLOG_BYTES", 100_000)
    rig.provider.script = fresh(b"x" * 30_000)
    read = [await rig.get(f"/{number}") for number in range(3)]
    waiting = [asyncio.create_task(rig.get(f"/{number}")) for number in range(3, 30)]
    while rig.cache._cache_store._room.is_set() or len(rig.statuses) < 30:
        await rig.clock.sleep(0)
    assert len(read) == 3
    assert sum(task.done() for task in waiting) < 10
    go_on.set()
    await asyncio.wait(waiting)
    assert {task.result().kind for task in waiting} == {FETCHED}


async def test_a_flush_waits_for_what_was_there_and_not_for_what_comes_after(rig, monkeypatch):
    file = rig.cache._cache_store._file
    write, leave = file.write, [threading.Event(), threading.Event()]
    left = iter(leave)
    monkeypatch.setattr(file, "write", lambda batch: next(left).wait() and write(batch))
    rig.provider.script = fresh()
    await rig.get("/one")
    flushed = asyncio.create_task(rig.cache.flush())
    while not rig.cache._cache_store._writing:
        await rig.clock.sleep(0)
    await rig.get("/two")
    leave[0].set()
    await flushed
    assert rig.cache._cache_store._next or rig.cache._cache_store._writing
    leave[1].set()
