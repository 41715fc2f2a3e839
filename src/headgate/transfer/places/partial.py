"""A copy that is not complete yet, with a note of the version it is from."""

import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from headgate.core.errors import SourceUnreachable
from headgate.transfer.places.driver import NOTHING, KeptCopy

SUFFIX = ".part"
NOTE_SUFFIX = ".part.json"
SYNC_BYTES = 64 * 1024 * 1024
"""Bytes between two syncs: at most this much is copied again after a power cut."""


class PartialCopy:
    """The beginning of a file beside its target; it has one writer at a time.

    The note counts only synced bytes: after a power cut the file may be
    longer than its valid content.
    """

    def __init__(self, target: Path) -> None:
        self._target = target
        self._path = target.with_name(target.name + SUFFIX)
        self._note = target.with_name(target.name + NOTE_SUFFIX)
        self._version = ""
        self._noted = 0
        self.size = 0

    def __enter__(self) -> Self:
        try:
            self._file = self._path.open("ab")
        except OSError as error:
            raise self._failed(error) from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise SourceUnreachable(f"{self._target.name} is being copied already") from None
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if self._path.exists():
                self._save()
        except OSError as trouble:
            if error is None:
                raise self._failed(trouble) from trouble
        finally:
            self._file.close()

    def kept(self) -> KeptCopy:
        try:
            kept = msgspec.json.decode(self._note.read_bytes(), type=KeptCopy)
        except (OSError, msgspec.DecodeError):
            return NOTHING
        return kept if 0 < kept.size <= self._path.stat().st_size else NOTHING

    def begin(self, version: str, offset: int) -> None:
        """Keep the first `offset` bytes; the bytes written next are from `version`."""
        try:
            if os.fstat(self._file.fileno()).st_size != offset:
                self._file.truncate(offset)
        except OSError as error:
            raise self._failed(error) from error
        self._version, self.size, self._noted = version, offset, 0
        self._note.unlink(missing_ok=True)

    def write(self, piece: bytes) -> None:
        try:
            self._file.write(piece)
            self.size += len(piece)
            if self.size - self._noted >= SYNC_BYTES:
                self._save()
        except OSError as error:
            raise self._failed(error) from error

    def complete(self) -> None:
        try:
            self._sync()
            self._path.replace(self._target)
        except OSError as error:
            raise self._failed(error) from error
        self._note.unlink(missing_ok=True)

    def _save(self) -> None:
        self._sync()
        if self._version and self.size:
            fresh = self._note.with_name(self._note.name + ".new")
            fresh.write_bytes(msgspec.json.encode(KeptCopy(self._version, self.size)))
            fresh.replace(self._note)
            self._noted = self.size

    def _sync(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())

    def _failed(self, error: OSError) -> SourceUnreachable:
        return SourceUnreachable(f"the copy of the source cannot be stored: {error.strerror}")


def discard(target: Path) -> None:
    for suffix in (SUFFIX, NOTE_SUFFIX, NOTE_SUFFIX + ".new"):
        target.with_name(target.name + suffix).unlink(missing_ok=True)
