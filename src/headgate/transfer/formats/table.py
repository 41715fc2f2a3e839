"""Tables that a reading process opens for us: workbooks and Parquet files."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from headgate.core.errors import BadSource
from headgate.ports.source import RowBatch
from headgate.transfer.formats.child import ChildReader
from headgate.transfer.formats.frames import Ended, Head, Order, Rows
from headgate.transfer.position import Position, decode_position, encode_position

_decode = msgspec.json.Decoder(dict[str, Any]).decode


def open_table(
    order: Order, position: str, check: Callable[[], None] = lambda: None
) -> "TableReader":
    """Start a process that reads from a stored position on; `check` runs while it gets ready."""
    at = decode_position(position)
    child = ChildReader(msgspec.structs.replace(order, after_line=at.line))
    try:
        check()
        return TableReader(child, Path(order.path), at)
    except BaseException:
        child.close()
        raise


class TableReader:
    """Rows from a position on; their lines are the rows of the sheet or table."""

    def __init__(self, child: ChildReader, path: Path, at: Position) -> None:
        head = child.receive()
        if not isinstance(head, Head):
            raise BadSource(f"{path} was read in disorder")
        self.columns = head.columns
        self.notes = head.notes
        self.sheets = head.sheets
        self.sheet = head.sheet
        self._child = child
        self._row = at.row
        self._line = at.line
        self._frame = Rows((), "")
        self._texts: list[str] = []
        self._used = 0
        self._ended = False

    def close(self) -> None:
        """End the process."""
        self._child.close()

    def take(self, rows: int, max_bytes: int) -> RowBatch:
        """Further rows."""
        lines: list[int] = []
        texts: list[str] = []
        problems: dict[int, str] = {}
        size = 0
        while len(texts) < rows and size < max_bytes and self._more():
            start, stop = self._used, min(len(self._texts), self._used + rows - len(texts))
            problems |= {
                len(texts) + at - start: why
                for at, why in self._frame.problems.items()
                if start <= at < stop
            }
            lines += self._frame.lines[start:stop]
            texts += self._texts[start:stop]
            size += sum(map(len, self._texts[start:stop]))
            self._used = stop
        first = self._row + 1
        self._row += len(texts)
        self._line = lines[-1] if lines else self._line
        return RowBatch(
            first_row=first,
            lines=lines,
            values=list(map(_decode, texts)),
            texts=texts,
            problems=problems,
            position=encode_position(Position(line=self._line, row=self._row)),
            size=size,
        )

    def _more(self) -> bool:
        while self._used == len(self._texts) and not self._ended:
            message = self._child.receive()
            if isinstance(message, Rows):
                self._frame, self._used = message, 0
                self._texts = message.texts.split("\n")
            else:
                self._ended = isinstance(message, Ended)
        return self._used < len(self._texts)
