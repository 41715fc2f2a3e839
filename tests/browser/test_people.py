"""Who sees what: two users who must not see each other, and one who may only look."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.kit.api_server import ApiServer, rows_csv

LISTS = {"/review": "Review", "/pending": "Pending", "/dead-letters": "Dead letters"}


@pytest.fixture
def secret(api: ApiServer) -> str:
    """A job of Ann's with something for every list."""
    rows = rows_csv(3, r1="review", r2="fail").replace(b"name", b"annsecret")
    return api.user("ann").done(rows, name="Job of Ann")


def test_two_users_do_not_see_each_other(visit: Visit, api: ApiServer, secret: str):
    bob = visit(api.user("bob"))
    bob.expects("404")
    bob.open("/", "Jobs")
    expect(bob.page.get_by_role("heading", name="No jobs yet")).to_be_visible()
    for path, heading in LISTS.items():
        bob.open(path, heading)
        expect(bob.main).not_to_contain_text("annsecret")
        expect(bob.page.get_by_role("grid").get_by_role("gridcell")).to_have_count(0)
    item = api.user("ann").items(secret)[0]["id"]
    for path in (f"/jobs/{secret}", f"/items/{item}", f"/review?item={item}"):
        bob.page.goto(path)
        expect(bob.page.get_by_role("alert")).to_contain_text("Not found")
        expect(bob.page.get_by_role("main")).not_to_contain_text("annsecret")
    ann = visit(api.user("ann"))
    ann.open("/", "Jobs")
    expect(ann.page.get_by_role("link", name="Job of Ann").first).to_be_visible()


def test_a_viewer_looks_and_changes_nothing(visit: Visit, api: ApiServer, secret: str):
    watcher = api.user("ann")
    asked = {"user": "ann", "role": "viewer"}
    watcher.token = api.admin().post("/api/tokens", asked).ok(201)["token"]
    eve = visit(watcher)
    eve.open("/", "Jobs")
    expect(eve.page.get_by_role("link", name="Job of Ann").first).to_be_visible()
    expect(eve.page.get_by_role("button", name="New job")).to_have_count(0)
    expect(eve.page.get_by_role("button", name=re.compile("^Actions"))).to_have_count(0)
    eve.open("/jobs/new", "New job")
    expect(eve.page.get_by_role("heading", name="You have read-only access")).to_be_visible()
    eve.open("/review", "Review")
    expect(eve.page.get_by_text("read-only access")).to_be_visible()
    eve.page.keyboard.press("a")
    eve.open(f"/jobs/{secret}?tab=errors")
    deeds = re.compile("pause|resume|cancel|delete|retry|again|boost", re.IGNORECASE)
    expect(eve.main.get_by_role("button", name=deeds)).to_have_count(0)
    expect(eve.page.get_by_role("link", name="Workers")).to_have_count(0)
    assert api.user("ann").job(secret)["counts"]["review"] >= 1
