"""Multipart uploads: written to disk in pieces, limited in size and time, under safe names."""

import asyncio
import hashlib
import shutil
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, BinaryIO

import msgspec
from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import ClientDisconnect, Request

from headgate.app.api.capacity import Threads
from headgate.app.api.problems import ProblemResponse
from headgate.app.api.state import AppState
from headgate.app.data_folder import display_name, safe_name
from headgate.core.body_limits import MinimumPace, PaceMeter
from headgate.core.job import LONGEST_FIELD

if TYPE_CHECKING:  # the library defines it only for type checkers
    from python_multipart.multipart import MultipartCallbacks

MOST_FILES = 5_000
MOST_FIELDS = 20
FEW_PARTS = 32
SMALL_PIECE = 4 * 1024
MEGABYTE = 1_048_576
LONGEST_HEADER = 8 * 1024


class StoredFile(msgspec.Struct, frozen=True):
    path: Path
    name: str
    """The sender's file name."""
    size: int
    digest: str


class Upload(msgspec.Struct, frozen=True):
    folder: Path
    files: list[StoredFile]
    fields: dict[str, str]

    def digest(self) -> str:
        """Return a hash of the upload. The same request gives the same hash."""
        made = hashlib.blake2b(digest_size=16)
        for file in self.files:
            made.update(f"{file.name}\0{file.digest}\0".encode())
        for name in sorted(self.fields):
            made.update(f"{name}\0{self.fields[name]}\0".encode())
        return made.hexdigest()

    def require_files(self) -> None:
        if not self.files:
            raise ProblemResponse(422, "the upload has no file; send it in the field `file`")

    def discard(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


async def receive(request: Request, app_state: AppState) -> Upload:
    """Receive an upload. After any error, nothing of it stays."""
    policy = app_state.settings.server
    max_bytes = policy.upload_mb * MEGABYTE
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    boundary = options.get(b"boundary", b"")
    if kind != b"multipart/form-data" or not 0 < len(boundary) <= 256:
        raise ProblemResponse(415, "send multipart/form-data with a boundary, or application/json")
    stated = request.headers.get("content-length", "")
    if stated.isdigit() and int(stated) > max_bytes + MOST_FIELDS * LONGEST_FIELD:
        raise _too_large(max_bytes)
    _keep_connection(request)
    threads = app_state.threads
    parts = _Parts(await threads.uploads.run(app_state.folder.new_upload), max_bytes)
    try:
        minimum = MinimumPace(policy.upload_min_bytes_per_s, policy.upload_slow_s)
        parser = MultipartParser(boundary, parts.callbacks())
        await _feed(_Pieces(request, minimum), parser, parts, threads)
        return parts.finished()
    except BaseException as error:
        await threads.uploads.run(parts.abandon)
        if isinstance(error, MultipartParseError):
            raise ProblemResponse(
                400, f"the multipart body is not complete or not valid: {error}"
            ) from error
        if isinstance(error, ClientDisconnect):
            raise ProblemResponse(400, "the upload was interrupted; nothing was stored") from error
        raise


def _keep_connection(request: Request) -> None:
    """Exempt the connection of an upload from being closed when others need room."""
    connection = request.scope.get("state", {}).get("connection")
    if connection is not None:
        connection.keep()


async def _feed(
    pieces: "_Pieces", parser: MultipartParser, parts: "_Parts", threads: Threads
) -> None:
    while (chunk := await pieces.next()) is not None:
        if chunk:
            parts.grow(len(chunk))
            # Writing blocks on the disk, so it runs in a thread.
            small = pieces_of(chunk, parser.boundary)
            pool = threads.uploads if len(small) == 1 else threads.many_files
            for piece in small:
                await pool.run(parser.write, piece)
    await threads.uploads.run(parser.finalize)


def pieces_of(chunk: bytes, boundary: bytes) -> list[bytes]:
    """Split a chunk for the thread. Pieces are smaller where many files begin: each takes long."""
    size = len(chunk) if chunk.count(boundary) <= FEW_PARTS else SMALL_PIECE
    return [chunk[start : start + size] for start in range(0, len(chunk), size)]


class _Pieces:
    """The body of an upload in pieces, with a minimum pace."""

    def __init__(self, request: Request, minimum: MinimumPace) -> None:
        self._chunks = aiter(request.stream())
        self._minimum = minimum
        self._meter = PaceMeter(minimum)

    async def next(self) -> bytes | None:
        """Return the next piece, or None at the end. Raises 408 for a slow client."""
        minimum, asked_s = self._minimum, monotonic()
        try:
            async with asyncio.timeout(minimum.over_s):
                chunk = await anext(self._chunks, None)
        except TimeoutError:
            raise ProblemResponse(
                408, f"no data arrived for {minimum.over_s:g} s; nothing was stored"
            ) from None
        self._meter.count(monotonic() - asked_s, len(chunk or b""))
        if chunk and self._meter.too_slow:
            raise ProblemResponse(
                408,
                f"less than {minimum.bytes_per_s:,.0f} bytes per second for {minimum.over_s:g} s,"
                " so nothing was stored; use a faster connection, or give the file's URL in "
                "`source`",
            )
        return chunk


def _too_large(max_bytes: int) -> ProblemResponse:
    most = f"{max_bytes / 1_048_576:,.0f} MB"
    return ProblemResponse(
        413, f"an upload can have at most {most} here (`server.upload_mb`); split the file"
    )


class _Parts:
    """Turns the parser's callbacks into files and fields."""

    def __init__(self, folder: Path, max_bytes: int) -> None:
        self._folder = folder
        self._left = max_bytes + MOST_FIELDS * LONGEST_FIELD
        self._max_bytes = max_bytes
        self._files: list[StoredFile] = []
        self._fields: dict[str, str] = {}
        self._names: dict[str, int] = {}
        """Names in the folder, each with the last number that was tried for it."""
        self._headers: dict[bytes, bytes] = {}
        self._name = self._value = b""
        self._field = ""
        self._text = bytearray()
        self._file: BinaryIO | None = None
        self._path = folder
        self._shown = ""
        self._digest = hashlib.blake2b(digest_size=20)
        self._ended = False

    def callbacks(self) -> "MultipartCallbacks":
        return {
            "on_part_begin": self._begin,
            "on_header_field": self._header_name,
            "on_header_value": self._header_value,
            "on_header_end": self._header_end,
            "on_headers_finished": self._open,
            "on_part_data": self._data,
            "on_part_end": self._close,
            "on_end": self._end,
        }

    def grow(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise _too_large(self._max_bytes)

    def finished(self) -> Upload:
        """Return the upload, or refuse it if it is incomplete."""
        if not self._ended:
            raise ProblemResponse(400, "the upload is incomplete; nothing was stored")
        return Upload(self._folder, self._files, self._fields)

    def abandon(self) -> None:
        if self._file is not None:
            self._file.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _begin(self) -> None:
        self._headers = {}
        self._name = self._value = b""

    def _header_name(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]
        self._bound_header()

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]
        self._bound_header()

    def _bound_header(self) -> None:
        if len(self._name) + len(self._value) > LONGEST_HEADER:
            raise ProblemResponse(400, "a part has a header that is too long")

    def _header_end(self) -> None:
        self._headers[self._name.lower()] = self._value
        self._name = self._value = b""

    def _open(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        self._field = options.get(b"name", b"").decode("utf-8", "replace")
        if b"filename" not in options:
            if len(self._fields) >= MOST_FIELDS:
                raise ProblemResponse(422, f"the upload has more than {MOST_FIELDS} fields")
            self._text = bytearray()
            return
        if self._field != "file":
            raise ProblemResponse(422, f"files go in the field `file`, not {self._field[:40]!r}")
        if len(self._files) >= MOST_FILES:
            raise ProblemResponse(
                413, f"the upload has more than {MOST_FILES} files; send them as one zip"
            )
        name = options[b"filename"].decode("utf-8", "replace")
        self._shown = display_name(name) or "upload"
        self._path = self._free_path(safe_name(name) or "upload")
        self._digest = hashlib.blake2b(digest_size=20)
        self._file = self._path.open("xb")

    def _free_path(self, name: str) -> Path:
        """Return a free path. A second file of the same name gets a number."""
        stem, dot, ending = name.rpartition(".")
        tried = name
        # Some file systems treat A.csv and a.csv as the same file.
        while tried.casefold() in self._names:
            number = self._names[name.casefold()] = self._names[name.casefold()] + 1
            tried = f"{stem or name}_{number}{dot}{ending if stem else ''}"
        self._names[tried.casefold()] = 1
        return self._folder / tried

    def _data(self, data: bytes, start: int, end: int) -> None:
        piece = data[start:end]
        if self._file is not None:
            self._file.write(piece)
            self._digest.update(piece)
            return
        self._text += piece
        if len(self._text) > LONGEST_FIELD:
            raise ProblemResponse(413, f"the field {self._field[:40]!r} is too long")

    def _close(self) -> None:
        if self._file is None:
            self._fields[self._field] = self._text.decode("utf-8", "replace")
            return
        size = self._file.tell()
        self._file.close()
        self._file = None
        self._files.append(StoredFile(self._path, self._shown, size, self._digest.hexdigest()))

    def _end(self) -> None:
        self._ended = True
