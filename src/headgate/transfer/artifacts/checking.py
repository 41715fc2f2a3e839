"""Compare every file of a folder with its line in the manifest."""

import hashlib
import os
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path, PurePosixPath

import msgspec

from headgate.core.download_folder import ATTEMPTS, MANIFEST, ManifestLine
from headgate.core.errors import BadSource


class Discrepancy(StrEnum):
    MISSING = "missing"
    SIZE = "size"
    CONTENT = "content"
    EXTRA = "extra"
    BAD_LINE = "bad-line"
    UNREADABLE = "unreadable"


class FileDifference(msgspec.Struct, frozen=True):
    kind: Discrepancy
    path: str
    id: str = ""
    detail: str = ""


class FolderCheck:
    """Checks a whole folder in little memory: eight bytes for each name."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._named = array("Q")
        self.files = 0
        self.bytes = 0

    def run(self) -> Iterator[FileDifference]:
        """All differences: first those of the manifest's lines, then files that have no line."""
        try:
            manifest = (self._root / MANIFEST).open("rb")
        except OSError as error:
            raise BadSource(f"{self._root} has no {MANIFEST} that can be read") from error
        with manifest:
            for number, line in enumerate(manifest, 1):
                yield from self._check_line(number, line)
        yield from self._extra()

    def _check_line(self, number: int, line: bytes) -> Iterator[FileDifference]:
        try:
            entry = msgspec.json.decode(line, type=ManifestLine)
        except msgspec.DecodeError as error:
            yield FileDifference(Discrepancy.BAD_LINE, MANIFEST, detail=f"line {number}: {error}")
            return
        if entry.path is None:
            return
        if not _is_inside(entry.path):
            yield FileDifference(
                Discrepancy.BAD_LINE, entry.path, entry.id, "points outside the folder"
            )
            return
        self._named.append(_short(entry.path))
        if difference := self._compare(entry, entry.path):
            yield difference

    def _compare(self, entry: ManifestLine, path: str) -> FileDifference | None:
        try:
            with (self._root / path).open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                if size != entry.bytes:
                    detail = f"{size} bytes, not {entry.bytes}"
                    return FileDifference(Discrepancy.SIZE, path, entry.id, detail)
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except FileNotFoundError:
            return FileDifference(Discrepancy.MISSING, path, entry.id)
        except OSError as error:
            return FileDifference(Discrepancy.UNREADABLE, path, entry.id, error.strerror or "")
        self.files += 1
        self.bytes += size
        if found != entry.sha256:
            return FileDifference(Discrepancy.CONTENT, path, entry.id, f"sha256 {found}")
        return None

    def _extra(self) -> Iterator[FileDifference]:
        known = array("Q", sorted(self._named))
        with os.scandir(self._root) as entries:
            for entry in entries:
                ours = entry.name.startswith(".") or entry.name in {MANIFEST, ATTEMPTS}
                if not ours and not _holds(known, _short(entry.name)):
                    yield FileDifference(Discrepancy.EXTRA, entry.name)


def _is_inside(path: str) -> bool:
    parts = PurePosixPath(path)
    return not parts.is_absolute() and ".." not in parts.parts and "\0" not in path


def _short(path: str) -> int:
    digest = hashlib.blake2b(path.encode(errors="surrogateescape"), digest_size=8).digest()
    return int.from_bytes(digest, "big")


def _holds(known: "array[int]", value: int) -> bool:
    place = bisect_left(known, value)
    return place < len(known) and known[place] == value
