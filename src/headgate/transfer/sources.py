"""Choose the reader or writer of a file by its name or its stated format."""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec

from headgate.core.errors import UsageError
from headgate.ports.source import BlobSink, RowForm, RowWriter, Source
from headgate.transfer.files import STDOUT, is_packed
from headgate.transfer.formats.cells import Formulas
from headgate.transfer.formats.registry import (
    BY_ENDING,
    FORMATS,
    IMAGES,
    READABLE,
    WRITABLE,
    Format,
    load,
)
from headgate.transfer.limits import Limits
from headgate.transfer.sniff import check_content
from headgate.transfer.wrappers import LimitedSource

STREAMED = tuple(each.name for each in FORMATS.values() if each.is_streamed)
"""Formats that can be written to standard output and to .gz."""
_ANY_SIZE = Limits(
    max_rows=2**62,
    max_columns=2**31,
    max_record_bytes=64 * 1024**2,
    max_cell_bytes=2**40,
    max_decompressed_bytes=2**40,
    max_ratio=2_000,
)
"""Limits for checking our own exports, whatever their size."""


class ReadOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Options for reading a file; None means that the file decides."""

    format: str | None = None
    """Name of a format; required if the name does not end in a known suffix."""
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


class FileSource(Source, Protocol):
    def effective_options(self) -> dict[str, str]:
        """The options that affect the rows, stated or detected; BadSource as in reading."""
        ...


def format_of(path: str | Path, stated: str | None = None) -> str:
    """The stated format of a file, else the format of its name; UsageError if neither is known."""
    if stated is None and Path(path).is_dir():
        return IMAGES
    found = _format(Path(path), stated, READABLE)
    if is_packed(Path(path)) and not found.by_lines:
        packed = [each.name for each in FORMATS.values() if each.by_lines]
        raise UsageError(f"{path}: only {_listed(packed)} can be read from .gz files")
    return found.name


def written_format_of(path: str | Path, stated: str | None = None) -> str:
    """The format to write a file in; UsageError if it is unknown or not writable."""
    found = _format(Path(path), stated, WRITABLE)
    if found.writer is None:
        raise UsageError(f"Headgate cannot write {found.name}; it writes {', '.join(WRITABLE)}")
    if is_packed(Path(path)) and not found.is_streamed:
        raise UsageError(f"{path}: only {_listed(STREAMED)} can be written as .gz files")
    if Path(path) == STDOUT and not found.is_streamed:
        raise UsageError(
            f"only {_listed(STREAMED)} can be written to standard output, not {found.name}"
        )
    return found.name


def _format(path: Path, stated: str | None, known: Sequence[str]) -> Format:
    if stated is not None:
        if stated not in FORMATS:
            raise UsageError(f"unknown format {stated!r}; known formats: {', '.join(known)}")
        return FORMATS[stated]
    ending = (path.with_suffix("") if is_packed(path) else path).suffix.lower()
    if ending in BY_ENDING:
        return BY_ENDING[ending]
    endings = [each for each, found in BY_ENDING.items() if found.name in known]
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
        is_ordered = FORMATS[format_of(path, stated)].by_lines and not is_packed(Path(path))
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
    options, limits, path = checked(options or ReadOptions()), limits or Limits(), Path(path)
    found = FORMATS[format_of(path, options.format)]
    source = _source(found, path, options, limits, sink)
    if not path.is_dir() or not found.content:
        check_content(path, found, options.encoding, limits.max_decompressed_bytes)
    return LimitedSource(source, limits)


def _source(
    found: Format, path: Path, options: ReadOptions, limits: Limits, sink: BlobSink | None = None
) -> FileSource:
    arguments = _arguments(options, found.options, found)
    if found.name == IMAGES:
        arguments["sink"] = sink
    reader: Callable[..., FileSource] = load(found.reader)
    return reader(path, limits=limits, **arguments)


def _arguments(
    options: ReadOptions | WriteOptions, names: Sequence[str], found: Format
) -> dict[str, Any]:
    """The options that are stated or have a default in this format."""
    stated = {name: getattr(options, name) for name in names}
    return {
        **found.defaults,
        **{name: value for name, value in stated.items() if value is not None},
    }


def open_images(
    files: Sequence[tuple[str, Path]], limits: Limits | None = None, sink: BlobSink | None = None
) -> Source:
    """A source over several files, each with the name that its owner gave it."""
    limits = limits or Limits()
    image_set = load("images:FileImageSet")(files, limits)
    return LimitedSource(load("images:ImagesSource")(image_set, sink), limits)


def checked(options: ReadOptions) -> ReadOptions:
    """The options in canonical form; UsageError for invalid ones."""
    if options.delimiter is None:
        return options
    return msgspec.structs.replace(options, delimiter=one_delimiter(options.delimiter))


def one_delimiter(text: str) -> str:
    if text in {"\\t", "tab"}:  # typed in a shell
        return "\t"
    if len(text) != 1 or text in '"\r\n':
        raise UsageError(f"a delimiter is a single character, and not a quote: {text!r}")
    return text


def open_writer(path: str | Path, options: WriteOptions | None = None) -> RowWriter:
    """A writer to a file that appears, or is replaced, when it is complete."""
    options = options or WriteOptions()
    found = FORMATS[written_format_of(path, options.format)]
    for name in ("delimiter", "encoding"):
        if getattr(options, name) is not None and name not in found.write_options:
            raise UsageError(f"--out-{name} is for CSV, and {path} is {found.name}: leave it out")
    if options.delimiter is not None:
        options = msgspec.structs.replace(options, delimiter=one_delimiter(options.delimiter))
    writer: Callable[..., RowWriter] = load(found.writer or "")
    return writer(Path(path), **_arguments(options, found.write_options, found))


def open_written(path: Path, stated: str | None = None) -> tuple[Sequence[Source], RowForm]:
    """Open a file that an export wrote: its parts in order, and how its rows are compared."""
    found = FORMATS[format_of(path, stated)]
    whole = open_source(path, ReadOptions(found.name), _ANY_SIZE)
    parts = _sheets(whole, path, found.name) if "sheet" in found.options else [whole]
    return parts, row_form(found.name)


def row_form(name: str) -> RowForm:
    equality = FORMATS[name].equality
    if equality is None:
        raise UsageError(f"Headgate does not write {name}; it compares {', '.join(WRITABLE)}")
    form: RowForm = load(equality)
    return form


def _sheets(whole: Source, path: Path, name: str) -> Sequence[Source]:
    reader = whole.open()
    sheets = reader.sheets
    reader.close()
    if len(sheets) < 2:
        return [whole]
    return [open_source(path, ReadOptions(name, sheet=sheet), _ANY_SIZE) for sheet in sheets]


def effective_options(
    path: Path, options: ReadOptions, limits: Limits | None = None
) -> dict[str, str]:
    """The format of a file and the options that affect its rows; BadSource as in reading.

    Options that do not apply to the format are left out.
    """
    found = FORMATS[format_of(path, options.format)]
    source = _source(found, path, options, limits or Limits())
    return {"format": found.name, **source.effective_options()}


def reads_alike(
    path: Path, one: Mapping[str, Any], other: Mapping[str, Any], limits: Limits | None = None
) -> bool:
    """True if a file gives the same rows with both sets of options."""
    first, second = (msgspec.convert(dict(each), ReadOptions) for each in (one, other))
    return effective_options(path, first, limits) == effective_options(path, second, limits)
