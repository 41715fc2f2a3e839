"""Which format reads or writes a file: its name tells."""

from collections.abc import Callable
from pathlib import Path

import msgspec

from headgate.core.errors import UsageError
from headgate.ports.source import RowWriter, Source
from headgate.transfer.formats.cells import Formulas
from headgate.transfer.formats.csv import CsvSource, CsvWriter
from headgate.transfer.formats.jsonl import JsonlSource, JsonlWriter
from headgate.transfer.places.local import open_file


class ReadOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How to read a file; None lets the file tell."""

    format: str | None = None
    """`csv`, `tsv` or `jsonl`; needed where the name does not end in one of them."""
    delimiter: str | None = None
    encoding: str | None = None
    """For files without a byte order mark; UTF-8 unless stated."""


class WriteOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How to write a file."""

    format: str | None = None
    formulas: Formulas = Formulas.NEUTRAL


_READERS: dict[str, Callable[[Path, ReadOptions], Source]] = {
    "csv": lambda path, options: CsvSource(path, options.delimiter, options.encoding),
    "tsv": lambda path, options: CsvSource(path, options.delimiter or "\t", options.encoding),
    "jsonl": lambda path, options: JsonlSource(path, options.encoding),
}
_WRITERS: dict[str, Callable[[Path, WriteOptions], RowWriter]] = {
    "csv": lambda path, options: CsvWriter(path, ",", options.formulas),
    "tsv": lambda path, options: CsvWriter(path, "\t", options.formulas),
    "jsonl": lambda path, _options: JsonlWriter(path),
}
FORMATS = tuple(_READERS)
_ENDINGS = {".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl"}


def format_of(path: str | Path, stated: str | None = None) -> str:
    """The format of a file by what was stated, else by its name; UsageError if neither tells."""
    if stated is not None:
        if stated not in FORMATS:
            raise UsageError(f"unknown format {stated!r}; known are {', '.join(FORMATS)}")
        return stated
    ending = Path(path).suffix.lower()
    if ending not in _ENDINGS:
        raise UsageError(
            f"cannot tell the format of {path}: its name should end in {', '.join(_ENDINGS)},"
            f" or the format be stated ({', '.join(FORMATS)})",
        )
    return _ENDINGS[ending]


def open_source(path: str | Path, options: ReadOptions | None = None) -> Source:
    """A source of rows over a file that is there (standard input is spooled by the caller)."""
    options = _checked(options or ReadOptions())
    source = _READERS[format_of(path, options.format)](Path(path), options)
    open_file(Path(path)).close()
    return source


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
    return _WRITERS[format_of(path, options.format)](Path(path), options)
