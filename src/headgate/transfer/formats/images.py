"""Images as rows: each row describes an image and refers to its stored bytes."""

import hashlib
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple, Protocol

import msgspec

from headgate.core.errors import BadSource
from headgate.ports.source import BlobSink, RowBatch
from headgate.transfer.archive import name_problem, open_archive
from headgate.transfer.files import fingerprint, open_file
from headgate.transfer.formats.image_head import read_head
from headgate.transfer.limits import Limits
from headgate.transfer.position import Position, decode_position, encode_position
from headgate.transfer.sniff import is_zip

COLUMNS = ("file", "format", "width", "height", "bytes", "sha256", "ref")

_BLOCK = 256 * 1024
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, BadSource)
_encoder = msgspec.json.Encoder()


class ImageFile(NamedTuple):
    name: str
    open: Callable[[], IO[bytes]]
    problem: str | None = None


class ImageSet(Protocol):
    def fingerprint(self) -> str: ...

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
        archive = open_archive(self._path, self._limits, unsafe_names=True)
        members = [member for member in archive.infolist() if not _aside(member)]
        return _once_each(_member(archive, member) for member in members), archive.close


class FileImageSet:
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


def image_source(path: Path, limits: Limits, sink: BlobSink | None = None) -> "ImagesSource":
    if path.is_dir():
        return ImagesSource(folder_images(path, limits), sink)
    if is_zip(path):
        return ImagesSource(ZipImageSet(path, limits), sink)
    return ImagesSource(FileImageSet([(path.name, path)], limits), sink)


class ImagesSource:
    """One row for each file. `ref` is the name under which `sink` stored the bytes."""

    def __init__(self, image_set: ImageSet, sink: BlobSink | None = None) -> None:
        self._image_set = image_set
        self._sink = sink

    def fingerprint(self) -> str:
        return self._image_set.fingerprint()

    def effective_options(self) -> dict[str, str]:
        """Always empty: no option affects images."""
        return {}

    def open(self, position: str = "") -> "ImagesReader":
        return ImagesReader(self._image_set, self._sink, decode_position(position))


class ImagesReader:
    """Reads files, starting at a position; the line of a row is the number of its file."""

    columns = COLUMNS
    notes: tuple[str, ...] = ()
    sheets: tuple[str, ...] = ()

    def __init__(self, image_set: ImageSet, sink: BlobSink | None, at: Position) -> None:
        self._files, self._close = image_set.open()
        self._sink = sink
        self._row = at.row

    def close(self) -> None:
        self._close()

    def take(self, rows: int, max_bytes: int) -> RowBatch:
        """Further images, until about `max_bytes` were read."""
        first, size = self._row + 1, 0
        values: list[dict[str, Any]] = []
        problems: dict[int, str] = {}
        while len(values) < rows and size < max_bytes and self._row < len(self._files):
            file = self._files[self._row]
            row, problem = self._read(file)
            if problem:
                problems[len(values)] = problem
            size += row.get("bytes", 0)
            values.append(row)
            self._row += 1
        return RowBatch(
            first_row=first,
            lines=list(range(first, self._row + 1)),
            values=values,
            texts=_encoder.encode_lines(values).decode().split("\n")[:-1],
            problems=problems,
            position=encode_position(Position(line=self._row, row=self._row)),
            size=size,
        )

    def _read(self, file: ImageFile) -> tuple[dict[str, Any], str | None]:
        shown = file.name.encode("utf-8", "replace").decode()
        if file.problem:
            return {"file": shown}, file.problem
        try:
            with file.open() as opened:
                head = read_head(opened)
            if head is None or not (head.width and head.height):
                return {"file": shown}, "this is not an image in a known format, or it is damaged"
            with file.open() as opened:
                passing = _Passing(opened)
                ref = self._keep(passing)
        except _DAMAGED as error:
            return {"file": shown}, f"the file cannot be read: {error}"
        found = (head.format, head.width, head.height, passing.size, passing.sha256, ref)
        return dict(zip(COLUMNS, (shown, *found), strict=True)), None

    def _keep(self, passing: "_Passing") -> str:
        if self._sink is not None:
            return self._sink(passing.chunks())
        for _ in passing.chunks():
            pass
        return ""


class _Passing:
    """Counts and hashes bytes while they are copied."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._digest = hashlib.sha256()
        self.size = 0

    @property
    def sha256(self) -> str:
        return self._digest.hexdigest()

    def chunks(self) -> Iterator[bytes]:
        while chunk := self._file.read(_BLOCK):
            self.size += len(chunk)
            self._digest.update(chunk)
            yield chunk
