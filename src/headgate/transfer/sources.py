"""Choose the reader or writer of a file by its name or its stated format."""

from collections.abc import Callable, Collection, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec

from headgate.core.errors import UsageError
from headgate.ports.source import BlobSink, RowWriter, Source
from headgate.transfer.formats.cells import Formulas
from headgate.transfer.limited import LimitedSource
from headgate.transfer.limits import Limits
from headgate.transfer.places.gzip import is_packed
from headgate.transfer.places.target import STDOUT
from headgate.transfer.sniff import check_content, is_zip


class ReadOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Options for reading a file; None means that the file decides."""

    format: str | None = None
    """One of `READABLE`; required if the name does not end in a known suffix."""
    delimiter: str | None = None
    encoding: str | None = None
    """Encoding of files without a byte order mark; default UTF-8."""
    sheet: str | None = None
    """Sheet of a workbook; default the first with rows."""


class WriteOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    format: str | None = None
    formulas: Formulas = Formulas.NEUTRAL
    delimiter: str | None = None
    """Delimiter of CSV; default comma."""
    encoding: str | None = None
    """Encoding of CSV; default UTF-8 without a byte order mark."""


def _csv_writer(path: Path, delimiter: str, options: WriteOptions) -> RowWriter:
    delimiter = options.delimiter or delimiter
    encoding = options.encoding or "utf-8"
    writer: RowWriter = _module("csv").CsvWriter(path, delimiter, options.formulas, encoding)
    return writer


def _module(name: str) -> Any:
    """The module of a format, imported on first use."""
    return import_module(f"headgate.transfer.formats.{name}")


_READERS: dict[str, Callable[[Path, ReadOptions, Limits], Source]] = {
    "csv": lambda path, options, limits: _module("csv").CsvSource(
        path, options.delimiter, options.encoding, limits
    ),
    "tsv": lambda path, options, limits: _module("csv").CsvSource(
        path, options.delimiter or "\t", options.encoding, limits
    ),
    "jsonl": lambda path, options, limits: _module("jsonl").JsonlSource(
        path, options.encoding, limits
    ),
    "list": lambda path, options, limits: _module("line_rows").PlainListSource(
        path, options.encoding, limits
    ),
    "xlsx": lambda path, options, limits: _module("xlsx").XlsxSource(path, options.sheet, limits),
    "parquet": lambda path, _options, limits: _module("parquet").ParquetSource(path, limits),
}
_WRITERS: dict[str, Callable[[Path, WriteOptions], RowWriter]] = {
    "csv": lambda path, options: _csv_writer(path, ",", options),
    "tsv": lambda path, options: _csv_writer(path, "\t", options),
    "jsonl": lambda path, _options: _module("jsonl").JsonlWriter(path),
    "xlsx": lambda path, _options: _module("xlsx").XlsxWriter(path),
    "parquet": lambda path, _options: _module("parquet").ParquetWriter(path),
}
BY_LINES = frozenset({"csv", "tsv", "jsonl", "list"})
"""Formats whose rows are in the file's bytes in order; they are also read from .gz."""
STREAMED = ("csv", "tsv", "jsonl")
"""Formats that can be written to standard output and to .gz."""
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
    """The stated format of a file, else the format of its name; UsageError if neither is known."""
    if stated is None and Path(path).is_dir():
        return IMAGES
    name = _format(Path(path), stated, READABLE)
    if is_packed(Path(path)) and name not in BY_LINES:
        raise UsageError(f"{path}: only {_listed(BY_LINES)} can be read from .gz files")
    return name


def written_format_of(path: str | Path, stated: str | None = None) -> str:
    """The format to write a file in; UsageError if it is unknown or not writable."""
    name = _format(Path(path), stated, WRITABLE)
    if name not in _WRITERS:
        raise UsageError(f"Headgate cannot write {name}; it writes {', '.join(WRITABLE)}")
    if is_packed(Path(path)) and name not in STREAMED:
        raise UsageError(f"{path}: only {_listed(STREAMED)} can be written as .gz files")
    if Path(path) == STDOUT and name not in STREAMED:
        raise UsageError(f"only {_listed(STREAMED)} can be written to standard output, not {name}")
    return name


