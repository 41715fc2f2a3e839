"""The formats of rows: one record for each, from which every list of formats derives.

No reader or writer is imported here: a record names them as `module:name`.
"""

from collections.abc import Mapping
from enum import StrEnum
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import msgspec

from headgate.core.errors import UsageError


class Format(msgspec.Struct, frozen=True, kw_only=True):
    """All that the rest of the program knows about a format."""

    name: str
    """The value of `--format` and of the API's `format`."""
    label: str
    """Name in the web UI."""
    noun: str
    """Name in messages, with its article."""
    about: str
    """Description in the documentation."""
    endings: tuple[str, ...]
    """Endings of file names; the first one is advised."""
    reader: str
    """Class of the source; called with `path`, `limits` and the options in `options`."""
    options: tuple[str, ...] = ()
    """Fields of `ReadOptions` that the reader takes."""
    writer: str | None = None
    """Class of the writer; called with `path` and the options in `write_options`."""
    write_options: tuple[str, ...] = ()
    """Fields of `WriteOptions` that the writer takes."""
    defaults: Mapping[str, Any] = {}
    """Values of options that are not stated, for reading and writing."""
    equality: str | None = None
    """The `RowForm` that compares a written file with the store."""
    media_type: str | None = None
    """Content-Type of a written file."""
    content: tuple[str, ...] = ()
    """Types of `core.content_type` that files have; empty for text."""
    by_lines: bool = False
    """The rows are in the file's bytes in order; the format is also read from .gz."""
    extra: str = ""
    """Extra of the package that installs the libraries."""

    @property
    def is_streamed(self) -> bool:
        """True if the format can be written to standard output and to .gz."""
        return self.by_lines and self.writer is not None


IMAGES = "images"
_FORMATS = (
    Format(
        name="csv",
        label="CSV",
        noun="CSV",
        about="values with a delimiter; written with commas or `--out-delimiter`",
        endings=(".csv",),
        reader="csv:CsvSource",
        options=("delimiter", "encoding"),
        writer="csv_writer:CsvWriter",
        write_options=("formulas", "delimiter", "encoding"),
        equality="csv_writer:EQUALITY",
        media_type="text/csv; charset=utf-8",
        by_lines=True,
    ),
    Format(
        name="tsv",
        label="Tab-separated (tsv)",
        noun="TSV",
        about="values with tabs between them",
        endings=(".tsv", ".tab"),
        reader="csv:CsvSource",
        options=("delimiter", "encoding"),
        writer="csv_writer:CsvWriter",
        write_options=("formulas", "delimiter", "encoding"),
        defaults={"delimiter": "\t"},
        equality="csv_writer:EQUALITY",
        media_type="text/tab-separated-values; charset=utf-8",
        by_lines=True,
    ),
    Format(
        name="jsonl",
        label="JSON Lines",
        noun="JSONL",
        about="JSON Lines: one object in each line",
        endings=(".jsonl", ".ndjson"),
        reader="jsonl:JsonlSource",
        options=("encoding",),
        writer="jsonl:JsonlWriter",
        equality="jsonl:EQUALITY",
        media_type="application/x-ndjson",
        by_lines=True,
    ),
    Format(
        name="list",
        label="One value per line",
        noun="a plain list",
        about="a plain list: one name in each line",
        endings=(".txt",),
        reader="line_rows:PlainListSource",
        options=("encoding",),
        by_lines=True,
    ),
    Format(
        name="xlsx",
        label="Excel (xlsx)",
        noun="an Excel workbook",
        about="Excel workbooks; one sheet is read",
        endings=(".xlsx", ".xlsm"),
        reader="xlsx:XlsxSource",
        options=("sheet",),
        writer="xlsx:XlsxWriter",
        equality="xlsx:EQUALITY",
        media_type="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        content=("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",),
        extra="xlsx",
    ),
    Format(
        name="parquet",
        label="Parquet",
        noun="a Parquet file",
        about="Parquet: typed columns",
        endings=(".parquet", ".pq"),
        reader="parquet:ParquetSource",
        writer="parquet:ParquetWriter",
        equality="parquet:EQUALITY",
        media_type="application/vnd.apache.parquet",
        content=("application/vnd.apache.parquet",),
        extra="parquet",
    ),
    Format(
        name=IMAGES,
        label="Images",
        noun="a zip of images",
        about="images, one row each; a zip, a folder or a single file",
        endings=(".zip", ".png", ".jpg", ".jpeg", ".gif", ".webp", ".tif", ".tiff", ".bmp"),
        reader="images:image_source",
        content=(
            "application/zip",
            "image/png",
            "image/jpeg",
            "image/gif",
            "image/webp",
            "image/tiff",
            "image/bmp",
        ),
    ),
)
FORMATS: Mapping[str, Format] = {each.name: each for each in _FORMATS}
"""By name, in the order in which users see them."""
READABLE = tuple(FORMATS)
WRITABLE = tuple(name for name, each in FORMATS.items() if each.writer is not None)


class FormatName(StrEnum):
    vars().update({name.upper(): name for name in FORMATS})


class WrittenFormat(StrEnum):
    vars().update({name.upper(): name for name in WRITABLE})


BY_ENDING: Mapping[str, Format] = {
    ending: each for each in FORMATS.values() for ending in each.endings
}


def load(reference: str) -> Any:
    """The class or value that a record names as `module:name`; its module is imported now."""
    module, _, name = reference.partition(":")
    return getattr(import_module(f"headgate.transfer.formats.{module}"), name)


def need(module: str, extra: str) -> None:
    """Raise UsageError with the pip command if a library is missing."""
    if find_spec(module) is None:
        raise UsageError(f'this needs {module}: pip install "headgate[{extra}]"')
