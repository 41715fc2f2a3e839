"""The head of a table: which delimiter, and which names."""

import re
from collections.abc import Sequence
from pathlib import Path

from headgate.core.errors import BadSource

EXTRA = "_extra"
"""Values beyond the last column of a bad row are kept as a list under this name."""

DELIMITERS = ",;\t|"
"""What is looked for; of equals, the first."""

_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_SEPARATOR_LINE = re.compile(r"sep=(.)\r?\n?", re.IGNORECASE)


def find_delimiter(text: str) -> str:
    """The delimiter that stands most often in the first line with text, outside quotes."""
    bare = _QUOTED.sub("quoted", text)
    line = next((line for line in bare.splitlines() if line.strip()), "")
    return max(DELIMITERS, key=line.count)


def stated_delimiter(line: str) -> str | None:
    """The delimiter that a spreadsheet put in a line of its own before the header (`sep=;`)."""
    stated = _SEPARATOR_LINE.fullmatch(line)
    return stated[1] if stated else None


def column_names(header: Sequence[str]) -> tuple[str, ...]:
    """Names that are all there and all different.

    A column without a name is called by its place (`column_3`); a name that came before gets the
    next free number (`price`, `price_2`, `price_3`). Blanks around names are dropped.
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
    """The names of the columns of a file; BadSource if there are too many."""
    if len(header) > most:
        raise BadSource(
            f"{path} has {len(header):,} columns; at most {most:,} are read. Is the delimiter "
            "right, and does each row stand in a line of its own?"
        )
    return column_names(header)


def extra_name(columns: Sequence[str]) -> str:
    """`_extra`, with more underscores in front if a column is called so."""
    name = EXTRA
    while name in columns:
        name = f"_{name}"
    return name
