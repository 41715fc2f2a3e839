"""A bar that is drawn again and again, in a window that gets narrower meanwhile."""

from collections.abc import Sequence
from math import ceil

from rich.console import Console, RenderableType
from rich.control import Control
from rich.segment import ControlType, Segment


def wrapped_lines(lengths: Sequence[int], width: int) -> int:
    """How many lines more than before a terminal needs for lines that it wraps at `width`."""
    return sum(max(ceil(length / max(width, 1)), 1) - 1 for length in lengths)


class Redrawn:
    """Clears what a narrower window has wrapped; the next drawing clears the rest."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._width = console.width
        self._lengths: Sequence[int] = ()

    def prepare(self, bar: RenderableType) -> None:
        """Call before `bar` takes the place of the one before."""
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
