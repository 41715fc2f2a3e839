"""The progress bar of a terminal, redrawn in place."""

from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

from rich.console import Console, Group, RenderableType
from rich.control import Control
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.segment import ControlType, Segment
from rich.table import Table
from rich.text import Text

from headgate.core.job import Counts


def wrapped_lines(lengths: Sequence[int], width: int) -> int:
    """The number of extra lines that a terminal of `width` columns needs for these lines."""
    return sum(max(ceil(length / max(width, 1)), 1) - 1 for length in lengths)


class Redrawn:
    """Clears the lines that a terminal wrapped when its window became narrower."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._width = console.width
        self._lengths: Sequence[int] = ()

    def prepare(self, bar: RenderableType) -> None:
        """Call before `bar` replaces the last one."""
        width = self._console.width
        extra = wrapped_lines(self._lengths, width) if width < self._width else 0
        if extra:
            erase = (ControlType.ERASE_IN_LINE, 2)
            up = (ControlType.CURSOR_UP, 1)
            self._console.control(
                Control(erase, *[each for _ in range(extra) for each in (up, erase)])
            )
        self._width = width
        lines = self._console.render_lines(bar, pad=False)
        self._lengths = [Segment.get_line_length(line) for line in lines]


class Remarks(NamedTuple):
    cause: str = ""
    failing: str = ""
    hint: str = ""
    note: str = ""
    lines: Sequence[str] = ()
    """About the parts of the job."""


class LiveBar:
    def __init__(self, console: Console) -> None:
        self._live = Live(console=console, auto_refresh=False, transient=True)
        self._redrawn = Redrawn(console)
        self._live.start()

    def show(self, drawn: RenderableType) -> None:
        self._redrawn.prepare(drawn)
        self._live.update(drawn, refresh=True)

    def stop(self) -> None:
        self._live.stop()


def plain_line(text: str) -> RenderableType:
    return Text(text, no_wrap=True, overflow="ellipsis")


def bar(
    counts: Counts,
    speed: str,
    left: str,
    details: Sequence[str],
    remarks: Remarks,
) -> RenderableType:
    line = Table.grid(padding=(0, 2, 0, 0), expand=True)
    line.add_column(ratio=1)
    for _ in range(4):
        line.add_column(no_wrap=True, justify="right")
    line.add_row(
        ProgressBar(total=max(counts.total, 1), completed=counts.finished),
        f"{counts.finished / max(counts.total, 1):.0%}",
        f"{counts.finished:,} of {counts.total:,}",
        speed,
        left,
    )
    parts = Text()
    for number, part in enumerate(details):
        parts.append(" · " if number else "", "dim")
        parts.append(part, "red" if part.startswith("errors") and counts.error else "")
    below = [Text(each, no_wrap=True, overflow="ellipsis") for each in remarks.lines]
    below += (
        [Text(remarks.cause, "dim", no_wrap=True, overflow="ellipsis")] if remarks.cause else []
    )
    below += [Text(remarks.failing, "red")] if remarks.failing else []
    below += [Text(text, "yellow") for text in (remarks.hint, remarks.note) if text]
    return Group(line, parts, *below)
