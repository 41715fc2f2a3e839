"""The output of a command: data on standard output, messages on standard error."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, TextIO

import msgspec

from headgate.app.cli.render.tables import (
    cell_text,
    fact_lines,
    is_terminal,
    printable,
    table_lines,
)
from headgate.app.streams import LOST
from headgate.core.status import ITEM_DISPLAY, JOB_DISPLAY

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Output", "printable"]

UNBOUNDED = 10_000
"""Width in columns when stdout is not a terminal: a pipe must get the whole text."""


class Output:
    """The two streams of a command. Rich is imported when a terminal gets its first line."""

    def __init__(self, *, quiet: bool = False) -> None:
        self.quiet = quiet
        self.as_json = False
        """Write messages as lines of JSON, like the log."""

    @cached_property
    def stderr(self) -> "Console":
        from headgate.app.cli.console import console  # noqa: PLC0415  see the class

        return console(stderr=True)

    @cached_property
    def _out(self) -> "Console":
        from headgate.app.cli.console import console  # noqa: PLC0415  see the class

        piped = None if sys.stdout.isatty() else UNBOUNDED
        return console(width=piped)

    @property
    def live(self) -> bool:
        shown = not self.quiet and not self.as_json and is_terminal(sys.stderr)
        return shown and not self.stderr.is_dumb_terminal

    def say(self, text: str, style: str = "") -> None:
        """Print a message, unless `--quiet` was given."""
        if not self.quiet:
            self._message(text, style)

    def warn(self, text: str) -> None:
        """Print a warning, also with `--quiet`."""
        self._message(text, "yellow", "warning")

    def fail(self, text: str) -> None:
        """Print why the command failed and what to do, also with `--quiet`."""
        self._message(text, "red", "error")

    def line(self, text: str, style: str = "") -> None:
        if not is_terminal(sys.stdout):
            _write(sys.stdout, [printable(text)])
            return
        from rich.text import Text  # noqa: PLC0415  see the class

        self._out.print(Text(printable(text), style=style), soft_wrap=True)

    def json(self, value: Any) -> None:
        _write(sys.stdout, [msgspec.json.encode(value).decode()])

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Print a table; a column whose heading starts with `#` is aligned to the right."""
        if not is_terminal(sys.stdout):
            _write(sys.stdout, table_lines(columns, rows))
            return
        from rich.table import Table  # noqa: PLC0415  see the class
        from rich.text import Text  # noqa: PLC0415  see the class

        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
        for name in columns:
            number = name.startswith("#")
            # On a narrow terminal, Rich shrinks the widest columns that may wrap, so numbers
            # keep their width. Cells do not wrap: they end in an ellipsis.
            table.add_column(
                name.removeprefix("#"), justify="right" if number else "left", no_wrap=number
            )
        for row in rows:
            texts = [cell_text(value) for value in row]
            table.add_row(
                *(
                    Text(text, style=STYLES.get(text, ""), no_wrap=True, overflow="ellipsis")
                    for text in texts
                )
            )
        self._out.print(table)

    def facts(self, pairs: Mapping[str, object]) -> None:
        """Print one name and value per line, without empty values."""
        if not is_terminal(sys.stdout):
            _write(sys.stdout, fact_lines(pairs))
            return
        from rich.table import Table  # noqa: PLC0415  see the class
        from rich.text import Text  # noqa: PLC0415  see the class

        grid = Table.grid(padding=(0, 2))
        grid.add_column(no_wrap=True, style="dim")
        grid.add_column(overflow="fold")
        for name, value in pairs.items():
            if value is not None and value != "":
                grid.add_row(f"  {name}", Text(printable(str(value))))
        self._out.print(grid)

    def _message(self, text: str, style: str, level: str = "") -> None:
        if self.as_json:
            at = datetime.now(UTC).isoformat()  # noqa: TID251  a time stamp like the log's
            line = {"event": text, "level": level or "info", "timestamp": at}
            _write_message(msgspec.json.encode(line).decode())
            return
        text = f"{level}: {text}" if level else text
        if not is_terminal(sys.stderr):
            _write_message(printable(text))
            return
        from rich.text import Text  # noqa: PLC0415  see the class

        self.stderr.print(Text(printable(text), style=style), soft_wrap=True)


def _write_message(line: str) -> None:
    """Write a message. A closed pipe raises; a full disk only counts a lost line."""
    try:
        _write(sys.stderr, [line])
    except BrokenPipeError:
        raise
    except OSError:
        LOST.lines += 1


def _write(stream: TextIO, lines: Iterable[str]) -> None:
    stream.write("".join(f"{line}\n" for line in lines))
    stream.flush()


TONES = {
    "done": "green",
    "processing": "cyan",
    "error": "red",
    "warn": "yellow",
    "review": "yellow",
    "not-found": "magenta",
    "cancelled": "dim",
    "skipped": "dim",
    "pending": "",
}
"""Terminal styles of the tones of statuses."""
STYLES: Mapping[str, str] = {
    **{status: TONES[display.tone] for status, display in JOB_DISPLAY.items()},
    **{status: TONES[display.tone] for status, display in ITEM_DISPLAY.items()},
    "ok": "green",
    "warn": "yellow",
    "problem": "red",
}
