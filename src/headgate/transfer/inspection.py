"""Inspect a file before a job is made of it: its format, its first rows and its problems."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import Any

import msgspec

from headgate.core.errors import BadSource, WrongEncoding
from headgate.ports.source import BatchReader, RowBatch, Source
from headgate.transfer.formats.registry import FORMATS, IMAGES
from headgate.transfer.limits import Limits, TooManyBlanks
from headgate.transfer.sniff import Misread, misread
from headgate.transfer.sources import ReadOptions, format_of, open_source

FIRST_ROWS = 100
FIRST_BYTES = 1024 * 1024
FIRST_BLANK_BYTES = 64 * 1024
"""Bytes of blank lines that are skipped before the first row; after it, reading stops there."""
STEP_BYTES = 64 * 1024
"""Bytes between two checks of the time."""


class Inspection(msgspec.Struct, frozen=True):
    format: str
    columns: Sequence[str]
    rows: Sequence[Mapping[str, Any]]
    """The first rows."""
    problems: Mapping[int, str]
    """Reason by line number for each bad row."""
    notes: Sequence[str]
    sheets: Sequence[str]
    misread: Misread | None = None
    """Set if the text is not in the encoding that it was read in."""


def inspect(
    path: str | Path,
    options: ReadOptions | None = None,
    limits: Limits | None = None,
    rows: int = FIRST_ROWS,
) -> Inspection:
    options = options or ReadOptions()
    path = Path(path)
    name = format_of(path, options.format)
    if path.is_file() and path.stat().st_size == 0:
        raise BadSource(f"{path.name} is empty")
    limits = limits or Limits()
    limits = msgspec.structs.replace(
        limits,
        max_silence_s=min(limits.max_silence_s, limits.max_look_s),
        max_blank_bytes=min(limits.max_blank_bytes, FIRST_BLANK_BYTES),
    )
    wrong = misread_in(path, options, limits)
    until_s = monotonic() + limits.max_look_s
    try:
        found = inspect_source(open_source(path, options, limits), name, path.name, rows, until_s)
    except BadSource as error:
        if wrong is None:
            raise
        raise WrongEncoding(str(error), wrong.fits) from error
    return msgspec.structs.replace(found, misread=wrong)


def misread_in(path: Path, options: ReadOptions, limits: Limits | None = None) -> Misread | None:
    """Check a text file without a stated encoding; None if it is UTF-8."""
    name = format_of(path, options.format)
    if options.encoding is not None or "encoding" not in FORMATS[name].options:
        return None
    return misread(path, (limits or Limits()).max_decompressed_bytes)


def inspect_source(
    source: Source,
    format_name: str,
    shown: str,
    rows: int = FIRST_ROWS,
    until_s: float = float("inf"),
) -> Inspection:
    """Read the beginning of a source that messages call `shown`.

    No further rows are read once `monotonic()` has reached `until_s`.
    """
    reader = source.open()
    try:
        found = _first(reader, rows, until_s)
        inspection = Inspection(
            format=format_name,
            columns=reader.columns,
            rows=[values for batch in found for values in batch.values],
            problems={
                batch.lines[index]: why for batch in found for index, why in batch.problems.items()
            },
            notes=reader.notes,
            sheets=reader.sheets,
        )
    finally:
        reader.close()
    _check(inspection, shown)
    return inspection


def _first(reader: BatchReader, rows: int, until_s: float) -> list[RowBatch]:
    found: list[RowBatch] = []
    left, size = rows, 0
    while left > 0 and size < FIRST_BYTES:
        try:
            batch = reader.take(left, STEP_BYTES)
        except TooManyBlanks:
            if found:
                break
            raise
        if not batch.values:
            break
        found.append(batch)
        left -= len(batch.values)
        size += batch.size
        if monotonic() >= until_s:
            break
    return found


def _check(found: Inspection, shown: str) -> None:
    if found.format == IMAGES:
        if len(found.problems) == len(found.rows):
            raise BadSource(f"{shown} contains no image (PNG, JPEG, GIF, WebP, TIFF or BMP)")
    elif not found.columns and not found.rows:
        raise BadSource(f"{shown} is empty: it has neither a header nor rows")
    elif not found.rows:
        columns = ", ".join(found.columns[:10])
        raise BadSource(f"{shown} has a header ({columns}) but no rows under it")
