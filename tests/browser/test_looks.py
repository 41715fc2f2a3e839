"""Every screen on a phone, in dark mode, and accessible to all users."""

import re

import pytest
from playwright.sync_api import ViewportSize, expect

from tests.browser.conftest import Visit
from tests.browser.sample_jobs import SampleJobs
from tests.browser.views import close, full, opened
from tests.kit.api_server import ApiServer, rows_csv
from tests.kit.browser import DESKTOP, PHONE, Visitor

_WIDTH = "() => document.scrollingElement.scrollWidth"
_LINES = """box =>
  box.getBoundingClientRect().height / parseFloat(getComputedStyle(box).lineHeight)"""
_BACKGROUND = "() => getComputedStyle(document.documentElement).backgroundColor"


def brightness(colour: str) -> float:
    red, green, blue = (int(part) for part in re.findall(r"\d+", colour)[:3])
    return (red + green + blue) / 3


@pytest.mark.timeout(1_200)
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_every_screen_fits_and_is_open_to_everybody(
    visit: Visit, sample_jobs: SampleJobs, size: ViewportSize
):
    someone = visit(sample_jobs.admin, viewport=size)
    someone.expects("404")
    found: dict[str, list[str]] = {}
    for view in full(sample_jobs):
        someone.open(view.path)
        if view.first:
            view.first(someone)
        found[view.name] = faults(someone, size)
        for name, step in view.opens:
            before = opened(someone)
            step(someone)
            found[f"{view.name}, {name}"] = faults(someone, size)
            close(someone, before)
    bad = [f"{name}: {each}" for name, all_found in found.items() for each in all_found]
    assert not bad, "\n".join(bad)


def faults(someone: Visitor, size: ViewportSize) -> list[str]:
    """What keeps a user from using the page as it is now."""
    width = someone.page.evaluate(_WIDTH)
    wide = [f"it is {width} wide"] if width > size["width"] else []
    return wide + someone.barriers()


def test_a_tablet_shows_what_matters_without_scrolling_aside(visit: Visit, sample_jobs: SampleJobs):
    someone = visit(sample_jobs.admin, viewport={"width": 768, "height": 1024})
    for path, columns in {
        "/": ("Time left", "Limited by", "Actions"),
        "/pending": ("Type", "Job", "Updated"),
        "/dead-letters": ("What went wrong", "Job", "Failed at"),
    }.items():
        someone.open(path)
        grid = someone.page.get_by_role("grid")
        for name in columns:
            expect(grid.get_by_role("columnheader", name=name, exact=True)).to_be_attached()
        assert grid.evaluate("grid => grid.scrollWidth <= grid.clientWidth"), path


def test_no_cell_of_the_workers_is_cut(visit: Visit, sample_jobs: SampleJobs):
    someone = visit(sample_jobs.admin)
    someone.open("/workers", "Workers")
    cell = someone.page.get_by_role("button", name=re.compile("^Drain")).locator("..")
    assert cell.evaluate("cell => cell.scrollWidth <= cell.clientWidth")


def test_a_job_that_ended_badly_does_not_look_done(visit: Visit, sample_jobs: SampleJobs):
    someone = visit(sample_jobs.admin)
    someone.open("/", "Jobs")
    row = someone.grid("Jobs").get_by_role("row").filter(has_text="Catalogue 2026")
    expect(row).to_contain_text("Finished with errors")
    someone.open(f"/jobs/{sample_jobs.every}")
    expect(someone.page.get_by_role("heading", level=1)).to_contain_text("Finished with errors")
    phone = visit(sample_jobs.admin, viewport=PHONE)
    phone.open("/", "Jobs")
    row = phone.grid("Jobs").get_by_role("row").filter(has_text="Catalogue 2026")
    expect(row).to_contain_text("With errors")


def test_the_login_is_open_to_everybody(visit: Visit):
    someone = visit(None, viewport=PHONE)
    someone.open("/login")
    someone.check_access()
    someone.page.get_by_role("button", name="Use a token instead").click()
    someone.check_access()


def test_the_navigation_of_a_phone_unfolds(visit: Visit, sample_jobs: SampleJobs):
    someone = visit(sample_jobs.admin, viewport=PHONE, has_touch=True)
    someone.open("/", "Jobs")
    link = someone.page.get_by_role("navigation").get_by_role("link", name="Settings")
    expect(link).not_to_be_visible()
    someone.page.get_by_role("button", name="Navigation").click()
    expect(link).to_be_visible()
    someone.check_access()
    link.click()
    someone.drawn("Settings")
    expect(link).not_to_be_visible()


def test_the_page_is_dark_where_the_system_is(visit: Visit, api: ApiServer):
    dark, light = (visit(api.user("owl"), color_scheme=scheme) for scheme in ("dark", "light"))
    for someone in (dark, light):
        someone.open("/", "Jobs")
    assert brightness(dark.page.evaluate(_BACKGROUND)) < 60
    assert brightness(light.page.evaluate(_BACKGROUND)) > 200


def test_the_chosen_colours_stay(visit: Visit, api: ApiServer):
    someone = visit(api.user("owl"), color_scheme="light")
    someone.open("/", "Jobs")
    page = someone.page
    page.get_by_role("button", name="Theme: system").click()
    page.get_by_role("button", name="Theme: light").click()
    expect(page.get_by_role("button", name="Theme: dark")).to_be_visible()
    page.reload()
    someone.drawn("Jobs")
    assert brightness(page.evaluate(_BACKGROUND)) < 60


LONG = f"stock_of_the_northern_warehouse_{'with_prices_' * 9}2026.csv"


def test_a_long_name_and_a_traceback_stay_in_their_boxes_on_a_phone(visit: Visit, api: ApiServer):
    caller = api.user("mender")
    sent = caller.upload((LONG, rows_csv(2, r2="raise")), handler="shop.price", key="id")
    job = sent.ok(202)["jobId"]
    assert caller.ended(job)["counts"]["error"] == 1
    (item,) = caller.items(job, statuses="ERROR")
    someone = visit(caller, viewport=PHONE)
    someone.open(f"/jobs/{job}")
    name = someone.page.get_by_role("heading", level=1).get_by_title(f"shop.price {LONG}")
    assert 2.5 < name.evaluate(_LINES) < 3.5
    someone.open(f"/jobs/{job}?tab=grid&item={item['id']}")
    attempt = someone.page.get_by_role("dialog").get_by_role("listitem").filter(has_text="shop.py:")
    trace = attempt.last.locator("pre")
    expect(trace).to_contain_text('raise ValueError(f"no price for {item.key}")')
    box, around = trace.bounding_box(), attempt.last.bounding_box()
    assert box is not None
    assert around is not None
    assert box["x"] + box["width"] < around["x"] + around["width"] <= PHONE["width"]
    # Its long line is reached by keys.
    trace.focus()
    assert trace.evaluate(
        "box => box === document.activeElement && box.scrollWidth > box.clientWidth"
    )
    someone.check_access()
