"""Which format reads or writes a file: its name tells."""

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from headgate.core.errors import UsageError
from headgate.ports.source import BlobSink, RowWriter, Source
from headgate.transfer.formats.cells import Formulas
from headgate.transfer.formats.csv import CsvSource, CsvWriter
from headgate.transfer.formats.image_files import Album, FileAlbum, ZipAlbum, folder_album
from headgate.transfer.formats.images import ImagesSource
from headgate.transfer.formats.jsonl import JsonlSource, JsonlWriter
from headgate.transfer.formats.listing import ListSource
from headgate.transfer.formats.parquet import ParquetSource, ParquetWriter
from headgate.transfer.formats.xlsx import XlsxSource, XlsxWriter
from headgate.transfer.limited import LimitedSource
from headgate.transfer.limits import Limits
from headgate.transfer.sniff import check_content, is_zip


class ReadOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How to read a file; None lets the file tell."""

    format: str | None = None
    """One of `READABLE`; needed where the name does not end in one of them."""
    delimiter: str | None = None
    encoding: str | None = None
    """For files without a byte order mark; UTF-8 unless stated."""
    sheet: str | None = None
    """Of a workbook; the first that has rows unless stated."""


class WriteOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How to write a file."""

    format: str | None = None
    formulas: Formulas = Formulas.NEUTRAL


_READERS: dict[str, Callable[[Path, ReadOptions, Limits], Source]] = {
    "csv": lambda path, options, limits: CsvSource(
        path, options.delimiter, options.encoding, limits
    ),
    "tsv": lambda path, options, limits: CsvSource(
        path, options.delimiter or "\t", options.encoding, limits
    ),
    "jsonl": lambda path, options, limits: JsonlSource(path, options.encoding, limits),
    "list": lambda path, options, limits: ListSource(path, options.encoding, limits),
    "xlsx": lambda path, options, limits: XlsxSource(path, options.sheet, limits),
    "parquet": lambda path, _options, limits: ParquetSource(path, limits),
}
_WRITERS: dict[str, Callable[[Path, WriteOptions], RowWriter]] = {
    "csv": lambda path, options: CsvWriter(path, ",", options.formulas),
    "tsv": lambda path, options: CsvWriter(path, "\t", options.formulas),
    "jsonl": lambda path, _options: JsonlWriter(path),
    "xlsx": lambda path, _options: XlsxWriter(path),
    "parquet": lambda path, _options: ParquetWriter(path),
}
IMAGES = "images"
READABLE = (*_READERS, IMAGES)
WRITABLE = tuple(_WRITERS)
_ENDINGS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".txt": "list",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".zip": IMAGES,
    **dict.fromkeys((".png", ".jpg", ".jpeg", ".gif", ".webp", ".tif", ".tiff", ".bmp"), IMAGES),
}


def format_of(path: str | Path, stated: str | None = None) -> str:
    """The format of a file by what was stated, else by its name; UsageError if neither tells."""
    if stated is not None:
        if stated not in READABLE:
            raise UsageError(f"unknown format {stated!r}; known are {', '.join(READABLE)}")
        return stated
    if Path(path).is_dir():
        return IMAGES
    ending = Path(path).suffix.lower()
    if ending not in _ENDINGS:
        raise UsageError(
            f"cannot tell the format of {path}: its name should end in {', '.join(_ENDINGS)},"
            f" or the format be stated ({', '.join(READABLE)})",
        )
    return _ENDINGS[ending]


def open_source(
    path: str | Path,
    options: ReadOptions | None = None,
    limits: Limits | None = None,
    sink: BlobSink | None = None,
) -> Source:
    """A source of rows over a file that is there (standard input is spooled by the caller).

    `sink` keeps the bytes of images; without one they are looked at and left.
    """
    options, limits = _checked(options or ReadOptions()), limits or Limits()
    path = Path(path)
    name = format_of(path, options.format)
    if name == IMAGES:
        return LimitedSource(ImagesSource(_album(path, limits), sink), limits)
    source = _READERS[name](path, options, limits)
    check_content(path, name, options.encoding)
    return LimitedSource(source, limits)


def open_images(
    files: Sequence[tuple[str, Path]], limits: Limits | None = None, sink: BlobSink | None = None
) -> Source:
    """A source over several files, each with the name that its owner gave it."""
    limits = limits or Limits()
    return LimitedSource(ImagesSource(FileAlbum(files, limits), sink), limits)


def _album(path: Path, limits: Limits) -> Album:
    if path.is_dir():
        return folder_album(path, limits)
    check_content(path, IMAGES)
    if is_zip(path):
        return ZipAlbum(path, limits)
    return FileAlbum([(path.name, path)], limits)


def _checked(options: ReadOptions) -> ReadOptions:
    if options.delimiter in {"\\t", "tab"}:  # as people type it in a shell
        return msgspec.structs.replace(options, delimiter="\t")
    if options.delimiter is not None and (
        len(options.delimiter) != 1 or options.delimiter in '"\r\n'
    ):
        raise UsageError(f"a delimiter is one character, and no quote: {options.delimiter!r}")
    return options


def open_writer(path: str | Path, options: WriteOptions | None = None) -> RowWriter:
    """A writer to a file that appears, or is replaced, when it is complete."""
    options = options or WriteOptions()
    name = format_of(path, options.format)
    if name not in _WRITERS:
        raise UsageError(f"{name} is not written; write {', '.join(WRITABLE)}")
    return _WRITERS[name](Path(path), options)
