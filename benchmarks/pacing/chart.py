"""A course as a picture: rates above, refusals below, closings as bands through both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from benchmarks.pacing.course import STEP_S, Step

WIDTH, LEFT, RIGHT = 900, 56, 22
TOP, RATES, GAP, REFUSALS, BOTTOM = 46, 230, 26, 70, 36
HEIGHT = TOP + RATES + GAP + REFUSALS + BOTTOM
FLOOR = TOP + RATES
GROUND = FLOOR + GAP + REFUSALS
INK, LIMIT, RATE, ANSWERED, REFUSED, CLOSED = (
    "#37474f",
    "#9e9e9e",
    "#1565c0",
    "#2e7d32",
    "#c62828",
    "#ffe0b2",
)


def write_svg(path: Path, title: str, steps: Sequence[Step]) -> None:
    """Draw a course."""
    path.write_text(Chart(steps).drawn(title) + "\n", encoding="utf-8")


class Chart:
    """Two panels over one axis of time."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = steps
        self._seconds = len(steps) * STEP_S
        # A burst at the start would flatten all the rest.
        limits = [step.limit for step in steps if step.limit]
        answered = [step.answered for step in steps]
        self._most = nice(1.25 * max([*limits, sorted(answered)[int(0.98 * len(answered))], 1.0]))
        self._most_refused = nice(max([step.refused for step in steps] + [4]))

    def drawn(self, title: str) -> str:
        """The whole picture."""
        size = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
        font = 'font-family="system-ui, sans-serif" font-size="12"'
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font} role="img">',
            f"<title>{title}</title>",
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
            *self._closings(),
            *self._axes(),
            self._line(lambda step: step.answered, ANSWERED, 1),
            self._line(lambda step: step.limit, LIMIT, 2, "6 4"),
            self._line(lambda step: step.rate, RATE, 1.5),
            *self._refusals(),
            *self._legend(title),
            "</svg>",
        ]
        return "\n".join(part for part in parts if part)

    def _x(self, time_s: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * time_s / self._seconds

    def _y(self, rate: float) -> float:
        return FLOOR - RATES * min(rate, self._most) / self._most

    def _closings(self) -> Iterable[str]:
        for step in self._steps:
            if step.closed:
                x, width = self._x(step.time_s), self._x(STEP_S * step.closed) - LEFT
                shape = f'x="{x:.1f}" y="{TOP}" width="{max(width, 0.5):.2f}"'
                yield f'<rect {shape} height="{GROUND - TOP}" fill="{CLOSED}"/>'

    def _refusals(self) -> Iterable[str]:
        for step in self._steps:
            if step.refused:
                x = self._x(step.time_s + STEP_S / 2)
                height = REFUSALS * step.refused / self._most_refused
                ends = f'x1="{x:.1f}" x2="{x:.1f}" y1="{GROUND}" y2="{GROUND - height:.1f}"'
                yield f'<line {ends} stroke="{REFUSED}" stroke-width="2"/>'

    def _line(
        self,
        value: Callable[[Step], float | None],
        colour: str,
        width: float,
        dashes: str = "",
    ) -> str:
        points = [
            f"{self._x(step.time_s + STEP_S / 2):.1f},{self._y(known):.1f}"
            for step in self._steps
            if (known := value(step)) is not None
        ]
        style = f'fill="none" stroke="{colour}" stroke-width="{width}" stroke-dasharray="{dashes}"'
        return f'<polyline {style} points="{" ".join(points)}"/>' if points else ""

    def _axes(self) -> Iterable[str]:
        for share in (0.0, 0.5, 1.0):
            yield from self._mark(FLOOR - RATES * share, self._most * share)
            yield from self._mark(GROUND - REFUSALS * share, self._most_refused * share)
        tick_s = nice(self._seconds / 10)
        for number in range(int(self._seconds / tick_s) + 1):
            yield text(self._x(number * tick_s), GROUND + 16, f"{number * tick_s:g} s", "middle")

    def _mark(self, y: float, value: float) -> Iterable[str]:
        ends = f'x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"'
        yield f'<line {ends} stroke="{INK}" stroke-opacity="0.2"/>'
        yield text(LEFT - 6, y + 4, f"{value:g}", "end")

    def _legend(self, title: str) -> Iterable[str]:
        yield text(LEFT, 16, title, "start")
        x = LEFT
        for word, colour in (
            ("limit", LIMIT),
            ("rate we go by", RATE),
            ("answered a second", ANSWERED),
            ("refused a second (below)", REFUSED),
            ("closed", CLOSED),
        ):
            yield f'<rect x="{x}" y="26" width="14" height="10" fill="{colour}"/>'
            yield text(x + 19, 35, word, "start")
            x += 40 + 7 * len(word)


def text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{INK}">{words}</text>'


def nice(value: float) -> float:
    """The next number that reads well on an axis."""
    scale = 1.0
    while scale * 10 <= value:
        scale *= 10
    return next(step * scale for step in (1, 2, 4, 5, 6, 8, 10) if step * scale >= value)
