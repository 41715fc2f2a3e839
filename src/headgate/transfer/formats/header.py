"""The header of a table: its delimiter and its column names."""

import re
from collections.abc import Sequence
from pathlib import Path

from headgate.core.errors import BadSource

EXTRA = "_extra"
"""Column that holds a bad row's values beyond the last column, as a list."""

DELIMITERS = ",;\t|"
"""Delimiters that are tried; the first one wins a tie."""

_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_SEPARATOR_LINE = re.compile(r"sep=(.)\r?\n?", re.IGNORECASE)


def find_delimiter(text: str) -> str:
    """The delimiter that is most frequent in the first non-blank line, outside quotes."""
    bare = _QUOTED.sub("quoted", text)
    line = next((line for line in bare.splitlines() if line.strip()), "")
    return max(DELIMITERS, key=line.count)


def stated_delimiter(line: str) -> str | None:
    """The delimiter from a line before the header (`sep=;`), as spreadsheets write it."""
    stated = _SEPARATOR_LINE.fullmatch(line)
    return stated[1] if stated else None


def column_names(header: Sequence[str]) -> tuple[str, ...]:
    """Column names without gaps and without duplicates.

    A column without a name is named after its place (`column_3`); a duplicate gets the next
    free number (`price`, `price_2`, `price_3`). Blanks around names are dropped.
    """
    given = [name.strip() or f"column_{place}" for place, name in enumerate(header, 1)]
    taken = set(given)
    used: set[str] = set()
    names = []
    for wanted in given:
        name, number = wanted, 2
        while name in used or (name != wanted and name in taken):
            name = f"{wanted}_{number}"
            number += 1
        used.add(name)
        names.append(name)
    return tuple(names)


def checked_names(header: Sequence[str], path: str | Path, most: int) -> tuple[str, ...]:
    """The column names of a file; raises BadSource if there are too many."""
    if len(header) > most:
        raise BadSource(
            f"{path} has {len(header):,} columns; at most {most:,} are read. Check the delimiter, "
            "and that each row has a line of its own."
        )
    return column_names(header)


def extra_name(columns: Sequence[str]) -> str:
    """`_extra`, with more underscores in front if a column has that name."""
    name = EXTRA
    while name in columns:
        name = f"_{name}"
    return name
