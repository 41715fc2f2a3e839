"""Inspect the input of a download before anything is stored or requested."""

import re
from pathlib import Path

from headgate.core.errors import BadSource
from headgate.handlers.download.identifier import (
    COLUMNS,
    BadIdentifier,
    IdentifierKind,
    identifier_of,
    is_identifier_column,
)
from headgate.ports.source import Source

SAMPLE_ROWS = 100
SAMPLE_BYTES = 1024 * 1024
HEAD_BYTES = 65_536


def kinds_in(source: Source, name: str) -> frozenset[IdentifierKind]:
    """Kinds of identifiers in the first rows; BadSource if no column can hold one."""
    reader = source.open()
    try:
        rows = reader.take(SAMPLE_ROWS, SAMPLE_BYTES).values
        columns = reader.columns
    finally:
        reader.close()
    if rows and not any(map(is_identifier_column, columns)):
        raise BadSource(
            f"{name} has none of the columns {', '.join(COLUMNS)}; it has {', '.join(columns)}."
            " Rename the column with the identifiers to one of them"
        )
    kinds = set()
    for row in rows:
        try:
            kinds.add(identifier_of(row).kind)
        except BadIdentifier:
            continue
    return frozenset(kinds)


def format_of_head(path: Path) -> str:
    """Format of standard input by its first line: JSON Lines, a table, or a plain list."""
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES).decode(errors="replace").lstrip("\ufeff \t\r\n")
    first = head.partition("\n")[0]
    if first.startswith("{"):
        return "jsonl"
    names = [] if first.startswith("#") else re.split(r"[,;\t|]", first)
    return "csv" if any(is_identifier_column(name.strip(' "\r')) for name in names) else "list"
