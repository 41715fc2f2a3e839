"""Read and write gzip files like plain ones."""

import gzip
import zlib
from collections.abc import Callable, Mapping
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import Any, BinaryIO, cast

from headgate.core.errors import BadSource
from headgate.transfer.places.local import LocalTarget, name_of_content, open_file

ENDING = ".gz"
_LEVEL = 6


def is_packed(path: Path) -> bool:
    """True if the file's name ends with `.gz`."""
    return path.suffix.lower() == ENDING


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
    """A gzip file that appears when it is complete."""

    def open(self) -> None:
        super().open()
        # Without the time and name in its header, the same rows give the same bytes.
        self._gzip = gzip.GzipFile("", "wb", _LEVEL, self._file, mtime=0)

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
