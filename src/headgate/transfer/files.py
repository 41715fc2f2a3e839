"""Local files, plain or gzip: identified by content, and replaced only when complete."""

import glob
import gzip
import hashlib
import os
import sys
import tempfile
import zlib
from collections.abc import Callable, Mapping
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import Any, BinaryIO, Protocol, cast

import msgspec

from headgate.core.errors import BadSource

RECORD_SUFFIX = ".meta.json"
"""Suffix of the record beside an export: `priced.csv.meta.json` describes `priced.csv`."""

PART_SUFFIX = ".part"
"""Suffix of incomplete files."""

GZIP_ENDING = ".gz"
_GZIP_LEVEL = 6
STDOUT = Path("-")
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
    with open_file(path) as file:
        return name_of_content(file)


def name_of_content(file: BinaryIO) -> str:
    digest = hashlib.blake2b(digest_size=20)
    size = 0
    while block := file.read(_BLOCK):
        digest.update(block)
        size += len(block)
    return f"blake2b:{digest.hexdigest()}:{size}"


class LocalTarget:
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


def is_packed(path: Path) -> bool:
    return path.suffix.lower() == GZIP_ENDING


def unpacked(file: BinaryIO, path: Path, most_bytes: int) -> BinaryIO:
    """The text in a gzip file; BadSource if it is damaged, or longer than `most_bytes`."""
    return cast("BinaryIO", BufferedReader(_Unpacked(file, path, most_bytes), 256 * 1024))


class _Unpacked(RawIOBase):
    """Unpacked bytes of a gzip file; raises BadSource for damage."""

    def __init__(self, file: BinaryIO, path: Path, most_bytes: int) -> None:
        self._file = file
        self._path = path
        self._most = most_bytes
        self._gzip = gzip.GzipFile(fileobj=file, mode="rb")

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)
        data = self._checked(lambda: self._gzip.read(len(view)))
        view[: len(data)] = data
        if self._gzip.tell() > self._most:
            raise BadSource(
                f"{self._path} has more than {self._most:,} bytes when it is unpacked"
                " (limits.max_decompressed_bytes): unpack it first"
            )
        return len(data)

    def seek(self, offset: int, whence: int = 0) -> int:
        return int(self._checked(lambda: self._gzip.seek(offset, whence)))

    def tell(self) -> int:
        return self._gzip.tell()

    def close(self) -> None:
        if not self.closed:
            self._gzip.close()
            self._file.close()
        super().close()

    def _checked(self, work: Callable[[], Any]) -> Any:
        try:
            return work()
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise BadSource(f"{self._path} is damaged or not a gzip file: {error}") from error


class PackedTarget(LocalTarget):
    def open(self) -> None:
        super().open()
        # Without the time and name in its header, the same rows give the same bytes.
        self._gzip = gzip.GzipFile("", "wb", _GZIP_LEVEL, self._file, mtime=0)

    def write(self, data: bytes) -> None:
        self._gzip.write(data)

    def commit(self, record: Mapping[str, Any]) -> None:
        self._gzip.close()
        super().commit(record)


def open_content(path: Path, most_bytes: int) -> BinaryIO:
    """Open a file, unpacked if needed; `most_bytes` limits how much is unpacked."""
    file = open_file(path)
    return unpacked(file, path, most_bytes) if is_packed(path) else file


def content_fingerprint(path: Path, most_bytes: int) -> str:
    """Hash and size of the text of a file: packing does not change it."""
    with open_content(path, most_bytes) as file:
        return name_of_content(file)


class OutputTarget(Protocol):
    """Receives bytes; they take effect when it is committed."""

    def open(self) -> None: ...

    def write(self, data: bytes) -> None: ...

    def commit(self, record: Mapping[str, Any]) -> None:
        """Finish, with a record of what was written."""
        ...

    def abandon(self) -> None:
        """Undo as far as possible."""
        ...


class StdoutTarget:
    """Standard output: writes cannot be undone, and nothing keeps a record."""

    def open(self) -> None:
        """Do nothing: standard output is open already."""

    def write(self, data: bytes) -> None:
        sys.stdout.buffer.write(data)

    def commit(self, record: Mapping[str, Any]) -> None:  # noqa: ARG002 (nothing keeps it)
        sys.stdout.buffer.flush()

    def abandon(self) -> None:
        """Do nothing: writes cannot be undone."""


def target_of(path: Path) -> OutputTarget:
    if path == STDOUT:
        return StdoutTarget()
    return PackedTarget(path) if is_packed(path) else LocalTarget(path)
