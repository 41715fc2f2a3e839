"""A file that is not complete yet, and a note beside it of what it is the beginning of."""

import fcntl
import functools
import hashlib
import itertools
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from headgate.ports.artifacts import FileOrigin, KeptPart

SUFFIX = ".part"
NOTE_SUFFIX = ".json"
SYNC_BYTES = 64 * 1024 * 1024
"""So much may have to be fetched again after a power cut."""
HURRY_BYTES = 8 * 1024 * 1024
"""After so much the disk is told to begin: otherwise it idles, and then all wait for it."""
LARGE_BYTES = 8 * 1024 * 1024
"""More than this would keep waiting those who wait for the disk together."""

_BLOCK = 1024 * 1024
_AT_ONCE = 512
"""Blocks in one call; systems take 1,024."""
_copies = itertools.count()


class PartNote(msgspec.Struct, frozen=True):
    """Whose beginning a file is, and how much of it is certain."""

    origin: FileOrigin
    boot: str
    """While the machine has not been restarted, all that was written is still there."""
    synced: int
    """After a restart, only this much is."""


class Partial:
    """The beginning of a file, locked while somebody writes to it.

    The lock ends with its process, so that a file without one belongs to nobody.
    """

    def __init__(self, folder: Path, item: str) -> None:
        self.path, self._file = _opened(folder, name_of(item))
        self._note = self.path.with_suffix(NOTE_SUFFIX)
        self._noted = os.fstat(self._file).st_size > 0  # it may be: somebody was here before
        self._synced = 0
        self._hurried = 0
        self._open = True
        self.size = 0

    @property
    def number(self) -> int:
        """The open file."""
        return self._file

    def kept(self) -> KeptPart | None:
        """What an earlier try has left."""
        note = read_note(self._note)
        if note is None or not note.origin.validator:
            return None
        there = os.fstat(self._file).st_size
        size = there if note.boot and note.boot == _boot() else min(note.synced, there)
        return KeptPart(note.origin, size) if size else None

    def blocks(self, size: int) -> Iterator[bytes]:
        """The first bytes, which are then gone on with."""
        os.ftruncate(self._file, size)
        while self.size < size and (block := os.pread(self._file, _BLOCK, self.size)):
            self.size += len(block)
            yield block
        os.lseek(self._file, self.size, os.SEEK_SET)

    def clear(self) -> None:
        """Forget what was written, or left by an earlier try."""
        if self._noted or self.size:
            self._note.unlink(missing_ok=True)
            os.ftruncate(self._file, 0)
            os.lseek(self._file, 0, os.SEEK_SET)
            self.size = self._synced = self._hurried = 0
            self._noted = False

    def append(self, *blocks: bytes) -> None:
        """Write all of them, as they are: to join them would copy them once more."""
        for start in range(0, len(blocks), _AT_ONCE):
            some = blocks[start : start + _AT_ONCE]
            written = os.writev(self._file, some)
            self.size += written
            if written < sum(map(len, some)):  # the disk is nearly full
                self._append_rest(memoryview(b"".join(some))[written:])

    def note(self, origin: FileOrigin) -> None:
        """Say whose beginning this is; once in a while, make sure of what there is."""
        self._hurry()
        if self.size - self._synced >= SYNC_BYTES:
            os.fsync(self._file)
            self._synced = self.size
        elif self._noted:
            return
        self._write_note(origin)

    def settle(self) -> None:
        """Wait for the disk if there is much to wait for, so that nobody else need do it."""
        if self.size - self._synced >= LARGE_BYTES:
            os.fsync(self._file)
            self._synced = self.size

    def leave(self, origin: FileOrigin) -> None:
        """Let go of it, such that a later try can go on; remove it if none could."""
        try:
            if origin.validator and self.size:
                self._write_note(origin)
            else:
                self.remove()
        finally:
            self.close()

    def remove(self) -> None:
        """Take away the name that it had while it was incomplete; not once somebody may have it."""
        if self._open:
            if self._noted:
                self._note.unlink(missing_ok=True)
            self.path.unlink(missing_ok=True)

    def close(self) -> None:
        """Let go of it."""
        if self._open:
            self._open = False
            os.close(self._file)

    def _append_rest(self, rest: memoryview) -> None:
        while rest:
            written = os.write(self._file, rest)
            self.size += written
            rest = rest[written:]

    def _hurry(self) -> None:
        """Have the disk begin with what there is, so that nobody waits for all of it later."""
        if self.size - self._hurried >= HURRY_BYTES and hasattr(os, "posix_fadvise"):
            length = self.size - self._hurried
            os.posix_fadvise(self._file, self._hurried, length, os.POSIX_FADV_DONTNEED)
            self._hurried = self.size

    def _write_note(self, origin: FileOrigin) -> None:
        fresh = self._note.with_suffix(".new")
        fresh.write_bytes(msgspec.json.encode(PartNote(origin, _boot(), self._synced)))
        fresh.replace(self._note)
        self._noted = True


def name_of(item: str) -> str:
    """The same at every try, so that a later one finds what an earlier one has left."""
    return hashlib.sha256(item.encode(errors="surrogatepass")).hexdigest()[:40]


def belongs_to_item(path: Path) -> bool:
    """Whether a later try would look for it; a copy for one run alone is never found again."""
    return "-" not in path.stem


def read_note(path: Path) -> PartNote | None:
    """What is noted; None if nothing is, or nothing that can be read."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=PartNote)
    except (OSError, msgspec.DecodeError):
        return None


def lock_free(path: Path) -> int | None:
    """The file, open and locked; None if somebody else has it."""
    number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _is_at(number, path):
            return number
    except BlockingIOError:
        pass
    os.close(number)
    return None


def is_placed(number: int) -> bool:
    """Whether a file has got its final name; who put it there died before this one was removed.

    To write to it would change what is under the final name.
    """
    return os.fstat(number).st_nlink > 1


def _opened(folder: Path, name: str) -> tuple[Path, int]:
    path = folder / (name + SUFFIX)
    number = _made(folder, path)
    while number is None:
        # A run that was given up may still be writing: it must not get into this one's way.
        path = folder / f"{name}-{os.getpid()}-{next(_copies)}{SUFFIX}"
        number = _made(folder, path)
    return path, number


def _made(folder: Path, path: Path) -> int | None:
    try:
        number = lock_free(path)
    except FileNotFoundError:
        folder.mkdir(exist_ok=True)
        number = lock_free(path)
    if number is not None and is_placed(number):
        path.with_suffix(NOTE_SUFFIX).unlink(missing_ok=True)
        path.unlink()
        os.close(number)
        return lock_free(path)
    return number


def _is_at(number: int, path: Path) -> bool:
    """Whoever tidies may have removed the file between its opening and its locking."""
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(number), path.stat())
    return False


@functools.cache
def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return ""
