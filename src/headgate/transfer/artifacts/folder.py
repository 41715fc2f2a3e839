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
from headgate.transfer.artifacts.draft import FileDraft
from headgate.transfer.artifacts.durability import sync_folder
from headgate.transfer.artifacts.errors import in_words
from headgate.transfer.artifacts.file_writer import FileWriter
from headgate.transfer.artifacts.leftovers import tidy_leftovers, tidy_store
from headgate.transfer.artifacts.partial import SUFFIX, Partial, name_of

ASIDE = ".headgate-partial"
"""Inside the folder, so that a finished file only has to get another name."""
LONGEST_PATH = 3_800
"""In bytes: with the longest of our names behind it, still less than systems allow."""

Answer = TypeVar("Answer")


class ArtifactFolder:
    """Files of downloads: written aside, checked, and then put under a name for good."""

    THREADS = 8
    """They mostly wait for the disk."""
    HELD_BYTES = 8 * 1024 * 1024
    """Of all large files together; a few of them get larger blocks, which cost less to write."""
    BLOCK_BYTES = (128 * 1024, 1024 * 1024)
    """The least and the most that is held of one."""
    FILE_WRITER_AFTER = 100
    """Small files. A process for fewer would cost more than it spares."""

    def __init__(self, root: Path) -> None:
        self._root = root.absolute()
        self._aside = self._root / ASIDE
        self._left: set[str] = set()
        self._large: WeakSet[FileDraft] = WeakSet()
        self._committer: CommitThread | None = None
        self._small = 0
        self._file_writer: FileWriter | None = None
        self._hiring: asyncio.Task[None] | None = None
        self._pool = ThreadPoolExecutor(self.THREADS, thread_name_prefix="artifacts")

    async def __aenter__(self) -> Self:
        try:
            await self.run(self._open)
        except FileTrouble as trouble:  # as for one file, so for all
            raise FolderTrouble(str(trouble)) from trouble
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def begin(self, item: str, algorithms: tuple[str, ...] = ()) -> FileDraft:
        """Begin a file; what an earlier try left of it is found by the item."""
        if self._committer is None:
            raise RuntimeError("the folder was not opened")
        draft = FileDraft(self, self._committer, item, algorithms)
        if self._left and name_of(item) in self._left:
            self._left.discard(name_of(item))
            await self.run(draft.look_back)
        return draft

    async def has(self, path: str, size: int) -> bool:
        """Whether a file of that size is there still, under the path that it was stored at."""
        return await self.run(_has, self._root / path, size)

    async def tidy(self, before_us: int) -> Tidied:
        """Clear away what nobody is writing: the unusable, and all last written before then."""
        return await self.run(self._tidy, before_us)

    async def close(self) -> None:
        """Wait for what is being finished, and end the threads."""
        if self._hiring is not None:
            await self._hiring
        if self._file_writer is not None:
            await self._file_writer.close()
        await asyncio.to_thread(self._close)

    async def run(self, work: Callable[..., Answer], *arguments: Any) -> Answer:
        """Work in one of the threads, with the disk's troubles in words."""
        return await asyncio.get_running_loop().run_in_executor(
            self._pool, self.worded, work, *arguments
        )

    def worded(self, work: Callable[..., Answer], *arguments: Any) -> Answer:
        """Work in this thread, with the disk's troubles in words."""
        with in_words(self._root):
            return work(*arguments)

    def submit(self, work: Callable[..., None], *arguments: Any) -> None:
        """Have something done that nobody waits for."""
        try:
            self._pool.submit(work, *arguments)
        except RuntimeError:  # the folder is closed, and its threads are gone
            work(*arguments)

    def partial(self, item: str) -> Partial:
        """The unfinished file of an item."""
        return Partial(self._aside, item)

    def file_writer(self) -> FileWriter | None:
        """Who writes small files, once there are enough of them."""
        if self._file_writer is not None and not self._file_writer.is_gone:
            return self._file_writer
        self._small += 1
        if self._small % self.FILE_WRITER_AFTER == 0 and (
            self._hiring is None or self._hiring.done()
        ):
            self._hiring = asyncio.create_task(self.hire())
        return None

    async def hire(self) -> None:
        """Have small files written by a process of their own from now on."""
        if self._file_writer is not None:
            await self._file_writer.close()
        with suppress(OSError):  # the machine has no room for one more: the threads go on
            self._file_writer = await FileWriter.start(self._root, self._aside)

    def block_bytes(self, draft: FileDraft) -> int:
        """How much of a file that is not small may be held in memory."""
        self._large.add(draft)
        least, most = self.BLOCK_BYTES
        return min(max(self.HELD_BYTES // len(self._large), least), most)

    def left(self, item: str) -> None:
        """Something of an item stays for a later try."""
        self._left.add(name_of(item))

    def _open(self) -> None:
        if len(os.fsencode(self._root)) > LONGEST_PATH:
            raise OSError(errno.ENAMETOOLONG, "its path is too long for files to fit in")
        if not self._root.is_dir():
            self._root.mkdir(parents=True, exist_ok=True)
            sync_folder(self._root.parent)
        self._aside.mkdir(exist_ok=True)
        self._committer = CommitThread(self._root)
        self._look_around()

    def _look_around(self) -> None:
        self._left = {path.stem for path in self._aside.iterdir() if path.suffix == SUFFIX}

    def _tidy(self, before_us: int) -> Tidied:
        tidied = Tidied(tidy_leftovers(self._aside, before_us), tidy_store(self._root))
        self._look_around()
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
