"""Tables for pipes and files: without colours, and as wide as the text.

Rich draws the same tables for a terminal. Importing it takes longer than most commands run.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TextIO

from headgate.core.words import counted

GAP = "  "


def is_terminal(stream: TextIO) -> bool:
    compatible = os.environ.get("TTY_COMPATIBLE", "")
    if compatible in {"0", "1"}:
        return compatible == "1"
    forced = os.environ.get("FORCE_COLOR")
    return stream.isatty() if forced is None else forced != ""


def table_lines(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Rows below headings; a column whose heading starts with `#` is aligned to the right."""
    names = [name.removeprefix("#") for name in columns]
    texts = [names, *([cell_text(value) for value in row] for row in rows)]
    return _aligned(texts, [name.startswith("#") for name in columns])


def requeued_in_words(count: int, *, dry_run: bool) -> str:
    return f"{'would set' if dry_run else 'set'} {counted(count, 'item')} back to PENDING"


def status_column(status: str) -> str:
    return f"#{status.replace('_', ' ')}"


def fact_lines(pairs: Mapping[str, object]) -> list[str]:
    """Lines with a name and a value each, without empty values."""
    texts = [
        [f"  {name}", printable(str(value))]
        for name, value in pairs.items()
        if value is not None and value != ""
    ]
    return _aligned(texts, [False, False])


def _aligned(rows: Sequence[Sequence[str]], to_the_right: Sequence[bool]) -> list[str]:
    cells = [[text.split("\n") for text in row] for row in rows]
    widths = [
        max((width_of(line) for lines in column for line in lines), default=0)
        for column in zip(*cells, strict=True)
    ]
    made = []
    for row in cells:
        for number in range(max(map(len, row))):
            parts = [
                _padded(lines[number] if number < len(lines) else "", width, right=right)
                for lines, width, right in zip(row, widths, to_the_right, strict=True)
            ]
            made.append(GAP.join(parts).rstrip())
    return made


def _padded(text: str, width: int, *, right: bool) -> str:
    text = text.rstrip() if right else text
    space = " " * (width - width_of(text))
    return space + text if right else text + space


def width_of(text: str) -> int:
    """The width of a text in columns; some characters take two, some none."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # noqa: PLC0415  its tables are only needed here

    return cell_len(text)


def cell_text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return printable(str(value))


def printable(text: str) -> str:
    """The text with control characters escaped, so that data cannot control the terminal."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char == "\n" else char.encode("unicode_escape").decode()
        for char in text
    )
