"""Files on this machine: identified by content, and replaced only when complete."""

import glob
import hashlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from headgate.core.errors import BadSource

RECORD_SUFFIX = ".meta.json"
"""Suffix of the record beside an export: `priced.csv.meta.json` describes `priced.csv`."""

PART_SUFFIX = ".part"
"""Suffix of incomplete files."""

_BLOCK = 1024 * 1024


def open_file(path: Path) -> BinaryIO:
    """Open the file; raises BadSource with a message for the user."""
    try:
        return path.open("rb")
    except IsADirectoryError as error:
        raise BadSource(f"{path} is a folder, not a file") from error
    except FileNotFoundError as error:
        raise BadSource(f"the file {path} does not exist") from error
    except OSError as error:
        raise BadSource(f"{path} cannot be read: {error.strerror}") from error


def fingerprint(path: Path) -> str:
    """Hash and size of a file."""
    with open_file(path) as file:
        return name_of_content(file)


def name_of_content(file: BinaryIO) -> str:
    """Hash and size of an open file."""
    digest = hashlib.blake2b(digest_size=20)
    size = 0
    while block := file.read(_BLOCK):
        digest.update(block)
        size += len(block)
    return f"blake2b:{digest.hexdigest()}:{size}"


class LocalTarget:
    """A file that is written beside its target and moved into place when complete."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._record_path = path.with_name(path.name + RECORD_SUFFIX)
        self._unfinished: list[Path] = []
        self._file: BinaryIO | None = None

    def open(self) -> None:
        """Create the part file; its name is unique, so that two exports never mix."""
        self._file = self._make(self._path)

    @property
    def part(self) -> Path:
        """Path of the incomplete file, for libraries that write files themselves."""
        return self._unfinished[0]

    def write(self, data: bytes) -> None:
        if self._file is None:
            raise RuntimeError("write() before open()")
        self._file.write(data)

    def commit(self, record: Mapping[str, Any]) -> None:
        """Move the file and its record into place.

        The old record is removed first: a crash in between leaves a file without a record, never
        with the record of another file.
        """
        if self._file is None:
            raise RuntimeError("commit() before open()")
        _close_durably(self._file)
        self._file = None
        beside = self._make(self._record_path)
        beside.write(msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n")
        _close_durably(beside)
        file, beside_file = self._unfinished
        self._record_path.unlink(missing_ok=True)
        file.replace(self._path)
        beside_file.replace(self._record_path)
        self._unfinished.clear()
        _sync_folder(self._path.parent)

    def abandon(self) -> None:
        """Remove the part files; an earlier file at the target is untouched."""
        if self._file is not None:
            self._file.close()
            self._file = None
        for path in self._unfinished:
            path.unlink(missing_ok=True)
        self._unfinished.clear()

    def _make(self, target: Path) -> BinaryIO:
        number, name = tempfile.mkstemp(
            prefix=f".{target.name}.", suffix=PART_SUFFIX, dir=target.parent
        )
        self._unfinished.append(Path(name))
        os.fchmod(number, _mode_for(target))
        return os.fdopen(number, "wb")


def remove_parts(path: Path) -> None:
    """Remove part files of `path` whose writers were killed."""
    for part in path.parent.glob(f".{glob.escape(path.name)}.*{PART_SUFFIX}"):
        part.unlink(missing_ok=True)


def _mode_for(target: Path) -> int:
    # A temporary file is private; the final file gets the mode of the file it replaces, or
    # the mode that a plain open() would give it.
    try:
        return target.stat().st_mode & 0o777
    except FileNotFoundError:
        mask = os.umask(0o077)
        os.umask(mask)
        return 0o666 & ~mask


def _close_durably(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())
    file.close()


def _sync_folder(folder: Path) -> None:
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
