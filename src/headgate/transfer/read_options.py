"""The effective read options of a file, stated or detected."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from headgate.transfer.formats.csv import CsvSource
from headgate.transfer.formats.line_rows import PlainListSource
from headgate.transfer.limits import Limits
from headgate.transfer.sources import ReadOptions, format_of

TEXT = frozenset({"jsonl", "list"})
TABLES = frozenset({"csv", "tsv"})


def effective_options(
    path: Path, options: ReadOptions, limits: Limits | None = None
) -> dict[str, str]:
    """The format of a file and the options that affect its rows; BadSource as in reading.

    Options that do not apply to the format are left out.
    """
    name = format_of(path, options.format)
    if name in TABLES:
        delimiter = "\t" if name == "tsv" else None
        layout = CsvSource(path, options.delimiter or delimiter, options.encoding, limits).layout()
        return {"format": "csv", "delimiter": layout.delimiter, "encoding": layout.encoding.name}
    if name in TEXT:
        source = PlainListSource(path, options.encoding, limits)  # any format of lines
        return {"format": name, "encoding": source.encoding().name}
    if name == "xlsx":
        from headgate.transfer.formats.xlsx import XlsxSource  # noqa: PLC0415  it is slow to load

        reader = XlsxSource(path, options.sheet, limits).open()
        try:
            return {"format": name, "sheet": reader.sheet}
        finally:
            reader.close()
    return {"format": name}


def reads_alike(
    path: Path, one: Mapping[str, Any], other: Mapping[str, Any], limits: Limits | None = None
) -> bool:
    """True if a file gives the same rows with both sets of options."""
    first, second = (msgspec.convert(dict(each), ReadOptions) for each in (one, other))
    return effective_options(path, first, limits) == effective_options(path, second, limits)
