"""Zip archives from untrusted sources: the directory is checked before anything is unpacked."""

import re
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from headgate.core.errors import BadSource
from headgate.transfer.limits import Limits

HARMLESS_BYTES = 16 * 1024 * 1024
"""Files of at most this many bytes are exempt from the limit on the compression ratio."""

_BLOCK = 256 * 1024
_PIECE = 1024 * 1024
_LOCAL_HEADER = 30
_END_RECORD = struct.Struct("<4s4H2LH")
_END_64_RECORD = struct.Struct("<4sQ2H2L4Q")
_END_64_LOCATOR = struct.Struct("<4sLQL")
_LARGEST_COMMENT = 65_535
_DIRECTORY_BYTES_A_MEMBER = 1_024
_DRIVE = re.compile(r"[A-Za-z]:")
_KNOWN_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def open_archive(path: Path, limits: Limits, *, unsafe_names: bool) -> zipfile.ZipFile:
    """Open an archive after checking that its directory is consistent.

    With `unsafe_names`, the caller has to check each name.
    """
    try:
        _check_directory_size(path, limits)
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, struct.error, EOFError) as error:
        raise BadSource(
            f"{path} is not a complete zip archive; it may have been cut off: send it again"
        ) from error
    try:
        _check_members(path, archive.infolist(), limits)
        if not unsafe_names:
            _check_names(path, archive.infolist())
    except BaseException:
        archive.close()
        raise
    return archive


Look = Callable[[bytes], object]
"""Receives the unpacked bytes piece by piece."""


def check_inflated(
    path: Path, archive: zipfile.ZipFile, limits: Limits, look: Look | None = None
) -> None:
    """Unpack everything and discard it: a directory may lie about sizes, the bytes cannot."""
    left = limits.max_decompressed_bytes
    with path.open("rb") as file:
        for member in archive.infolist():
            size = _inflated_size(file, member, left, look)
            if size > left:
                raise BadSource(_too_large(path, limits))
            if size != member.file_size:
                raise BadSource(f"{path}: {member.filename} is not as large as the archive says")
            left -= size


def name_problem(name: str) -> str | None:
    """Reason why a name in an archive must not be used as a path; None if it may be used."""
    if "\0" in name or any(ord(character) < 32 for character in name):
        return "its name contains control characters"
    if name.startswith(("/", "\\")) or _DRIVE.match(name):
        return "its name is an absolute path"
    if ".." in re.split(r"[/\\]", name):
        return "its name points outside the archive (..)"
    return None


def _check_names(path: Path, members: list[zipfile.ZipInfo]) -> None:
    for member in members:
        # zipfile cuts the file name that it shows at a NUL; `orig_filename` is not cut.
        if problem := name_problem(member.orig_filename):
            raise BadSource(f"{path}: {member.filename!r} is refused: {problem}")


def _check_directory_size(path: Path, limits: Limits) -> None:
    # The directory is read whole, so its size is checked first.
    with path.open("rb") as file:
        entries, size = _end_record(file)
    if entries > limits.max_members:
        raise BadSource(
            f"{path} contains {entries:,} files; an archive may contain {limits.max_members:,}"
        )
    if size > limits.max_members * _DIRECTORY_BYTES_A_MEMBER:
        raise BadSource(f"{path}: the directory of the archive is too large")


def _end_record(file: BinaryIO) -> tuple[int, int]:
    end = file.seek(0, 2)
    tail_start = max(0, end - _END_RECORD.size - _LARGEST_COMMENT)
    file.seek(tail_start)
    tail = file.read()
    at = tail.rfind(b"PK\5\6")
    if at < 0:
        raise zipfile.BadZipFile
    *_, entries, size, _offset, _comment = _END_RECORD.unpack_from(tail, at)
    locator = at - _END_64_LOCATOR.size
    if locator >= 0 and tail.startswith(b"PK\6\7", locator):
        _, _, record_at, _ = _END_64_LOCATOR.unpack_from(tail, locator)
        file.seek(record_at)
        record = _END_64_RECORD.unpack(file.read(_END_64_RECORD.size))
        return record[7], record[8]
    return entries, size


def _check_members(path: Path, members: list[zipfile.ZipInfo], limits: Limits) -> None:
    if sum(member.file_size for member in members) > limits.max_decompressed_bytes:
        raise BadSource(_too_large(path, limits))
    end = 0
    for member in sorted(members, key=lambda member: member.header_offset):
        if member.flag_bits & 1:
            raise BadSource(f"{path} is protected by a password: save it without one")
        if member.compress_type not in _KNOWN_METHODS:
            raise BadSource(
                f"{path}: {member.filename} is compressed with a method that is not supported"
            )
        if member.header_offset < end:
            raise BadSource(f"{path}: files of the archive overlap, as in a zip bomb")
        end = member.header_offset + _LOCAL_HEADER + member.compress_size
        packed = max(member.compress_size, 1)
        if member.file_size > HARMLESS_BYTES and member.file_size / packed > limits.max_ratio:
            raise BadSource(
                f"{path}: {member.filename} unpacks to {member.file_size / packed:,.0f} times its "
                f"size, which is more than {limits.max_ratio} and looks like a zip bomb"
            )


def _inflated_size(
    file: BinaryIO, member: zipfile.ZipInfo, most: int, look: Look | None = None
) -> int:
    """The real size of a file of the archive; unpacking stops past `most` bytes."""
    file.seek(member.header_offset)
    header = file.read(_LOCAL_HEADER)
    name_size, extra_size = struct.unpack_from("<2H", header, 26)
    file.seek(name_size + extra_size, 1)
    if member.compress_type == zipfile.ZIP_STORED:
        return member.compress_size
    inflate = zlib.decompressobj(-zlib.MAX_WBITS)
    size, left = 0, member.compress_size
    try:
        while left > 0 and size <= most and (block := file.read(min(_BLOCK, left))):
            left -= len(block)
            while block and size <= most:
                piece = inflate.decompress(block, _PIECE)
                size += len(piece)
                if look is not None:
                    look(piece)
                block = inflate.unconsumed_tail
    except zlib.error as error:
        raise BadSource(f"{file.name}: {member.filename} is damaged: {error}") from error
    return size


def _too_large(path: Path, limits: Limits) -> str:
    most = limits.max_decompressed_bytes / 1024**2
    return f"{path} unpacks to more than {most:,.0f} MiB, which is the limit"
