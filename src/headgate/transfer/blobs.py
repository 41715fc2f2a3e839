"""Blobs as files of one folder: written aside, named by their hash, then moved into place."""

import asyncio
import hashlib
import os
import re
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from headgate.ports.blobs import BlobStore, BlobWriter
from headgate.ports.clock import Clock

BLOCK = 256 * 1024
"""Bytes per read or write: small enough for hundreds of transfers, large enough for a thread."""

_NAME = re.compile(r"[0-9a-f]{64}")
_FOLDER_NAME = re.compile(r"[0-9a-f]{2}")
_UNFINISHED = "unfinished"

Answer = TypeVar("Answer")


class LocalBlobs:
    """A folder of blobs that several processes may share. Names are SHA-256 in hex.

    `durable` syncs to disk at every commit. A cache does not need that: after a power cut,
    blobs may be missing, and an incomplete one is recognised by its size.
    """

    THREADS = 4

    def __init__(self, root: Path, clock: Clock, *, durable: bool = True) -> None:
        self._root = root
        self._clock = clock
        self._durable = durable
        self._pool = ThreadPoolExecutor(self.THREADS, thread_name_prefix="blobs")

    async def create(self) -> "LocalWriter":
        return await self._run(self._create)

    async def open(self, name: str) -> "LocalBlob | None":
        return await self._run(self._open, name)

    def locate(self, name: str) -> Path:
        """Path of a blob: ValueError for an invalid name, FileNotFoundError if the blob is gone."""
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is not the name of a blob")
        path = self._path(name)
        if not path.is_file():
            raise FileNotFoundError(path)
        return path

    async def remove(self, names: Sequence[str], before_us: int) -> int:
        paths = [self._path(name) for name in names if _NAME.fullmatch(name)]
        return await self._run(_remove_aged, paths, before_us)

    async def aged(self, before_us: int) -> AsyncIterator[Sequence[str]]:
        for folder in await self._run(self._blob_folders):
            if names := await self._run(_aged_names, folder, before_us):
                yield names

    async def tidy(self, before_us: int) -> int:
        return await self._run(self._tidy, before_us)

    async def close(self) -> None:
        await asyncio.to_thread(self._pool.shutdown)

    async def _run(self, work: Callable[..., Answer], *arguments: Any) -> Answer:
        return await _in(self._pool, work, *arguments)

    def _create(self) -> "LocalWriter":
        folder = self._root / _UNFINISHED
        _make_private(folder)
        # The name contains the start time: the file exists before a time can be set on it.
        number, name = tempfile.mkstemp(dir=folder, prefix=f"{self._clock.now()}-")
        return LocalWriter(os.fdopen(number, "wb"), Path(name), self._pool, self)

    def _open(self, name: str) -> "LocalBlob | None":
        if not _NAME.fullmatch(name):
            return None
        try:
            file = self._path(name).open("rb")
        except FileNotFoundError:
            return None
        return LocalBlob(file, os.fstat(file.fileno()).st_size, self._pool)

    def _tidy(self, before_us: int) -> int:
        unfinished = _files(self._root / _UNFINISHED)
        begun_before = [path for path in unfinished if _begun_at(path) < before_us]
        return _remove_aged(begun_before, before_us)

    def stamp(self, path: Path) -> None:
        """Set the file's time from the clock that `before_us` is compared with."""
        now = self._clock.now() * 1_000
        os.utime(path, ns=(now, now))

    def place(self, path: Path, name: str) -> None:
        """Move a finished file to the path of its name.

        An older copy is replaced: it has the same bytes or is damaged.
        """
        target = self._path(name)
        _make_private(target.parent)
        self.stamp(path)
        if self._durable:
            _sync(path)
        path.replace(target)
        if self._durable:
            _sync(target.parent)

    def _path(self, name: str) -> Path:
        return self._root / name[:2] / name

    def _blob_folders(self) -> list[Path]:
        return sorted(each for each in _entries(self._root) if _FOLDER_NAME.fullmatch(each.name))


