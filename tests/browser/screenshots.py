"""Every screen as it looks: desktop and phone, light and dark, empty and full.

`make screenshots` draws them all; with `--docs` only the ones in the README and in the
documentation, small enough to be kept.
"""

import argparse
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

from PIL import Image
from playwright.sync_api import Browser, Page, Route, ViewportSize, expect

from tests.browser.sample_jobs import SampleJobs, create_sample_jobs
from tests.browser.views import View, close, full, lists, opened
from tests.kit.api_server import ApiServer, Caller
from tests.kit.browser import DESKTOP, PHONE, Visitor, chromium
from tests.kit.price_service import PriceService

SIZES = {"desktop": DESKTOP, "phone": PHONE}
Scheme = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
Hinder = Callable[[Page], None]
LOGIN = View("login", "/login")
BROKEN = ("jobs", "job-grid", "settings-health", "mirrors", "mirror", "stream-rows")
HINDERED = ("**/api/jobs**", "**/api/system", "**/api/mirrors**")
COLOURS = 256
LOW: ViewportSize = {"width": 1280, "height": 560}
"""For what would leave half of the picture empty."""


class Chosen(NamedTuple):
    """A picture for the documentation."""

    file: str
    view: str
    scheme: Scheme = "light"
    opens: str = ""
    size: ViewportSize = DESKTOP


DOCS = (
    Chosen("jobs", "jobs", size=LOW),
    Chosen("job", "job-charts"),
    Chosen("item", "item-drawer", "dark"),
    Chosen("errors", "job-errors", size=LOW),
    Chosen("review", "review", size=LOW),
    Chosen("providers", "gate", "dark"),
)


def main() -> None:
    """Draw what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--docs", action="store_true", help="only the chosen ones")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    with chromium() as browser:
        if options.docs:
            draw_chosen(browser, options.folder)
        else:
            draw_all(browser, options.folder)
    print(f"{sum(1 for _ in options.folder.rglob('*.png'))} pictures in {options.folder}/")  # noqa: T201


@contextmanager
def served() -> Iterator[ApiServer]:
    """A server in a folder that goes with it."""
    with (
        tempfile.TemporaryDirectory() as folder,
        ApiServer(Path(folder), net__allow_private="true") as api,
    ):
        yield api


@contextmanager
def filled() -> Iterator[SampleJobs]:
    """A server with something of everything."""
    with PriceService() as shop, served() as api:
        yield create_sample_jobs(api, shop)


# ---- all --------------------------------------------------------------------------------------


def draw_all(browser: Browser, folder: Path) -> None:
    """Every view in every size and colour."""
    with served() as api:
        draw(browser, api.nobody(), [LOGIN], folder / "empty")
        draw(browser, api.admin(), [view._replace(opens=()) for view in lists()], folder / "empty")
    with filled() as sample_jobs:
        views = full(sample_jobs)
        draw(browser, sample_jobs.admin, views, folder / "full")
        some = [view._replace(opens=()) for view in views if view.name in BROKEN]
        draw_hindered(browser, sample_jobs.admin, some, folder / "loading", never)
        draw_hindered(browser, sample_jobs.admin, some, folder / "failed", badly)


def never(page: Page) -> None:
    """Let no list and no job come."""
    for pattern in HINDERED:
        page.route(pattern, lambda _route: None)


def badly(page: Page) -> None:
    """Have the server fail."""

    def fail(route: Route) -> None:
        problem = {"type": "about:blank", "title": "The server failed", "status": 500}
        detail = "The database does not answer. Look at the log of the server."
        route.fulfill(status=500, json={**problem, "detail": detail})

    for pattern in HINDERED:
        page.route(pattern, fail)


def draw(browser: Browser, caller: Caller, views: Iterable[View], folder: Path) -> None:
    """Take each picture in every size and colour."""
    for size, viewport in SIZES.items():
        visitor = arrived(browser, caller, viewport)
        for view in views:
            visit(visitor, view)
            shoot(visitor, folder, view.name, size)
            for name, step in view.opens:
                before = opened(visitor)
                step(visitor)
                shoot(visitor, folder, f"{view.name}-{name}", size)
                close(visitor, before)
        visitor.leave()


def draw_hindered(
    browser: Browser, caller: Caller, views: Iterable[View], folder: Path, hinder: Hinder
) -> None:
    """Take the pictures of a page that does not get what it asks for."""
    for size, viewport in SIZES.items():
        visitor = arrived(browser, caller, viewport)
        visitor.expects("500")
        hinder(visitor.page)
        for view in views:
            visitor.page.goto(view.path)
            expect(visitor.main.locator("[class*=skeleton], [role=alert]").first).to_be_visible()
            shoot(visitor, folder, view.name, size)
        visitor.page.unroute_all(behavior="ignoreErrors")
        visitor.leave()


def arrived(browser: Browser, caller: Caller, viewport: ViewportSize) -> Visitor:
    """A user with a high-resolution screen."""
    visitor = Visitor(browser, caller.url, viewport=viewport, device_scale_factor=2)
    visitor.expects("404")
    if caller.token:
        visitor.login(caller)
    return visitor


def visit(visitor: Visitor, view: View) -> None:
    """Come to a view, and wait until nothing of it is on the way any more."""
    visitor.open(view.path)
    if view.first:
        view.first(visitor)
    expect(visitor.page.locator("[aria-busy=true]")).to_have_count(0)


def shoot(visitor: Visitor, folder: Path, name: str, size: str) -> None:
    """Take the picture, light and dark."""
    for scheme in SCHEMES:
        visitor.page.emulate_media(color_scheme=scheme)
        visitor.page.screenshot(path=folder / f"{name}-{size}-{scheme}.png")


# ---- for the documentation --------------------------------------------------------------------


def draw_chosen(browser: Browser, folder: Path) -> None:
    """The chosen ones, with as few colours as they need."""
    with filled() as sample_jobs:
        views = {view.name: view for view in full(sample_jobs)}
        for chosen in DOCS:
            visitor = arrived(browser, sample_jobs.admin, chosen.size)
            view = views[chosen.view]
            visitor.page.emulate_media(color_scheme=chosen.scheme)
            visit(visitor, view)
            if chosen.opens:
                dict(view.opens)[chosen.opens](visitor)
            path = folder / f"{chosen.file}.png"
            visitor.page.screenshot(path=path)
            reduce(path, chosen.size)
            visitor.leave()


def reduce(path: Path, size: ViewportSize) -> None:
    """Draw it at one dot a pixel and with few colours: flat surfaces lose nothing by it."""
    with Image.open(path) as image:
        small = image.convert("RGB").resize(
            (size["width"], size["height"]), Image.Resampling.LANCZOS
        )
    # Few dots have the colours that tell outcomes apart: all hues count, not how often they are.
    few = small.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


if __name__ == "__main__":
    main()
