"""Every screen as it looks: desktop and phone, light and dark, empty and full.

`make screenshots` draws them; the best ones stand in the README and in the documentation.
"""

import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser, expect

from tests.kit.api_server import ApiServer, Caller, rows_csv
from tests.kit.browser import DESKTOP, PHONE, Visitor, chromium
from tests.kit.rude import RudeShop

SIZES = {"desktop": DESKTOP, "phone": PHONE}
SCHEMES = ("light", "dark")
LISTS = {
    "jobs": "/",
    "new-job": "/jobs/new",
    "review": "/review",
    "pending": "/pending",
    "providers": "/providers",
    "workers": "/workers",
    "dead-letters": "/dead-letters",
    "settings": "/settings",
}
TABS = ("grid", "pending", "errors", "activity", "exports", "configuration")
WORDS = ("river", "bank", "bow", "delta", "estuary", "1984", "zzz", "a b", "meander", "oxbow")


class Shot(NamedTuple):
    """One picture to take."""

    name: str
    path: str
    with_file: bool = False
    """A file is chosen first, so that there is something to see."""


def main() -> None:
    """Draw all of them into the folder that is named."""
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "screenshots")
    target.mkdir(parents=True, exist_ok=True)
    with chromium() as browser:
        with served() as api:
            shots = [Shot(name, path) for name, path in LISTS.items()]
            draw(browser, api.admin(), shots, target / "empty")
            draw(browser, Caller(api.url, None), [Shot("login", "/login")], target / "empty")
        with RudeShop() as shop, served() as api:
            draw(browser, api.admin(), full(api.admin(), shop), target / "full")
    print(f"{sum(1 for _ in target.rglob('*.png'))} pictures in {target}/")  # noqa: T201


@contextmanager
def served() -> Iterator[ApiServer]:
    """A server in a folder that goes with it."""
    with (
        tempfile.TemporaryDirectory() as folder,
        ApiServer(Path(folder), net__allow_private="true") as api,
    ):
        yield api


def full(admin: Caller, shop: RudeShop) -> list[Shot]:
    """Jobs of every kind, and the screens that show them."""
    shop.open = True
    config = json.dumps({"service": shop.url})
    names = {f"r{n}": deed for n, deed in enumerate(["fail", "missing", "review", "skip"] * 5, 3)}
    admin.done(rows_csv(400, **names), name="Catalogue 2026")
    words = [{"word": word} for word in WORDS]
    sample = {"handler": "sample.words", "key": "word", "items": words, "name": "Words of rivers"}
    admin.ended(admin.post("/api/jobs", sample).ok(202)["jobId"])
    job = admin.send(rows_csv(60), handler="shop.ask", config=config, name="Prices, March")
    admin.ended(job)
    admin.post(f"/api/jobs/{job}/export", format="csv").ok(202)
    shop.open = False
    waiting = admin.send(rows_csv(200), handler="shop.ask", config=config, name="Prices, April")
    admin.reached(waiting, "RUNNING")
    item = admin.items(job, statuses="ERROR")[0]["id"]
    return [
        *(Shot(name, path, with_file=name == "new-job") for name, path in LISTS.items()),
        *(Shot(f"job-{tab}", f"/jobs/{job}?tab={tab}") for tab in TABS),
        Shot("job-waiting", f"/jobs/{waiting}?tab=pending"),
        Shot("item-drawer", f"/jobs/{job}?tab=grid&item={item}"),
        Shot("item", f"/items/{item}"),
    ]


def draw(browser: Browser, caller: Caller, shots: list[Shot], target: Path) -> None:
    """Take each picture in every size and colour."""
    for size, viewport in SIZES.items():
        for scheme in SCHEMES:
            visitor = Visitor(
                browser, caller.url, viewport=viewport, color_scheme=scheme, device_scale_factor=2
            )
            if caller.token:
                visitor.login(caller)
            for shot in shots:
                take(visitor, shot, target / f"{shot.name}-{size}-{scheme}.png")
            visitor.leave()


def take(visitor: Visitor, shot: Shot, path: Path) -> None:
    """Take one picture, once nothing on the screen is on the way any more."""
    visitor.open(shot.path)
    if shot.with_file:
        choose_file(visitor)
    visitor.page.wait_for_load_state("load")
    expect(visitor.page.locator("[aria-busy=true]")).to_have_count(0)
    visitor.page.screenshot(path=path, full_page=shot.with_file)


def choose_file(visitor: Visitor) -> None:
    """Fill in a new job, as far as its preview."""
    page = visitor.page
    content = rows_csv(40).replace(b"id,name", b"ID,Product Name") + b"41\n"
    file = {"name": "products.csv", "mimeType": "text/csv", "buffer": content}
    page.get_by_label("Choose a file").set_input_files(file)
    expect(page.get_by_role("region", name="The first rows")).to_be_visible()
    page.get_by_label("Handler").select_option("shop.ask")
    expect(page.get_by_label("Column for “id”")).to_have_value("ID")


if __name__ == "__main__":
    main()
