"""No hand leaves the keyboard."""

import re

from playwright.sync_api import expect

from tests.browser.conftest import Visit, World


def test_jobs_are_found_opened_and_run_again_by_keys(visit: Visit, world: World):
    someone = visit(world.admin)
    someone.open("/", "Jobs")
    page, keys = someone.page, someone.page.keyboard
    expect(page.get_by_role("link", name="Every outcome").first).to_be_visible()
    keys.press("?")
    expect(page.get_by_role("dialog", name="Keyboard")).to_contain_text("Next row")
    keys.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    keys.press("/")
    keys.type("Every out")
    expect(page).to_have_url(re.compile("q=Every"))
    expect(page.get_by_role("grid").get_by_role("row")).to_have_count(2)
    page.get_by_role("grid").focus()
    keys.press("j")
    keys.press("r")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("heading")).to_contain_text("2")
    keys.press("Escape")
    expect(dialog).to_have_count(0)
    keys.press("Enter")
    expect(page).to_have_url(re.compile(f"/jobs/{world.job}"))
    expect(page.get_by_role("heading", level=1)).to_contain_text("Every outcome")


def test_the_first_tab_leads_past_the_navigation(visit: Visit, world: World):
    someone = visit(world.admin)
    someone.open("/settings", "Settings")
    someone.page.keyboard.press("Tab")
    expect(someone.page.get_by_role("link", name="Skip to the content")).to_be_focused()
    someone.page.keyboard.press("Enter")
    expect(someone.main).to_be_focused()


def test_rows_of_the_grid_are_walked_selected_and_opened(visit: Visit, world: World):
    someone = visit(world.admin)
    someone.open(f"/jobs/{world.job}?tab=grid")
    page, keys = someone.page, someone.page.keyboard
    grid = page.get_by_role("tabpanel").get_by_role("grid")
    expect(grid.get_by_role("row").nth(3)).to_be_visible()
    grid.focus()
    keys.press("j")
    keys.press("j")
    keys.press("x")
    expect(grid.get_by_role("row", selected=True)).to_have_count(1)
    keys.press("Enter")
    drawer = page.get_by_role("dialog")
    expect(drawer).to_be_visible()
    keys.press("Escape")
    expect(drawer).to_have_count(0)


def test_a_job_is_made_without_a_mouse(visit: Visit, world: World):
    someone = visit(world.admin)
    someone.open("/jobs/new", "New job")
    page, keys = someone.page, someone.page.keyboard
    file = page.get_by_label("Choose a file")
    file.focus()
    file.set_input_files({"name": "r.csv", "mimeType": "text/csv", "buffer": b"id\n1\n"})
    expect(page.get_by_role("region", name="The first rows")).to_be_visible()
    handler = page.get_by_label("Handler")
    handler.focus()
    keys.type("shop.price")
    expect(handler).to_have_value("shop.price")
    start = page.get_by_role("button", name="Start the job")
    expect(start).to_be_enabled()
    start.focus()
    keys.press("Enter")
    expect(page).to_have_url(re.compile(r"/jobs/\d+$"))
