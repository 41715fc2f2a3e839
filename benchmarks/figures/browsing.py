"""The web UI: how much is loaded first, how much is held, how smooth and how quiet it is."""

from __future__ import annotations

import shutil
from collections.abc import Callable

from benchmarks.harness import Bench, Contender, Figure
from benchmarks.measurement import Round, UnavailableError, Values
from benchmarks.scripts import numbers, run_module
from headgate.app.api.ui import BUILT

DEEP = 50_000
SCROLLED = 10_000


def look(bench: Bench) -> Values:
    if not (BUILT / "index.html").is_file():
        raise UnavailableError("the web UI is not built; `make setup` builds it")
    if not shutil.which("chromium"):
        raise UnavailableError("Chromium is not installed; `make services` installs it")
    items = bench.sizes.large
    with bench.scratch() as folder:
        arguments = {
            "db": folder / "looked.db",
            "folder": folder,
            "items": items,
            "deep": min(DEEP, items),
            "scrolled": min(SCROLLED, items),
            "idle": bench.sizes.idle_s,
        }
        found = run_module("benchmarks.browsing.look", arguments)
    names = ("entry_js_kb", "screen_js_kb", "dom_rows", "long_tasks", "longest_ms", "calls_per_min")
    return numbers(found, *names)


LOOK = Contender("headgate serve, looked at in Chromium", look)


def measured(name: str) -> Callable[[Round], float]:
    return lambda r: r.values[LOOK.name][name]


def figure(
    name: str, title: str, value: str, bounds: tuple[float, float], unit: str = ""
) -> Figure:
    must, aim = bounds
    return Figure(
        name=name,
        title=title,
        contenders=(LOOK,),
        value=measured(value),
        must=must,
        aim=aim,
        at_most=True,
        unit=unit,
    )


FIGURES = (
    figure(
        "web-js", "web UI: JavaScript that the page names, gzip", "entry_js_kb", (220, 120), "kB"
    ),
    figure("web-rows", "web UI: rows in the page, 50,000 deep in 1M items", "dom_rows", (150, 60)),
    figure("web-long-tasks", "web UI: long tasks in 10,000 rows scrolled", "long_tasks", (5, 0)),
    figure(
        "web-calls", "web UI: API calls a minute of a job page at rest", "calls_per_min", (2, 0)
    ),
)
