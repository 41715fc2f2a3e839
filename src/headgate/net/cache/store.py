"""Kept answers: found at once, written together a few milliseconds later."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Protocol, TypeVar

import apsw
import msgspec

from headgate.net.cache.entry import CacheEntry, WriteBatch, suiting
from headgate.net.cache.file import DAMAGE, TROUBLE, CacheFile
from headgate.net.cache.freshness import Freshness
from headgate.net.cache.request import CacheRequest
from headgate.ports.blobs import BlobStore
from headgate.ports.clock import Clock

MICROSECONDS = 1_000_000
Answer = TypeVar("Answer")


class Warn(Protocol):
    """Says in the log that something is wrong."""

    def __call__(self, event: str, **facts: Any) -> Any:
        """One warning."""
        ...


class CacheStore:
    """What is kept, as this process sees it. No trouble with the file ever reaches a caller."""

    GATHER_S = 0.005
    """How long the first of a batch waits for company."""
    BACKLOG_BYTES = 8 * 1024 * 1024
    """Bodies that may wait in memory to be written."""
    TOUCH_US = 600 * MICROSECONDS
    """Use is noted no finer than this, or every hit would be a write."""
    REST_S = 60.0
    """How long the cache is left alone after trouble with its disk."""
    GRACE_US = 60 * MICROSECONDS
    """A blob that was committed so lately may be about to be referred to."""

    def __init__(self, file: CacheFile, blobs: BlobStore, clock: Clock, warn: Warn) -> None:
        self._file = file
        self._blobs = blobs
        self._clock = clock
        self._warn = warn
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="http-cache")
        self._next = WriteBatch()
        self._writing = WriteBatch()
        self._writer: asyncio.Task[None] | None = None
        self._hurry = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._rest_until_s = 0.0
        self._damaged = False

    async def open(self) -> None:
        """Open the file, or go on without."""
        damage = await self._attempt(self._file.open)
        if damage is not None:
            self._warn_of_damage(damage)

    async def close(self) -> None:
        """Write what is left and close."""
        while self._writer is not None:
            self._hurry.set()
            await asyncio.shield(self._writer)
        await self._in_thread(self._file.close)
        self._thread.shutdown()

    @property
    def rests(self) -> bool:
        """Whether it is of no use to keep anything now."""
        return self._clock.monotonic() < self._rest_until_s

    def find(self, demand: CacheRequest) -> CacheEntry | None:
        """What is kept for this request, fresh or not."""
        for batch in (self._next, self._writing):
            if entry := batch.find(demand):
                return None if self._next.discards(entry) else entry
            if demand.url in batch.forgotten:
                return None
        if self._damaged or not self._file.is_open:
            return None
        try:
            return self._find_in_file(demand)
        except apsw.BusyError:
            return None
        except TROUBLE as error:
            self.trouble(error)
            return None

    def put(self, entry: CacheEntry) -> None:
        """Keep an answer, or newer headers of one that is kept."""
        self._next.put(entry)
        if self._next.bytes > self.BACKLOG_BYTES:
            self._room.clear()
            self._hurry.set()
        self._wake()

    def use(self, entry: CacheEntry, now: int) -> None:
        """Note that an answer was of use."""
        if now - entry.used_at > self.TOUCH_US and entry.id and not self.rests:
            self._next.used[str(entry.id)] = now
            self._wake()

    def discard(self, entry: CacheEntry) -> None:
        """Drop an answer that turned out to be of no use."""
        self._next.discard(entry)
        self._wake()

    def forget(self, url: str) -> bool:
        """Drop all that was kept of a URL, for everybody; whether there was anything."""
        if not self._knows(url):
            return False
        self._next.forget(url)
        self._hurry.set()
        self._wake()
        return True

    async def wait_room(self) -> None:
        """Wait until not too much waits to be written."""
        await self._room.wait()

    async def flush(self) -> None:
        """Wait until everything so far is written, or given up; not for what comes after."""
        self._hurry.set()
        batch = self._next or self._writing
        if batch:
            await batch.over.wait()

    def trouble(self, error: BaseException) -> None:
        """Say so, and leave the disk alone for a while; a damaged file is replaced."""
        if isinstance(error, DAMAGE):
            if not self._damaged:
                self._warn_of_damage(error)
            self._damaged = True
            self._wake()
            return
        if not self.rests:
            event = f"the HTTP cache keeps nothing new for {self.REST_S:g} s"
            self._warn(event, error=f"{type(error).__name__}: {error}")
        self._rest_until_s = self._clock.monotonic() + self.REST_S

    async def sweep(self, now: int, every_us: int) -> int:
        """Remove blobs that nothing refers to, if nobody did so lately; how many there were."""
        if not self._file.is_open:
            return 0
        before = now - every_us
        try:
            if not await self._in_thread(lambda: self._file.begin_sweep(now, before)):
                return 0
            removed = await self._blobs.tidy(before)
            async for names in self._blobs.aged(before):
                loose = await self._in_thread(partial(self._file.loose, names))
                removed += await self._blobs.remove(loose, before)
        except TROUBLE as error:
            self.trouble(error)
            return 0
        return removed

    def _find_in_file(self, demand: CacheRequest) -> CacheEntry | None:
        rows = self._file.find(demand.key)
        entry = suiting((_entry(demand, row) for row in rows), demand)
        if entry is None or self._next.discards(entry) or self._writing.discards(entry):
            return None
        if entry.body is None and entry.blob is None:
            body = self._file.body(entry.id)
            return None if body is None else msgspec.structs.replace(entry, body=body)
        return entry

    def _knows(self, url: str) -> bool:
        if self._damaged or self._next.knows_url(url) or self._writing.knows_url(url):
            return True
        try:
            return self._file.knows_url(url)
        except TROUBLE:
            return True  # rather once too often

    def _warn_of_damage(self, error: BaseException) -> None:
        said = f"{type(error).__name__}: {error}"
        self._warn("the HTTP cache is damaged and begins anew", error=said)

    def _wake(self) -> None:
        if self._writer is None:
            self._writer = asyncio.create_task(self._write())

    async def _write(self) -> None:
        try:
            written = True
            while written and (self._next or self._damaged):
                await self._gather()
                if self._damaged:
                    await self._attempt(self._file.renew)
                    self._damaged = False
                written = await self._write_batch()
        finally:
            self._room.set()
            self._writer = None

    async def _gather(self) -> None:
        waiter = asyncio.ensure_future(self._hurry.wait())
        await asyncio.wait([waiter], timeout=self.GATHER_S)
        waiter.cancel()
        self._hurry.clear()

    async def _write_batch(self) -> bool:
        batch = self._writing = self._next
        self._next = WriteBatch()
        try:
            if not self._file.is_open:
                await self.open()
            loose = await self._attempt(partial(self._file.write, batch))
            if loose is None:
                # What was to be kept is only lost; what must not be served waits for a chance.
                self._next.forgotten |= batch.forgotten
                return False
            await self._remove(loose)
        finally:
            self._writing = WriteBatch()
            self._room.set()
            batch.over.set()
        return True

    async def _remove(self, blobs: list[str]) -> None:
        try:
            if blobs:
                await self._blobs.remove(blobs, self._clock.now() - self.GRACE_US)
        except OSError as error:
            self.trouble(error)

    async def _attempt(self, work: Callable[[], Answer]) -> Answer | None:
        """Do it in the thread; None, and a warning, if the file is no good."""
        try:
            return await self._in_thread(work)
        except TROUBLE as error:
            self.trouble(error)
            return None

    async def _in_thread(self, work: Callable[[], Answer]) -> Answer:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)


def _entry(demand: CacheRequest, row: Any) -> CacheEntry:
    number, variant, vary, status, born_at, fresh_until, used_at, size, head, blob, body = row
    return CacheEntry(
        key=demand.key,
        variant=variant,
        vary=vary,
        url=demand.url,
        status=status,
        head=head,
        freshness=Freshness(born_at, fresh_until),
        used_at=used_at,
        size=size,
        body=body,
        blob=blob,
        id=number,
    )
