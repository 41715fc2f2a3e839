"""A pipe gets the same words as a terminal that is wide enough, without Rich."""

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from rich.table import Table
from rich.text import Text

from headgate.app.cli.render.tables import (
    cell_text,
    fact_lines,
    is_terminal,
    printable,
    table_lines,
)

WIDE = 10_000
TEXTS = st.text("aZ9 .,\n\t\x1bü✓日本é👍", max_size=12)
VALUES = st.none() | st.integers() | st.booleans() | st.floats(allow_nan=False) | TEXTS
COLUMNS = ("NAME", "#COUNT", "STATE")


def drawn(table: Table) -> list[str]:
    console = Console(file=io.StringIO(), width=WIDE, highlight=False, markup=False, emoji=False)
    console.print(table)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


@settings(max_examples=50)
@given(st.lists(st.tuples(VALUES, VALUES, VALUES), max_size=5))
def test_a_table_is_what_rich_would_draw(rows):
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in COLUMNS:
        number = name.startswith("#")
        table.add_column(name.removeprefix("#"), justify="right" if number else "left")
    for row in rows:
        table.add_row(*(Text(cell_text(value), no_wrap=True) for value in row))
    assert table_lines(COLUMNS, rows) == drawn(table)


@settings(max_examples=50)
@given(st.dictionaries(st.text("abc d", min_size=1, max_size=6), VALUES, max_size=5))
def test_facts_are_what_rich_would_draw(pairs):
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    shown = {name: value for name, value in pairs.items() if value is not None and value != ""}
    for name, value in shown.items():
        grid.add_row(f"  {name}", Text(printable(str(value))))
    assert fact_lines(pairs) == (drawn(grid) if shown else [])


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"FORCE_COLOR": "1"},
        {"FORCE_COLOR": ""},
        {"TTY_COMPATIBLE": "1"},
        {"TTY_COMPATIBLE": "0", "FORCE_COLOR": "1"},
        {"TTY_COMPATIBLE": "yes"},
    ],
)
@pytest.mark.parametrize("tty", [True, False])
def test_a_terminal_is_told_from_a_pipe_as_rich_does(monkeypatch, variables, tty: bool):
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: tty)
    assert is_terminal(stream) == Console(file=stream).is_terminal
