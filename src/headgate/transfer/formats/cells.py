"""The text of a value in a cell, in a form that a spreadsheet does not run."""

import re
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Any

import msgspec

from headgate.core.words import agreeing, counted


class Formulas(StrEnum):
    NEUTRAL = "neutral"
    """Put an apostrophe in front, which spreadsheets take for "this is text"."""
    RAW = "raw"
    """Write it unchanged."""


_SIGNS = "=+@＝＋－＠﹦﹢﹣﹫-"  # noqa: RUF001  spreadsheets treat them alike
"""First characters of a formula; spreadsheets treat the wide forms like the narrow ones."""
_SKIPPED = (
    (0x0000, 0x0020), (0x007F, 0x00A0), (0x00AD, 0x00AD), (0x034F, 0x034F), (0x0600, 0x0605),
    (0x061C, 0x061C), (0x06DD, 0x06DD), (0x070F, 0x070F), (0x0890, 0x0891), (0x08E2, 0x08E2),
    (0x115F, 0x1160), (0x1680, 0x1680), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x2000, 0x200F),
    (0x2028, 0x202F), (0x205F, 0x206F), (0x2800, 0x2800), (0x3000, 0x3000), (0x3164, 0x3164),
    (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFB), (0x110BD, 0x110BD),
    (0x110CD, 0x110CD), (0x13430, 0x1345F), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A),
    (0xE0001, 0xE0001), (0xE0020, 0xE007F), (0xE0100, 0xE01EF),
)  # fmt: skip
"""Blanks, control characters and characters without width. Spreadsheets, and programs that
clean a file for one, may drop them, so that the formula comes first. Which ones they
drop differs by version and by import option, so all of them count."""
_STARTERS = frozenset(_SIGNS).union(*(map(chr, range(a, b + 1)) for a, b in _SKIPPED))
_SKIPPED_SET = "".join(f"{chr(a)}-{chr(b)}" for a, b in _SKIPPED)
# A cell that begins with a tab or a carriage return is not safe whatever follows.
_FORMULA = re.compile(rf"[\t\r]|[{_SKIPPED_SET}]*+[{_SIGNS}]")
_NUMBER = re.compile(r"[ \u00a0]*+[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?")
_ANY_DELIMITER = re.compile(r'["\r\n,;\t|]')
_encode = msgspec.json.Encoder().encode


def cell_text(value: object) -> str:
    """Text unchanged, None as "", everything else as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else _encode(value).decode()


def neutral(text: str) -> str:
    """The text with an apostrophe in front if a spreadsheet would run it; plain numbers stay."""
    if _FORMULA.match(text) is None or _NUMBER.fullmatch(text):
        return text
    return f"'{text}"


class Neutralizer:
    def __init__(self) -> None:
        self.changed = 0

    @property
    def notes(self) -> tuple[str, ...]:
        if not self.changed:
            return ()
        looks, them = agreeing(self.changed, "looks", "look"), agreeing(self.changed, "it", "them")
        note = (
            f"{counted(self.changed, 'cell')} {looks} like a formula and got an apostrophe in"
            f" front, so that a spreadsheet does not run {them}; `--formulas raw` writes such"
            " cells unchanged"
        )
        return (note,)

    def __call__(self, text: str) -> str:
        harmless = neutral(text)
        if harmless is not text:
            self.changed += 1
        return harmless


def csv_cells(
    values: Iterable[Any], formulas: Formulas, neutral: Callable[[str], str] = neutral
) -> list[str]:
    if formulas is Formulas.RAW:
        return [value if type(value) is str else cell_text(value) for value in values]
    starters = _STARTERS
    return [
        (neutral(value) if value[:1] in starters else value)
        if type(value) is str
        else ("" if value is None else neutral(cell_text(value)))
        for value in values
    ]


def csv_line(cells: Sequence[str], delimiter: str) -> str:
    """A row as a line, quoted where needed; twice as fast as csv.writer."""
    line = delimiter.join(cells)
    if '"' in line or "\n" in line or "\r" in line:
        awkward = _awkward(delimiter).search
        line = delimiter.join([_quoted(cell) if awkward(cell) else cell for cell in cells])
    elif line.count(delimiter) >= len(cells):
        line = delimiter.join([f'"{cell}"' if delimiter in cell else cell for cell in cells])
    # An empty line would not count as a row.
    return f"{line}\n" if line else '""\n'


@lru_cache(maxsize=8)
def _awkward(delimiter: str) -> re.Pattern[str]:
    return re.compile(f'["\\r\\n{re.escape(delimiter)}]')


def header_line(names: Sequence[str], delimiter: str) -> str:
    """The first line. A name with any common delimiter is quoted, for readers that guess it."""
    cells = [
        _quoted(name) if _ANY_DELIMITER.search(name) or delimiter in name else name
        for name in names
    ]
    return f"{delimiter.join(cells)}\n"


def _quoted(cell: str) -> str:
    doubled = cell.replace('"', '""')
    return f'"{doubled}"'
