"""Write CSV: rows as lines, in any encoding, with formulas made harmless."""

import codecs
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from headgate.core.errors import UsageError
from headgate.transfer.files import target_of
from headgate.transfer.formats.cells import (
    Formulas,
    Neutralizer,
    cell_text,
    csv_cells,
    csv_line,
    header_line,
    neutral,
)
from headgate.transfer.formats.equality import CellsForm
from headgate.transfer.lines import known_name


class CsvWriter:
    """Writes rows below a header; lines end with LF."""

    def __init__(
        self,
        path: Path,
        delimiter: str = ",",
        formulas: Formulas = Formulas.NEUTRAL,
        encoding: str = "utf-8",
    ) -> None:
        self._target = target_of(path)
        self._formulas = formulas
        self._delimiter = delimiter
        self._columns: Sequence[str] = ()
        self._neutral = Neutralizer()
        self._text = Encoder(encoding)

    @property
    def notes(self) -> tuple[str, ...]:
        return (*self._neutral.notes, *self._text.notes)

    def open(self, columns: Sequence[str], rows: int = 0) -> None:  # noqa: ARG002 (any number fits)
        self._columns = columns
        self._target.open()
        cells = csv_cells(columns, self._formulas, self._neutral)
        self._target.write(self._text(header_line(cells, self._delimiter)))

    def write(self, rows: Sequence[Mapping[str, Any]], lines: bytes = b"") -> None:  # noqa: ARG002
        """Append rows; a missing value is an empty cell."""
        columns = self._columns
        self._put(map(row.get, columns) for row in rows)

    def commit(self, record: Mapping[str, Any]) -> None:
        self._target.commit(record)

    def abandon(self) -> None:
        self._target.abandon()

    def _put(self, rows: Iterable[Iterable[Any]]) -> None:
        delimiter, formulas, neutral = self._delimiter, self._formulas, self._neutral
        lines = [csv_line(csv_cells(row, formulas, neutral), delimiter) for row in rows]
        self._target.write(self._text("".join(lines)))


class Encoder:
    """Encodes pieces of one text; characters unknown to the encoding become question marks."""

    def __init__(self, name: str = "utf-8") -> None:
        known = known_name(name)
        if known is None:
            raise UsageError(f"{name[:100]!r} is not the name of a text encoding")
        self._name = known
        # A byte order mark belongs only before the first piece.
        self._encoder = codecs.getincrementalencoder(name)()
        self._replaced = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """The number of replaced characters, in words."""
        if not self._replaced:
            return ()
        characters = "character is" if self._replaced == 1 else "characters are"
        note = (
            f"{self._replaced:,} {characters} not known to {self._name} and written as `?`;"
            " utf-8-sig can write all of them"
        )
        return (note,)

    def __call__(self, text: str) -> bytes:
        try:
            return self._encoder.encode(text)
        except UnicodeEncodeError:
            return self._encoder.encode("".join(map(self._known, text)))

    def _known(self, character: str) -> str:
        try:
            character.encode(self._name)
        except UnicodeEncodeError:
            self._replaced += 1
            return "?"
        return character


def same_in_csv(value: Any, cell: Any) -> bool:
    """CSV has only text, with an apostrophe before text that a spreadsheet would run."""
    text = cell_text(value)
    return bool(cell in (text, neutral(text)))


EQUALITY = CellsForm(same_in_csv, lambda columns: [columns, csv_cells(columns, Formulas.NEUTRAL)])
