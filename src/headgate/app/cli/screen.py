"""What is shown: data on standard output, talk on standard error."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

UNBOUNDED = 10_000
"""Columns where no terminal limits them: a pipe must get the whole text."""


class Screen:
    """The two streams of a command."""

    def __init__(self, *, quiet: bool = False) -> None:
        self.quiet = quiet
        piped = None if sys.stdout.isatty() else UNBOUNDED
        self._out = Console(width=piped, highlight=False, markup=False, emoji=False)
        self.talk = Console(stderr=True, highlight=False, markup=False, emoji=False)

    @property
    def live(self) -> bool:
        """Whether somebody watches a terminal that can be redrawn."""
        return self.talk.is_terminal and not self.talk.is_dumb_terminal and not self.quiet

    def say(self, text: str, style: str = "") -> None:
        """Talk, which `--quiet` silences."""
        if not self.quiet:
            self._speak(text, style)

    def warn(self, text: str) -> None:
        """What the user must hear even with `--quiet`."""
        self._speak(f"warning: {text}", "yellow")

    def fail(self, text: str) -> None:
        """Why the command did not do what was asked, and what to do."""
        self._speak(f"error: {text}", "red")

    def line(self, text: str, style: str = "") -> None:
        """One line of data."""
        self._out.print(Text(printable(text), style=style), soft_wrap=True)

    def json(self, value: Any) -> None:
        """One JSON document of data."""
        sys.stdout.write(msgspec.json.encode(value).decode() + "\n")
        sys.stdout.flush()

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Rows under headings; a column whose heading starts with `#` holds numbers."""
        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
        for name in columns:
            number = name.startswith("#")
            # Where the terminal is narrow, Rich takes from the widest columns that may wrap, so
            # never from numbers; the cells themselves do not wrap but end in an ellipsis.
            table.add_column(
                name.removeprefix("#"), justify="right" if number else "left", no_wrap=number
            )
        for row in rows:
            table.add_row(*(cell(value) for value in row))
        self._print(table)

    def facts(self, pairs: Mapping[str, object]) -> None:
        """Names and values, one pair to a line; empty values are left out."""
        grid = Table.grid(padding=(0, 2))
        grid.add_column(no_wrap=True, style="dim")
        grid.add_column(overflow="fold")
        for name, value in pairs.items():
            if value is not None and value != "":
                grid.add_row(f"  {name}", Text(printable(str(value))))
        self._print(grid)

    def _print(self, table: Table) -> None:
        if self._out.is_terminal:
            self._out.print(table)
            return
        with self._out.capture() as captured:
            self._out.print(table)
        for line in captured.get().splitlines():
            # Rich pads every line to the full width, which only a terminal hides.
            self._out.print(Text(line.rstrip()), soft_wrap=True)

    def _speak(self, text: str, style: str) -> None:
        self.talk.print(Text(printable(text), style=style), soft_wrap=True)


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


def cell(value: object) -> Text:
    """A value as a table shows it."""
    if value is None:
        return Text("")
    if isinstance(value, int) and not isinstance(value, bool):
        return Text(f"{value:,}")
    text = printable(str(value))
    return Text(text, style=STYLES.get(text, ""), no_wrap=True, overflow="ellipsis")


def printable(text: str) -> str:
    """The text with control characters made visible: rows must not be able to drive a terminal."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char == "\n" else char.encode("unicode_escape").decode()
        for char in text
    )
