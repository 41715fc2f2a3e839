"""Images as rows: each row describes an image and refers to its stored bytes."""

import hashlib
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO, Any

import msgspec

from headgate.core.errors import BadSource
from headgate.ports.source import BlobSink, RowBatch
from headgate.transfer.formats.image_files import ImageFile, ImageSet
from headgate.transfer.formats.image_head import read_head
from headgate.transfer.position import Position, decode_position, encode_position

COLUMNS = ("file", "format", "width", "height", "bytes", "sha256", "ref")

_BLOCK = 256 * 1024
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, BadSource)
_encoder = msgspec.json.Encoder()


class ImagesSource:
    """One row for each file. `ref` is the name under which `sink` stored the bytes."""

    def __init__(self, image_set: ImageSet, sink: BlobSink | None = None) -> None:
        self._image_set = image_set
        self._sink = sink

    def fingerprint(self) -> str:
        return self._image_set.fingerprint()

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