class LocalWriter:
    """A file that is being written.

    A writing thread cannot be interrupted: the lock makes `abandon` wait for it.
    """

    def __init__(
        self, file: BinaryIO, path: Path, pool: ThreadPoolExecutor, blobs: LocalBlobs
    ) -> None:
        self._file = file
        self._path = path
        self._pool = pool
        self._blobs = blobs
        blobs.stamp(path)
        self._hash = hashlib.sha256()
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self._lock = threading.Lock()
        self._over = False

    async def write(self, data: bytes) -> None:
        self._waiting.append(data)
        self._waiting_bytes += len(data)
        if self._waiting_bytes >= BLOCK:
            await _in(self._pool, self._append, self._take())

    async def commit(self) -> str:
        return await _in(self._pool, self._commit, self._take())

    def abandon(self) -> None:
        """Remove the file, without waiting."""
        try:
            self._pool.submit(self._abandon)
        except RuntimeError:  # the store is closed and its threads have ended
            self._abandon()

    def _take(self) -> list[bytes]:
        blocks, self._waiting, self._waiting_bytes = self._waiting, [], 0
        return blocks

    def _append(self, blocks: Sequence[bytes]) -> None:
        with self._lock:
            if not self._over:
                self._append_locked(blocks)

    def _append_locked(self, blocks: Sequence[bytes]) -> None:
        for block in blocks:
            self._hash.update(block)
            self._file.write(block)
        self._file.flush()
        self._blobs.stamp(self._path)

    def _commit(self, blocks: Sequence[bytes]) -> str:
        with self._lock:
            if self._over:
                raise OSError("this blob was abandoned")
            self._append_locked(blocks)
            name = self._hash.hexdigest()
            self._blobs.place(self._path, name)
            self._over = True
            self._file.close()
            return name

    def _abandon(self) -> None:
        with self._lock:
            if self._over:
                return
            self._over = True
            self._path.unlink(missing_ok=True)
            # On a full disk, flushing the buffer fails, which does not matter here.
            with suppress(OSError):
                self._file.close()


class LocalBlob:
    def __init__(self, file: BinaryIO, size: int, pool: ThreadPoolExecutor) -> None:
        self._file = file
        self._pool = pool
        self.size = size

    async def chunks(self) -> AsyncIterator[bytes]:
        while block := await _in(self._pool, self._file.read, BLOCK):
            yield block

    def close(self) -> None:
        """Close the file. A read in progress finishes first."""
        self._file.close()


async def _in(pool: ThreadPoolExecutor, work: Callable[..., Answer], *arguments: Any) -> Answer:
    return await asyncio.get_running_loop().run_in_executor(pool, work, *arguments)


def _make_private(folder: Path) -> None:
    """Make a folder and its missing parents, accessible only to their owner."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except FileNotFoundError:
        _make_private(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except FileNotFoundError:
        return []


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in _entries(folder) if path.is_file())


def _aged_names(folder: Path, before_us: int) -> list[str]:
    return [
        path.name
        for path in _files(folder)
        if _NAME.fullmatch(path.name) and _is_aged(path, before_us)
    ]


def _begun_at(path: Path) -> int:
    number = path.name.partition("-")[0]
    return int(number) if number.isdecimal() else 0


def _is_aged(path: Path, before_us: int) -> bool:
    try:
        return path.stat().st_mtime_ns // 1_000 < before_us
    except FileNotFoundError:
        return False


def _remove_aged(paths: Sequence[Path], before_us: int) -> int:
    removed = 0
    for path in paths:
        if _is_aged(path, before_us):
            path.unlink(missing_ok=True)
            removed += 1
    return removed


def _sync(path: Path) -> None:
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


class StoreSink:
    """A `BlobSink` that keeps bytes in a blob store. Call it from a thread, not from the loop."""

    def __init__(self, blobs: BlobStore, loop: asyncio.AbstractEventLoop) -> None:
        self._blobs = blobs
        self._loop = loop

    def __call__(self, chunks: Iterator[bytes]) -> str:
        """Store the bytes and return the name of the blob."""
        writer: BlobWriter = asyncio.run_coroutine_threadsafe(
            self._blobs.create(), self._loop
        ).result()
        try:
            for chunk in chunks:
                asyncio.run_coroutine_threadsafe(writer.write(chunk), self._loop).result()
            return asyncio.run_coroutine_threadsafe(writer.commit(), self._loop).result()
        except BaseException:
            self._loop.call_soon_threadsafe(writer.abandon)
            raise
