"""The bar of a job on a terminal, redrawn in place."""

from collections.abc import Sequence
from typing import NamedTuple

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from headgate.app.cli.resizing import Redrawn
from headgate.core.job import Counts


class Remarks(NamedTuple):
    """What is said below the counters; empty where there is nothing to say."""

    cause: str = ""
    """What limits the job."""
    failing: str = ""
    """Which rows fail, and how."""
    hint: str = ""
    """What to do about it."""
    note: str = ""


class LiveBar:
    """The last lines of a terminal, drawn again and again until it is stopped."""

    def __init__(self, console: Console) -> None:
        self._live = Live(console=console, auto_refresh=False, transient=True)
        self._redrawn = Redrawn(console)
        self._live.start()

    def show(self, drawn: RenderableType) -> None:
        """Take the place of what was drawn before, also in a window that got narrower."""
        self._redrawn.prepare(drawn)
        self._live.update(drawn, refresh=True)

    def stop(self) -> None:
        """Clear the lines."""
        self._live.stop()


def plain_line(text: str) -> RenderableType:
    """One line where there is nothing to measure yet."""
    return Text(text, no_wrap=True, overflow="ellipsis")


def bar(
    counts: Counts,
    speed: str,
    left: str,
    details: Sequence[str],
    remarks: Remarks,
) -> RenderableType:
    """How far a job is, what became of its rows, and remarks."""
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
    below = [Text(remarks.cause, "dim", no_wrap=True, overflow="ellipsis")] if remarks.cause else []
    below += [Text(remarks.failing, "red")] if remarks.failing else []
    below += [Text(text, "yellow") for text in (remarks.hint, remarks.note) if text]
    return Group(line, parts, *below)
