"""Images in a zip archive, in a folder, or as single files."""

import hashlib
import os
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, NamedTuple, Protocol

from headgate.core.errors import BadSource
from headgate.transfer.archive import name_problem, open_archive
from headgate.transfer.limits import Limits
from headgate.transfer.places.local import fingerprint, open_file


class ImageFile(NamedTuple):
    """A file: its name, how to open it, and the reason why it must not be opened."""

    name: str
    open: Callable[[], IO[bytes]]
    problem: str | None = None


class ImageSet(Protocol):
    def fingerprint(self) -> str:
        """Hash over all files."""
        ...

    def open(self) -> "tuple[Sequence[ImageFile], Callable[[], None]]":
        """The files in a stable order, and a function that closes them."""
        ...


class ZipImageSet:
    def __init__(self, path: Path, limits: Limits) -> None:
        self._path = path
        self._limits = limits

    def fingerprint(self) -> str:
        return fingerprint(self._path)

    def open(self) -> tuple[Sequence[ImageFile], Callable[[], None]]:
        """The files, after the archive was checked."""
        archive = open_archive(self._path, self._limits, unsafe_names=True)
        members = [member for member in archive.infolist() if not _aside(member)]
        return _once_each(_member(archive, member) for member in members), archive.close


class FileImageSet:
    """Files on this machine, each with the name that its owner gave it."""

    def __init__(self, files: Sequence[tuple[str, Path]], limits: Limits) -> None:
        if len(files) > limits.max_members:
            raise BadSource(
                f"there are {len(files):,} files; at most {limits.max_members:,} are read"
            )
        self._files = files

    def fingerprint(self) -> str:
        digest, size = hashlib.blake2b(digest_size=20), 0
        for name, path in self._files:
            each = fingerprint(path)
            digest.update(f"{name}\0{each}\0".encode("utf-8", "surrogateescape"))
            size += int(each.rpartition(":")[2])
        return f"blake2b:{digest.hexdigest()}:{size}"

    def open(self) -> tuple[Sequence[ImageFile], Callable[[], None]]:
        files = (_plain_file(name, path) for name, path in self._files)
        return _once_each(files), lambda: None


def folder_images(folder: Path, limits: Limits) -> FileImageSet:
    """All files below a folder, except hidden files and links."""
    found: list[tuple[str, Path]] = []
    for at, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(at, name)
            if not name.startswith(".") and path.is_file() and not path.is_symlink():
                found.append((path.relative_to(folder).as_posix(), path))
        if len(found) > limits.max_members:
            raise BadSource(f"{folder} contains more than {limits.max_members:,} files")
    return FileImageSet(found, limits)


def _aside(member: zipfile.ZipInfo) -> bool:
    """True for folders, and for files that some systems add to an archive."""
    name = member.filename
    return (
        member.is_dir()
        or name.startswith("__MACOSX/")
        or name.rpartition("/")[2]
        in {
            ".DS_Store",
            "Thumbs.db",
        }
    )


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> ImageFile:
    name = member.orig_filename
    return ImageFile(name, lambda: archive.open(member), name_problem(name))


def _plain_file(name: str, path: Path) -> ImageFile:
    return ImageFile(name, lambda: open_file(path), name_problem(name))


def _once_each(files: Iterator[ImageFile]) -> list[ImageFile]:
    seen: set[str] = set()
    kept = []
    for file in files:
        again = file.name in seen
        kept.append(file._replace(problem="an earlier file has the same name") if again else file)
        seen.add(file.name)
    return kept