def _format(path: Path, stated: str | None, known: Sequence[str]) -> str:
    if stated is not None:
        if stated not in READABLE:
            raise UsageError(f"unknown format {stated!r}; known formats: {', '.join(known)}")
        return stated
    ending = (path.with_suffix("") if is_packed(path) else path).suffix.lower()
    if ending in _ENDINGS:
        return _ENDINGS[ending]
    endings = [each for each, name in _ENDINGS.items() if name in known]
    raise UsageError(
        f"cannot tell the format of {path}: its name should end in {', '.join(endings)};"
        f" otherwise state the format ({', '.join(known)})",
    )


def _listed(names: Collection[str]) -> str:
    *others, last = sorted(names)
    return f"{', '.join(others)} and {last}"


def bytes_in(path: str | Path, stated: str | None = None) -> int:
    """Size in bytes of a file whose rows are in its bytes in order; 0 for any other."""
    try:
        is_ordered = format_of(path, stated) in BY_LINES and not is_packed(Path(path))
        return Path(path).stat().st_size if is_ordered else 0
    except (OSError, UsageError):
        return 0


def open_source(
    path: str | Path,
    options: ReadOptions | None = None,
    limits: Limits | None = None,
    sink: BlobSink | None = None,
) -> Source:
    """A source of rows over an existing file (the caller spools standard input).

    `sink` stores the bytes of images; without one they are only examined.
    """
    options, limits = checked(options or ReadOptions()), limits or Limits()
    path = Path(path)
    name = format_of(path, options.format)
    if name == IMAGES:
        return LimitedSource(_module("images").ImagesSource(_image_set(path, limits), sink), limits)
    source = _READERS[name](path, options, limits)
    check_content(path, name, options.encoding, limits.max_decompressed_bytes)
    return LimitedSource(source, limits)


def open_images(
    files: Sequence[tuple[str, Path]], limits: Limits | None = None, sink: BlobSink | None = None
) -> Source:
    """A source over several files, each with the name that its owner gave it."""
    limits = limits or Limits()
    image_set = _module("image_files").FileImageSet(files, limits)
    return LimitedSource(_module("images").ImagesSource(image_set, sink), limits)


def _image_set(path: Path, limits: Limits) -> Any:
    files = _module("image_files")
    if path.is_dir():
        return files.folder_images(path, limits)
    check_content(path, IMAGES)
    if is_zip(path):
        return files.ZipImageSet(path, limits)
    return files.FileImageSet([(path.name, path)], limits)


def checked(options: ReadOptions) -> ReadOptions:
    """The options in canonical form; UsageError for invalid ones."""
    if options.delimiter is None:
        return options
    return msgspec.structs.replace(options, delimiter=one_delimiter(options.delimiter))


def one_delimiter(text: str) -> str:
    """The delimiter character that a text stands for."""
    if text in {"\\t", "tab"}:  # typed in a shell
        return "\t"
    if len(text) != 1 or text in '"\r\n':
        raise UsageError(f"a delimiter is a single character, and not a quote: {text!r}")
    return text


def open_writer(path: str | Path, options: WriteOptions | None = None) -> RowWriter:
    """A writer to a file that appears, or is replaced, when it is complete."""
    options = options or WriteOptions()
    name = written_format_of(path, options.format)
    stated = {"--out-delimiter": options.delimiter, "--out-encoding": options.encoding}
    for option, value in stated.items():
        if value is not None and name not in {"csv", "tsv"}:
            raise UsageError(f"{option} is for CSV, and {path} is {name}: leave it out")
    if options.delimiter is not None:
        options = msgspec.structs.replace(options, delimiter=one_delimiter(options.delimiter))
    return _WRITERS[name](Path(path), options)
