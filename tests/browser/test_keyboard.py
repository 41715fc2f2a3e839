"""No hand leaves the keyboard."""

import re

from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.sample_jobs import SampleJobs


def test_jobs_are_found_opened_and_run_again_by_keys(visit: Visit, sample_jobs: SampleJobs):
    someone = visit(sample_jobs.admin)
    someone.open("/", "Jobs")
    page, keys = someone.page, someone.page.keyboard
    expect(page.get_by_role("link", name="Catalogue 2026").first).to_be_visible()
    keys.press("?")
    expect(page.get_by_role("dialog", name="Keyboard")).to_contain_text("Next row")
    keys.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    keys.press("/")
    keys.type("Catalogue")
    expect(page).to_have_url(re.compile("q=Catalogue"))
    expect(page.get_by_role("grid").get_by_role("row")).to_have_count(2)
    page.get_by_role("grid").focus()
    keys.press("j")
    keys.press("r")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("heading")).to_contain_text("5")
    keys.press("Escape")
    expect(dialog).to_have_count(0)
    keys.press("Enter")
    expect(page).to_have_url(re.compile(f"/jobs/{sample_jobs.every}"))
    expect(page.get_by_role("heading", level=1)).to_contain_text("Catalogue 2026")


def test_the_first_tab_leads_past_the_navigation(visit: Visit, sample_jobs: SampleJobs):
    someone = visit(sample_jobs.admin)
    someone.open("/settings", "Settings")
    someone.page.keyboard.press("Tab")
    expect(someone.page.get_by_role("link", name="Skip to content")).to_be_focused()
    someone.page.keyboard.press("Enter")
    expect(someone.main).to_be_focused()


def test_rows_of_the_grid_are_walked_selected_and_opened(visit: Visit, sample_jobs: SampleJobs):
    someone = visit(sample_jobs.admin)
    someone.open(f"/jobs/{sample_jobs.every}?tab=grid")
    page, keys = someone.page, someone.page.keyboard
    grid = page.get_by_role("tabpanel").get_by_role("grid")
    expect(grid.get_by_role("checkbox", name="Select", exact=True).nth(3)).to_be_visible()
    grid.focus()
    for key in ("j", "j", "j", "k", "x"):
        keys.press(key)
    expect(grid.get_by_role("row", selected=True)).to_have_attribute("aria-rowindex", "3")
    keys.press("r")
    expect(page.get_by_role("dialog").get_by_role("heading")).to_have_text("Run 1 item again?")
    keys.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    keys.press("Enter")
    drawer = page.get_by_role("dialog")
    expect(drawer).to_be_visible()
    keys.press("Escape")
    expect(drawer).to_have_count(0)


def test_rows_from_one_to_another_are_selected_at_once(visit: Visit, sample_jobs: SampleJobs):
    someone = visit(sample_jobs.admin)
    someone.open(f"/jobs/{sample_jobs.every}?tab=grid")
    page, keys = someone.page, someone.page.keyboard
    grid = page.get_by_role("tabpanel").get_by_role("grid")
    boxes = grid.get_by_role("checkbox", name="Select", exact=True)
    bar = page.get_by_role("status").filter(has_text="selected")
    boxes.nth(1).click()
    boxes.nth(5).click(modifiers=["Shift"])
    expect(bar).to_contain_text("5 rows selected")
    page.get_by_role("button", name="Clear").click()
    boxes.nth(0).click()
    grid.get_by_role("row").nth(3).click(modifiers=["Shift"], position={"x": 300, "y": 10})
    expect(bar).to_contain_text("3 rows selected")
    expect(page.get_by_role("dialog")).to_have_count(0)
    keys.press("j")
    keys.press("X")
    expect(bar).to_contain_text("4 rows selected")


def test_the_keys_that_are_listed_work_here(visit: Visit, sample_jobs: SampleJobs):
    someone = visit(sample_jobs.admin)
    listed = someone.page.get_by_role("dialog", name="Keyboard")
    someone.open(f"/review?item={sample_jobs.reviewed}", "Review")
    expect(someone.page.get_by_role("radio").first).to_be_visible()
    someone.page.keyboard.press("?")
    expect(listed).to_contain_text("→")
    expect(listed.get_by_text("Search")).to_have_count(0)
    keycaps = "() => [...document.querySelectorAll('dialog kbd')].map((key) => key.offsetWidth)"
    assert max(someone.page.evaluate(keycaps)) <= 64


def test_a_job_is_made_without_a_mouse(visit: Visit, sample_jobs: SampleJobs):
    someone = visit(sample_jobs.admin)
    someone.open("/jobs/new", "New job")
    page, keys = someone.page, someone.page.keyboard
    file = page.get_by_label("Choose a file")
    file.focus()
    file.set_input_files({"name": "r.csv", "mimeType": "text/csv", "buffer": b"id\n1\n"})
    expect(page.get_by_role("region", name="First rows")).to_be_visible()
    handler = page.get_by_label("Handler")
    handler.focus()
    keys.type("shop.price")
    expect(handler).to_have_value("shop.price")
    start = page.get_by_role("button", name="Start job")
    expect(start).to_be_enabled()
    start.focus()
    keys.press("Enter")
    expect(page).to_have_url(re.compile(r"/jobs/\d+$"))
