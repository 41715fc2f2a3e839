"""What is shown: data on standard output, talk on standard error."""

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

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Output", "printable"]

UNBOUNDED = 10_000
"""Columns where no terminal limits them: a pipe must get the whole text."""


class Output:
    """The two streams of a command. Rich is loaded for the first line that a terminal shows."""

    def __init__(self, *, quiet: bool = False) -> None:
        self.quiet = quiet
        self.as_json = False
        """Talk is written as lines of JSON, as the log is."""

    @cached_property
    def talk(self) -> "Console":
        """Standard error, as a terminal shows it."""
        from headgate.app.cli.console import console  # noqa: PLC0415  see the class

        return console(stderr=True)

    @cached_property
    def _out(self) -> "Console":
        from headgate.app.cli.console import console  # noqa: PLC0415  see the class

        piped = None if sys.stdout.isatty() else UNBOUNDED
        return console(width=piped)

    @property
    def live(self) -> bool:
        """Whether somebody watches a terminal that can be redrawn."""
        watched = not self.quiet and not self.as_json and is_terminal(sys.stderr)
        return watched and not self.talk.is_dumb_terminal

    def say(self, text: str, style: str = "") -> None:
        """Talk, which `--quiet` silences."""
        if not self.quiet:
            self._speak(text, style)

    def warn(self, text: str) -> None:
        """What the user must hear even with `--quiet`."""
        self._speak(text, "yellow", "warning")

    def fail(self, text: str) -> None:
        """Why the command did not do what was asked, and what to do."""
        self._speak(text, "red", "error")

    def line(self, text: str, style: str = "") -> None:
        """One line of data."""
        if not is_terminal(sys.stdout):
            _write(sys.stdout, [printable(text)])
            return
        from rich.text import Text  # noqa: PLC0415  see the class

        self._out.print(Text(printable(text), style=style), soft_wrap=True)

    def json(self, value: Any) -> None:
        """One JSON document of data."""
        _write(sys.stdout, [msgspec.json.encode(value).decode()])

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Rows under headings; a column whose heading starts with `#` holds numbers."""
        if not is_terminal(sys.stdout):
            _write(sys.stdout, table_lines(columns, rows))
            return
        from rich.table import Table  # noqa: PLC0415  see the class
        from rich.text import Text  # noqa: PLC0415  see the class

        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
        for name in columns:
            number = name.startswith("#")
            # Where the terminal is narrow, Rich takes from the widest columns that may wrap, so
            # never from numbers; the cells themselves do not wrap but end in an ellipsis.
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
        """Names and values, one pair to a line; empty values are left out."""
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

    def _speak(self, text: str, style: str, level: str = "") -> None:
        if self.as_json:
            at = datetime.now(UTC).isoformat()  # noqa: TID251  a stamp to read, as the log has
            line = {"event": text, "level": level or "info", "timestamp": at}
            _tell(msgspec.json.encode(line).decode())
            return
        text = f"{level}: {text}" if level else text
        if not is_terminal(sys.stderr):
            _tell(printable(text))
            return
        from rich.text import Text  # noqa: PLC0415  see the class

        self.talk.print(Text(printable(text), style=style), soft_wrap=True)


def _tell(line: str) -> None:
    """Write a line of talk; only a reader that has gone is reason to stop, not a full disk."""
    try:
        _write(sys.stderr, [line])
    except BrokenPipeError:
        raise
    except OSError:
        LOST.lines += 1


def _write(stream: TextIO, lines: Iterable[str]) -> None:
    stream.write("".join(f"{line}\n" for line in lines))
    stream.flush()


STYLES = {
    "DONE": "green",
    "RUNNING": "cyan",
    "PROCESSING": "cyan",
    "ERROR": "red",
    "FAILED": "red",
    "PAUSED": "yellow",
    "REVIEW": "yellow",
    "NOT_FOUND": "magenta",
    "CANCELLED": "dim",
    "SKIPPED": "dim",
    "ok": "green",
    "warn": "yellow",
    "problem": "red",
}
