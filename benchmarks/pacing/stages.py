"""The stages of a pace as a picture: boxes, and arrows with what leads from one to the next."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.pacing.chart import ANSWERED, CLOSED, INK, LIMIT, RATE, REFUSED, text

WIDTH, HEIGHT = 900, 400
BOX_W, BOX_H = 200, 58
COLUMNS, ROWS = (118, 450, 782), (112, 320)


@dataclass(frozen=True)
class Stage:
    """A box, by its column and row."""

    name: str
    words: str
    column: int
    row: int
    colour: str

    @property
    def centre(self) -> tuple[int, int]:
        return COLUMNS[self.column], ROWS[self.row]


@dataclass(frozen=True)
class Arrow:
    """A line through some points, and its words beside it."""

    points: tuple[tuple[int, int], ...]
    words: str
    at: tuple[int, int]
    anchor: str = "middle"


STAGES = (
    Stage("starting", "the rate grows", 0, 0, RATE),
    Stage("stopped", "single requests ask", 1, 0, REFUSED),
    Stage("reopening", "one, three, then more", 2, 0, ANSWERED),
    Stage("told", "just below what it tells", 0, 1, RATE),
    Stage("probing", "a little above the level", 1, 1, RATE),
    Stage("holding", "just below the level", 2, 1, ANSWERED),
)
ARROWS = (
    Arrow(((118, 40), (118, 82)), "first request", (126, 56), "start"),
    Arrow(((218, 112), (349, 112)), "refused", (284, 104)),
    Arrow(((430, 83), (430, 52), (470, 52), (470, 82)), "refused: ask later", (450, 44)),
    Arrow(((550, 100), (681, 100)), "one was taken", (616, 92)),
    Arrow(((682, 126), (551, 126)), "refused again", (616, 144)),
    Arrow(((812, 141), (812, 290)), "answers come", (804, 190), "end"),
    Arrow(((682, 320), (551, 320)), "held for a while", (616, 338)),
    Arrow(((450, 291), (450, 142)), "refused", (442, 206), "end"),
    Arrow(((720, 291), (530, 142)), "refused below the level", (638, 250), "end"),
    Arrow(((118, 141), (118, 290)), "headers tell a limit", (126, 190), "start"),
    Arrow(((180, 291), (370, 142)), "refused below it", (262, 250), "start"),
)


def write_stages(path: Path) -> None:
    """Draw them."""
    size = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    font = 'font-family="system-ui, sans-serif" font-size="13"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font} role="img">',
        "<title>The stages of a pace</title>",
        _arrow_head(),
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        *(line for arrow in ARROWS for line in _arrow(arrow)),
        *(line for stage in STAGES for line in _stage(stage)),
        "</svg>",
    ]
    path.write_text("\n".join(parts) + "\n", encoding="utf-8")


def _arrow_head() -> str:
    shape = f'<path d="M0,0 L9,4 L0,8 z" fill="{INK}"/>'
    place = 'refX="8" refY="4" markerWidth="9" markerHeight="8" orient="auto"'
    return f'<defs><marker id="head" {place}>{shape}</marker></defs>'


def _stage(stage: Stage) -> Iterable[str]:
    x, y = stage.centre
    shape = f'x="{x - BOX_W // 2}" y="{y - BOX_H // 2}" width="{BOX_W}" height="{BOX_H}" rx="8"'
    fill = CLOSED if stage.name == "stopped" else "#ffffff"
    yield f'<rect {shape} fill="{fill}" stroke="{stage.colour}" stroke-width="2"/>'
    yield f'<g font-weight="bold">{text(x, y - 5, stage.name, "middle")}</g>'
    yield text(x, y + 15, stage.words, "middle")


def _arrow(arrow: Arrow) -> Iterable[str]:
    points = " ".join(f"{x},{y}" for x, y in arrow.points)
    style = f'fill="none" stroke="{LIMIT}" stroke-width="1.5" marker-end="url(#head)"'
    yield f'<polyline points="{points}" {style}/>'
    yield text(*arrow.at, arrow.words, arrow.anchor)
