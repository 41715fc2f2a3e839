"""Cache entries: found at once, written in batches a few milliseconds later."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Protocol, TypeVar

import apsw
import msgspec

from headgate.net.cache.entry import CacheEntry, WriteBatch, matching_entry
from headgate.net.cache.file import DAMAGE, TROUBLE, CacheFile
from headgate.net.cache.freshness import Freshness
from headgate.net.cache.request import CacheRequest
from headgate.ports.blobs import BlobStore
from headgate.ports.clock import Clock

MICROSECONDS = 1_000_000
Answer = TypeVar("Answer")


class Warn(Protocol):
    def __call__(self, event: str, **facts: Any) -> Any: ...


class CacheStore:
    """The entries as this process sees them. Errors of the file never reach a caller."""

    GATHER_S = 0.005
    """Seconds for which the first entry of a batch waits for others."""
    BACKLOG_BYTES = 8 * 1024 * 1024
    """Bytes of bodies that may wait in memory to be written."""
    TOUCH_US = 600 * MICROSECONDS
    """Resolution of `used_at`: a finer one would make every hit a write."""
    REST_S = 60.0
    """Seconds for which nothing is stored after a disk error."""
    GRACE_US = 60 * MICROSECONDS
    """Microseconds for which a blob without an entry is kept: its entry may follow."""

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
        damage = await self._attempt(self._file.open)
        if damage is not None:
            self._warn_of_damage(damage)

    async def close(self) -> None:
        while self._writer is not None:
            self._hurry.set()
            await asyncio.shield(self._writer)
        await self._in_thread(self._file.close)
        self._thread.shutdown()

    @property
    def rests(self) -> bool:
        """Whether storing is suspended after a disk error."""
        return self._clock.monotonic() < self._rest_until_s

    def find(self, demand: CacheRequest) -> CacheEntry | None:
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
        self._next.put(entry)
        if self._next.bytes > self.BACKLOG_BYTES:
            self._room.clear()
            self._hurry.set()
        self._wake()

    def use(self, entry: CacheEntry, now: int) -> None:
        if now - entry.used_at > self.TOUCH_US and entry.id and not self.rests:
            self._next.used[str(entry.id)] = now
            self._wake()

    def discard(self, entry: CacheEntry) -> None:
        self._next.discard(entry)
        self._wake()

    def forget(self, url: str) -> bool:
        """Drop the entries of a URL in all partitions; return whether there were any."""
        if not self._knows(url):
            return False
        self._next.forget(url)
        self._hurry.set()
        self._wake()
        return True

    async def wait_room(self) -> None:
        await self._room.wait()

    async def flush(self) -> None:
        """Wait until the pending batch is written or lost; not for later batches."""
        self._hurry.set()
        batch = self._next or self._writing
        if batch:
            await batch.over.wait()

    def trouble(self, error: BaseException) -> None:
        """Log the error and suspend storing for REST_S; a damaged file is replaced."""
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
        """Remove unreferenced blobs if no process did so recently; return their number."""
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
        entry = matching_entry((_entry(demand, row) for row in rows), demand)
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
        cause = f"{type(error).__name__}: {error}"
        self._warn("the HTTP cache was damaged and starts empty", error=cause)

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
                # A lost reply is only fetched again; a URL to forget must be written later.
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
        """Run in the thread; on an error of the file, warn and return None."""
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
