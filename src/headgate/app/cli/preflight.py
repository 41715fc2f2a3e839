"""Checks that find, before the first row runs, what would fail for every row."""

import asyncio
import difflib
from collections.abc import Sequence
from pathlib import Path

from headgate.app.ingest_options import command_encoding_message
from headgate.core.errors import UsageError, WrongEncoding
from headgate.ports.handler import HandlerSpec
from headgate.ports.source import Source
from headgate.transfer.inspection import FIRST_BYTES, FIRST_ROWS, misread_in
from headgate.transfer.limits import Limits
from headgate.transfer.sources import ReadOptions

SHOWN = 20


async def require_columns(spec: HandlerSpec, source: Source, file: Path) -> None:
    """UsageError if the handler needs a column that the first rows of the file do not have."""
    if not spec.needs:
        return
    columns = await asyncio.to_thread(_columns_of, source)
    for name in spec.needs:
        if columns and name not in columns:
            raise UsageError(
                f"{spec.name} needs a column {name!r}, which {file.name} does not have"
                f"{_instead(name, columns)}"
            )


async def wrong_encoding(
    file: Path, shown: str, options: ReadOptions, limits: Limits
) -> WrongEncoding | None:
    found = await asyncio.to_thread(misread_in, file, options, limits)
    return WrongEncoding(command_encoding_message(shown, found.fits), found.fits) if found else None


def _columns_of(source: Source) -> list[str]:
    """The columns in the header of a file and in its first rows."""
    reader = source.open()
    try:
        first = reader.take(FIRST_ROWS, FIRST_BYTES)
        names = [name for values in first.values for name in values]
        return list(dict.fromkeys([*reader.columns, *names]))
    finally:
        reader.close()


def _instead(name: str, columns: Sequence[str]) -> str:
    folded = {column.casefold(): column for column in columns}
    close = difflib.get_close_matches(name.casefold(), folded, 1)
    if close:
        return f"; did you mean {folded[close[0]]!r}?"
    more = ", …" if len(columns) > SHOWN else ""
    return f"; it has {', '.join(columns[:SHOWN])}{more}"
