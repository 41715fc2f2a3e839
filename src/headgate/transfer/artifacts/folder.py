"""The output folder of a download job."""

import asyncio
import errno
import os
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Self, TypeVar
from weakref import WeakSet

from headgate.ports.artifacts import FileTrouble, FolderTrouble, Tidied
from headgate.transfer.artifacts.committer import CommitThread
from headgate.transfer.artifacts.content_store import tidy_store
from headgate.transfer.artifacts.disk import as_artifact_errors, sync_folder
from headgate.transfer.artifacts.draft import FileDraft
from headgate.transfer.artifacts.file_writer import FileWriter
from headgate.transfer.artifacts.partial import SUFFIX, Partial, name_of, tidy_leftovers

ASIDE = ".headgate-partial"
"""Folder of unfinished files; on the same file system, so that finishing is only a rename."""
LONGEST_PATH = 3_800
"""Longest path of a folder in bytes; our longest file name still fits behind it."""

Answer = TypeVar("Answer")


class ArtifactFolder:
    """Files of downloads: written aside, checked, and then stored under a final name."""

    THREADS = 8
    """Threads of the pool; they mostly wait for the disk."""
    HELD_BYTES = 8 * 1024 * 1024
    """Bytes held in memory for all large files together. Few files get larger, cheaper blocks."""
    BLOCK_BYTES = (128 * 1024, 1024 * 1024)
    """Least and most bytes held for one large file."""
    FILE_WRITER_AFTER = 100
    """Small files before the file writer process starts; for fewer, it costs more than it saves."""

    def __init__(self, root: Path) -> None:
        self._root = root.absolute()
        self._aside = self._root / ASIDE
        self._left: set[str] = set()
        self._large: WeakSet[FileDraft] = WeakSet()
        self._committer: CommitThread | None = None
        self._small = 0
        self._file_writer: FileWriter | None = None
        self._starting: asyncio.Task[None] | None = None
        self._pool = ThreadPoolExecutor(self.THREADS, thread_name_prefix="artifacts")

    async def __aenter__(self) -> Self:
        try:
            await self.run(self._open)
        except FileTrouble as trouble:  # every file would fail like this
            raise FolderTrouble(str(trouble)) from trouble
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def begin(self, item: str, algorithms: tuple[str, ...] = ()) -> FileDraft:
        if self._committer is None:
            raise RuntimeError("the folder was not opened")
        draft = FileDraft(self, self._committer, item, algorithms)
        if self._left and name_of(item) in self._left:
            self._left.discard(name_of(item))
            await self.run(draft.find_kept)
        return draft

    async def has(self, path: str, size: int) -> bool:
        return await self.run(_has, self._root / path, size)

    async def tidy(self, before_us: int) -> Tidied:
        return await self.run(self._tidy, before_us)

    async def close(self) -> None:
        if self._starting is not None:
            await self._starting
        if self._file_writer is not None:
            await self._file_writer.close()
        await asyncio.to_thread(self._close)

    async def run(self, work: Callable[..., Answer], *arguments: Any) -> Answer:
        return await asyncio.get_running_loop().run_in_executor(
            self._pool, self.call, work, *arguments
        )

    def call(self, work: Callable[..., Answer], *arguments: Any) -> Answer:
        with as_artifact_errors(self._root):
            return work(*arguments)

    def submit(self, work: Callable[..., None], *arguments: Any) -> None:
        try:
            self._pool.submit(work, *arguments)
        except RuntimeError:  # the folder is closed and its threads have ended
            work(*arguments)

    def partial(self, item: str) -> Partial:
        return Partial(self._aside, item)

    def file_writer(self) -> FileWriter | None:
        if self._file_writer is not None and not self._file_writer.is_gone:
            return self._file_writer
        self._small += 1
        if self._small % self.FILE_WRITER_AFTER == 0 and (
            self._starting is None or self._starting.done()
        ):
            self._starting = asyncio.create_task(self.start_file_writer())
        return None

    async def start_file_writer(self) -> None:
        """Start the process that writes small files, in place of one that has ended."""
        if self._file_writer is not None:
            await self._file_writer.close()
        with suppress(OSError):  # without the process, the threads write
            self._file_writer = await FileWriter.start(self._root, self._aside)

    def block_bytes(self, draft: FileDraft) -> int:
        self._large.add(draft)
        least, most = self.BLOCK_BYTES
        return min(max(self.HELD_BYTES // len(self._large), least), most)

    def left(self, item: str) -> None:
        """Note that a partial file of this item stays for a later attempt."""
        self._left.add(name_of(item))

    def _open(self) -> None:
        if len(os.fsencode(self._root)) > LONGEST_PATH:
            raise OSError(errno.ENAMETOOLONG, "its path is too long")
        if not self._root.is_dir():
            self._root.mkdir(parents=True, exist_ok=True)
            sync_folder(self._root.parent)
        self._aside.mkdir(exist_ok=True)
        self._committer = CommitThread(self._root)
        self._find_parts()

    def _find_parts(self) -> None:
        self._left = {path.stem for path in self._aside.iterdir() if path.suffix == SUFFIX}

    def _tidy(self, before_us: int) -> Tidied:
        tidied = Tidied(tidy_leftovers(self._aside, before_us), tidy_store(self._root))
        self._find_parts()
        return tidied

    def _close(self) -> None:
        self._pool.shutdown()
        if self._committer is not None:
            self._committer.close()


def _has(path: Path, size: int) -> bool:
    try:
        there = path.lstat()
    except FileNotFoundError:
        return False
    return stat.S_ISREG(there.st_mode) and there.st_size == size
