"""A file that is not complete yet, with a note beside it that says where it is from."""

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
"""Bytes between two syncs: at most this much is fetched again after a power cut."""
HURRY_BYTES = 8 * 1024 * 1024
"""Bytes after which writing to the disk is started, so that the final sync waits less."""
LARGE_BYTES = 8 * 1024 * 1024
"""Unsynced bytes from which a file is synced alone; in a shared round all files would wait."""

_BLOCK = 1024 * 1024
_AT_ONCE = 512
"""Blocks in one `writev` call; systems accept 1,024."""
_copies = itertools.count()


class PartNote(msgspec.Struct, frozen=True):
    """Origin of a partial file, and how much of it is certain to be on the disk."""

    origin: FileOrigin
    boot: str
    """Id of the machine's boot: while it is the same, all written bytes are still there."""
    synced: int
    """Bytes that are certain after a restart of the machine."""


class Partial:
    """The beginning of a file, locked while a process writes to it.

    The lock ends with its process, so an unlocked file is not in use.
    """

    def __init__(self, folder: Path, item: str) -> None:
        self.path, self._file = _opened(folder, name_of(item))
        self._note = self.path.with_suffix(NOTE_SUFFIX)
        self._noted = os.fstat(self._file).st_size > 0  # an earlier attempt may have left a note
        self._synced = 0
        self._hurried = 0
        self._open = True
        self.size = 0

    @property
    def number(self) -> int:
        return self._file

    def kept(self) -> KeptPart | None:
        """The usable part that an earlier attempt left."""
        note = read_note(self._note)
        if note is None or not note.origin.validator:
            return None
        there = os.fstat(self._file).st_size
        size = there if note.boot and note.boot == _boot() else min(note.synced, there)
        return KeptPart(note.origin, size) if size else None

    def blocks(self, size: int) -> Iterator[bytes]:
        """Yield the first `size` bytes; `append` then continues after them."""
        os.ftruncate(self._file, size)
        while self.size < size and (block := os.pread(self._file, _BLOCK, self.size)):
            self.size += len(block)
            yield block
        os.lseek(self._file, self.size, os.SEEK_SET)

    def clear(self) -> None:
        if self._noted or self.size:
            self._note.unlink(missing_ok=True)
            os.ftruncate(self._file, 0)
            os.lseek(self._file, 0, os.SEEK_SET)
            self.size = self._synced = self._hurried = 0
            self._noted = False

    def append(self, *blocks: bytes) -> None:
        """Write the blocks unjoined: joining them would copy them once more."""
        for start in range(0, len(blocks), _AT_ONCE):
            some = blocks[start : start + _AT_ONCE]
            written = os.writev(self._file, some)
            self.size += written
            if written < sum(map(len, some)):  # the disk is nearly full
                self._append_rest(memoryview(b"".join(some))[written:])

    def note(self, origin: FileOrigin) -> None:
        """Write the note if it is missing, and sync every SYNC_BYTES."""
        self._hurry()
        if self.size - self._synced >= SYNC_BYTES:
            os.fsync(self._file)
            self._synced = self.size
        elif self._noted:
            return
        self._write_note(origin)

    def settle(self) -> None:
        """Sync a large file here, so that the files of the shared round do not wait for it."""
        if self.size - self._synced >= LARGE_BYTES:
            os.fsync(self._file)
            self._synced = self.size

    def leave(self, origin: FileOrigin) -> None:
        """Close it so that a later attempt can resume; remove it if none could."""
        try:
            if origin.validator and self.size:
                self._write_note(origin)
            else:
                self.remove()
        finally:
            self.close()

    def remove(self) -> None:
        """Remove the name of the incomplete file. Does nothing once the lock is released."""
        if self._open:
            if self._noted:
                self._note.unlink(missing_ok=True)
            self.path.unlink(missing_ok=True)

    def close(self) -> None:
        if self._open:
            self._open = False
            os.close(self._file)

    def _append_rest(self, rest: memoryview) -> None:
        while rest:
            written = os.write(self._file, rest)
            self.size += written
            rest = rest[written:]

    def _hurry(self) -> None:
        """Start writing to the disk now, so that the final sync has less to wait for."""
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
    """File name of an item's part: the same in every attempt, so that a later one finds it."""
    return hashlib.sha256(item.encode(errors="surrogatepass")).hexdigest()[:40]


def belongs_to_item(path: Path) -> bool:
    """True if a later attempt looks for this file; a copy for a single run is not found again."""
    return "-" not in path.stem


def read_note(path: Path) -> PartNote | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=PartNote)
    except (OSError, msgspec.DecodeError):
        return None


def lock_free(path: Path) -> int | None:
    """The file, open and locked; None if another process holds the lock."""
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
    """True if the file already has its final name: its process died before removing this one.

    Writing to it would change the file under the final name.
    """
    return os.fstat(number).st_nlink > 1


def _opened(folder: Path, name: str) -> tuple[Path, int]:
    path = folder / (name + SUFFIX)
    number = _made(folder, path)
    while number is None:
        # A run that was given up may still be writing: the two must not share a file.
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
    """A cleanup may have removed the file between opening and locking."""
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(number), path.stat())
    return False


@functools.cache
def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return ""


def tidy_leftovers(folder: Path, before_us: int) -> int:
    """Remove unfinished files that are unlocked and will not be resumed; return their number."""
    removed = sum(_remove_part(path, before_us) for path in _files(folder, SUFFIX))
    for suffix in (NOTE_SUFFIX, ".new"):
        for note in _files(folder, suffix):
            if not note.with_suffix(SUFFIX).exists():
                note.unlink(missing_ok=True)
                removed += 1
    return removed


def _remove_part(path: Path, before_us: int) -> bool:
    number = lock_free(path)
    if number is None:
        return False
    try:
        # Removed under its lock: a process that opens it meanwhile sees that it is gone.
        if _may_be_resumed(path, number, before_us):
            return False
        path.with_suffix(NOTE_SUFFIX).unlink(missing_ok=True)
        path.unlink(missing_ok=True)
    finally:
        os.close(number)
    return True


def _may_be_resumed(path: Path, number: int, before_us: int) -> bool:
    note = read_note(path.with_suffix(NOTE_SUFFIX))
    if note is None or not note.origin.validator:
        return False
    if is_placed(number) or not belongs_to_item(path):
        return False
    return os.fstat(number).st_mtime_ns // 1_000 >= before_us


def _files(folder: Path, suffix: str) -> Iterator[Path]:
    if folder.is_dir():
        yield from [path for path in folder.iterdir() if path.name.endswith(suffix)]
