"""From the first visit to a file that equals the grid, with a service that is rude on the way."""

import csv
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.kit.api_server import ApiServer
from tests.kit.browser import Visitor
from tests.kit.price_service import PriceService

ROWS = 30
TALL = {"width": 1280, "height": 2000}
"""All rows of the grid are in sight, and so in the page."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "products.csv"
    lines = [f"{n},product {n}" for n in range(1, ROWS + 1)]
    path.write_text("\n".join(["ID,Name", *lines, ""]))
    return path


def test_from_the_first_visit_to_an_export(visit: Visit, api: ApiServer, file: Path):
    with PriceService() as shop:
        someone = visit(None, viewport=TALL)
        _log_in(someone, api)
        _upload(someone, file, shop.base_url)
        _watch_pause_and_resume(someone, shop)
        _retry_the_errors(someone, shop)
        grid = _grid(someone)
        exported = _export(someone)
    expected = {
        str(n): "NOT_FOUND" if shop.outcome(n) == "NOT_FOUND" else "DONE"
        for n in range(1, ROWS + 1)
    }
    assert exported == expected
    assert grid == {key: status.replace("_", " ").capitalize() for key, status in expected.items()}


def _log_in(someone: Visitor, api: ApiServer) -> None:
    page = someone.page
    page.goto("/")
    expect(page).to_have_url(re.compile("/login"))
    page.get_by_role("button", name="Use a token instead").click()
    page.get_by_label("Token").fill(api.user("walker").token or "")
    page.get_by_role("button", name="Log in", exact=True).click()
    someone.drawn("Jobs")
    expect(page.get_by_role("heading", name="No jobs yet")).to_be_visible()


def _upload(someone: Visitor, file: Path, service: str) -> None:
    page = someone.page
    page.get_by_role("link", name="New job").click()
    someone.drawn("New job")
    start = page.get_by_role("button", name="Start job")
    expect(start).to_be_disabled()
    page.get_by_label("Choose a file").set_input_files(file)
    rows = page.get_by_role("region", name="First rows")
    expect(rows.get_by_role("row")).to_have_count(21)
    page.get_by_label("Handler").select_option("shop.ask")
    page.get_by_label("Service").fill(service)
    # The column is called ID in the file, and id by the handler: the user need not say so.
    expect(page.get_by_label("Column for “id”")).to_have_value("ID")
    expect(rows.get_by_role("columnheader").first).to_contain_text("id")
    page.get_by_role("checkbox", name="id", exact=True).check()
    page.get_by_label("Name", exact=True).last.fill("Prices")
    start.click()
    someone.drawn()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Prices")


def _watch_pause_and_resume(someone: Visitor, shop: PriceService) -> None:
    _is(someone, "Running")
    _act(someone, "Pause")
    _is(someone, "Paused")
    shop.open = True
    _act(someone, "Resume")
    # Nothing is loaded again: the page hears of it.
    _is(someone, re.compile("with errors", re.IGNORECASE))


def _is(someone: Visitor, state: str | re.Pattern[str]) -> None:
    """Wait until the job is said to be in a state."""
    expect(someone.page.get_by_role("heading", level=1)).to_contain_text(state)


def _act(someone: Visitor, name: str) -> None:
    """Press a button of the job, wherever it stands."""
    button = someone.main.get_by_role("button", name=name, exact=True)
    menu = someone.main.get_by_role("button", name=re.compile("^Actions"))
    expect(button.or_(menu).first).to_be_visible()
    if button.count():
        button.first.click()
        return
    menu.first.click()
    someone.page.get_by_role("menuitem", name=name, exact=True).click()


def _retry_the_errors(someone: Visitor, shop: PriceService) -> None:
    page = someone.page
    count = sum(shop.outcome(n) == "ERROR" for n in range(1, ROWS + 1))
    page.get_by_role("tab", name=re.compile("^Errors")).click()
    panel = page.get_by_role("tabpanel")
    expect(panel).to_contain_text("418")
    expect(panel).to_contain_text(str(count))
    retry = panel.get_by_role("button", name=re.compile("^Retry this group"))
    expect(retry).to_have_count(1)
    shop.healed = True
    retry.click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("heading")).to_contain_text(str(count))
    dialog.get_by_role("button", name=re.compile(f"{count}")).click()
    expect(dialog).to_have_count(0)
    expect(panel).not_to_contain_text("418")
    _is(someone, "Done")


def _grid(someone: Visitor) -> dict[str, str]:
    """The status of each row by its key, as the grid shows it."""
    page = someone.page
    page.get_by_role("tab", name=re.compile("^Grid")).click()
    grid = page.get_by_role("tabpanel").get_by_role("grid")
    expect(grid.get_by_role("row")).to_have_count(ROWS + 1)
    # Until the page has heard of the retry, the job is still said to be done.
    for passing in ("Error", "Pending", "Processing"):
        expect(grid.get_by_text(passing, exact=True)).to_have_count(0)
    heads = grid.get_by_role("columnheader").all_inner_texts()
    names = [head.strip().lower() for head in heads]
    key, status = names.index("key"), names.index("status")
    shown: dict[str, str] = {}
    for row in grid.get_by_role("row").all()[1:]:
        cells = row.get_by_role("gridcell").all_inner_texts()
        shown[cells[key].strip()] = cells[status].strip()
    return shown


def _export(someone: Visitor) -> dict[str, str]:
    """The status of each row by its key, as the exported file has it."""
    page = someone.page
    page.get_by_role("tab", name=re.compile("^Exports")).click()
    panel = page.get_by_role("tabpanel")
    panel.get_by_label("Format").select_option("csv")
    panel.get_by_role("button", name=f"Export {ROWS} rows").click()
    ready = panel.get_by_role("link", name=re.compile("^Download"))
    expect(ready.first).to_be_visible()
    with page.expect_download() as download:
        ready.first.click()
    with Path(download.value.path()).open(newline="") as stream:
        return {
            row["ID"] if "ID" in row else row["id"]: row["_status"]
            for row in csv.DictReader(stream)
        }
