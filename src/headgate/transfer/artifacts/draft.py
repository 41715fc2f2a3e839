"""A file that is being written into the folder."""

import asyncio
import hashlib
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Protocol, TypeVar

from headgate.ports.artifacts import Digests, FileOrigin, FileTrouble, KeptPart, StoredArtifact
from headgate.transfer.artifacts.committer import CommitOrder, CommitThread
from headgate.transfer.artifacts.file_writer import FileWriter, FileWriterGone
from headgate.transfer.artifacts.partial import Partial

SMALL_BYTES = 256 * 1024
"""Bytes held in memory before a thread writes them; a smaller file is written in one call."""
FEW = 4
"""Up to this number, blocks are written unjoined: they are large then."""

Answer = TypeVar("Answer")


class DraftDeps(Protocol):
    async def run(self, work: Callable[..., Answer], *arguments: Any) -> Answer:
        """Run in a thread of the pool."""
        ...

    def call(self, work: Callable[..., Answer], *arguments: Any) -> Answer:
        """Run in this thread. Both raise ArtifactTrouble instead of OSError."""
        ...

    def submit(self, work: Callable[..., None], *arguments: Any) -> None:
        """Run in a thread of the pool without waiting for it."""
        ...

    def partial(self, item: str) -> Partial: ...

    def file_writer(self) -> FileWriter | None:
        """The process that writes small files, once there are enough of them."""
        ...

    def block_bytes(self, draft: "FileDraft") -> int:
        """Bytes of a large file that may be held in memory."""
        ...

    def left(self, item: str) -> None: ...


class FileDraft:
    """Bytes that become a file.

    A writing thread cannot be interrupted: the lock makes `abandon` wait for it.
    """

    def __init__(
        self, folder: DraftDeps, committer: CommitThread, item: str, algorithms: tuple[str, ...]
    ) -> None:
        self._folder = folder
        self._committer = committer
        self._item = item
        self._others = tuple(name for name in algorithms if name != "sha256")
        self._digests: dict[str, hashlib._Hash] = {}
        self._origin: FileOrigin | None = None
        self._partial: Partial | None = None
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self._block_bytes = SMALL_BYTES
        self._lock = threading.Lock()
        self._going_on = False
        self._over = False
        self.kept: KeptPart | None = None

    def find_kept(self) -> None:
        """Find the partial file of an earlier attempt. Runs in a thread."""
        with self._lock:
            self._partial = self._folder.partial(self._item)
            self.kept = self._partial.kept()

    def start(self, origin: FileOrigin) -> None:
        self._origin = origin
        self._take()
        self._digests = self._no_digests()
        self._going_on = False

    async def resume(self) -> AsyncIterator[bytes]:
        if self._partial is None or self.kept is None:
            raise RuntimeError("no earlier attempt left a part to resume")
        blocks = self._partial.blocks(self.kept.size)
        self._origin, self._going_on = self.kept.origin, True
        self._digests = self._no_digests()
        while block := await self._folder.run(self._reread, blocks):
            yield block

    async def write(self, data: bytes) -> None:
        if self._origin is None:
            raise RuntimeError("write() before start() or resume()")
        self._waiting.append(data)
        self._waiting_bytes += len(data)
        if self._waiting_bytes >= self._block_bytes:
            await self._folder.run(self._append, self._take())
            self._block_bytes = self._folder.block_bytes(self)

    async def finish(self, name: str, accept: Callable[[Digests], None]) -> StoredArtifact:
        """Put the file into the folder; it is durable when this returns.

        Cancelling this leaves either a complete file or none.
        """
        if self._partial is None and (file_writer := self._folder.file_writer()) is not None:
            with suppress(FileWriterGone):  # the threads write it instead
                return await self._write_in_process(file_writer, name, accept)
        outcome: Future[StoredArtifact] = Future()
        outcome.set_running_or_notify_cancel()
        self._folder.submit(self._deliver, self._take(), name, accept, outcome)
        return await asyncio.wrap_future(outcome)

    async def leave(self) -> None:
        """Stop here so that a later attempt can resume. Before `start`, keep the earlier part."""
        if self._origin is None and self._partial is None:
            return
        await self._folder.run(self._leave, self._take())

    def abandon(self) -> None:
        """Remove the partial file, without waiting."""
        if self._lock.acquire(blocking=False):
            untouched = self._partial is None
            self._over = self._over or untouched
            self._lock.release()
            if untouched:
                return
        self._folder.submit(self._abandon)

    def _no_digests(self) -> "dict[str, hashlib._Hash]":
        digests = {name: hashlib.new(name, usedforsecurity=False) for name in self._others}
        return {"sha256": hashlib.sha256(usedforsecurity=False), **digests}

    def _take(self) -> list[bytes]:
        blocks, self._waiting, self._waiting_bytes = self._waiting, [], 0
        return blocks

    def _reread(self, blocks: Iterator[bytes]) -> bytes:
        with self._lock:
            block = b"" if self._over else next(blocks, b"")
            self._count(block)
            return block

    def _append(self, blocks: list[bytes]) -> None:
        with self._lock:
            if not self._over and self._origin is not None:
                self._write(blocks).note(self._origin)

    def _write(self, blocks: list[bytes]) -> Partial:
        if self._partial is None:
            self._partial = self._folder.partial(self._item)
        if not self._going_on:
            self._going_on = True
            self._partial.clear()
        if len(blocks) > FEW:
            # One large piece: each call releases the interpreter lock and has to wait for it again.
            blocks = [b"".join(blocks)]
        for block in blocks:
            self._count(block)
        self._partial.append(*blocks)
        return self._partial

    def _count(self, data: bytes) -> None:
        for digest in self._digests.values():
            digest.update(data)

    async def _write_in_process(
        self, file_writer: FileWriter, name: str, accept: Callable[[Digests], None]
    ) -> StoredArtifact:
        content = b"".join(self._waiting)
        self._count(content)
        digests = self._hex()
        accept(digests)
        self._over = True
        try:
            return await file_writer.keep(self._item, name, digests["sha256"], content)
        except FileWriterGone:
            self._over = False
            self._digests = self._no_digests()
            raise

    def _hex(self) -> dict[str, str]:
        return {name: digest.hexdigest() for name, digest in self._digests.items()}

    def _deliver(
        self,
        blocks: list[bytes],
        name: str,
        accept: Callable[[Digests], None],
        outcome: "Future[StoredArtifact]",
    ) -> None:
        try:
            partial, sha256 = self._folder.call(self._seal, blocks, accept)
        except Exception as trouble:  # noqa: BLE001  the caller that waits gets it
            self._abandon()
            outcome.set_exception(trouble)
        else:
            self._committer.add(CommitOrder(partial, sha256, name, outcome))

    def _seal(self, blocks: list[bytes], accept: Callable[[Digests], None]) -> tuple[Partial, str]:
        with self._lock:
            if self._over:
                raise FileTrouble("this file was given up")
            partial = self._write(blocks)
            digests = self._hex()
            accept(digests)
            partial.settle()
            self._over = True
            return partial, digests["sha256"]

    def _leave(self, blocks: list[bytes]) -> None:
        with self._lock:
            if self._over:
                return
            self._over = True
            try:
                if self._origin is not None:
                    self._write(blocks).leave(self._origin)
                self._folder.left(self._item)
            finally:
                if self._partial is not None:
                    self._partial.close()

    def _abandon(self) -> None:
        with self._lock:
            if not self._over and self._partial is not None:
                _drop(self._partial)
            self._over = True


def _drop(partial: Partial) -> None:
    with suppress(OSError):  # the next cleanup removes it
        partial.remove()
    partial.close()
