"""Mirrors in the browser: proofs, history, differences, and control of passes."""

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import Visit
from tests.browser.sample_jobs import SampleJobs
from tests.browser.sample_mirrors import again, mirrored
from tests.kit.api_server import ApiServer
from tests.kit.browser import Visitor
from tests.kit.record_shop import RecordShop


@pytest.fixture
def shop() -> Iterator[RecordShop]:
    with RecordShop() as running:
        yield running


def row_of(visitor: Visitor, grid: str, text: str) -> Locator:
    return visitor.grid(grid).get_by_role("row").filter(has_text=text)


def test_a_mirror_shows_the_proof_of_each_stream(visit: Visit, sample_jobs: SampleJobs):
    someone = visit(sample_jobs.admin)
    someone.open("/mirrors", "Mirrors")
    expect(row_of(someone, "Mirrors", "records").first).to_contain_text("2 of 3 complete")
    someone.open(f"/mirrors/{sample_jobs.mirrors.mirror}")
    for stream, proof in {
        "artists": "Covered",
        "releases": "Counted",
        "reviews": "Incomplete",
    }.items():
        expect(row_of(someone, "Streams", stream)).to_contain_text(proof)
    row_of(someone, "Streams", "artists").click()
    someone.drawn("artists of records")


def test_a_pass_shows_its_sessions_and_requests(visit: Visit, sample_jobs: SampleJobs):
    mirrors = sample_jobs.mirrors
    someone = visit(sample_jobs.admin)
    someone.open(f"/mirrors/{mirrors.mirror}?tab=passes")
    row_of(someone, "Passes", "Proven").first.click()
    drawer = someone.page.get_by_role("dialog", name=f"Pass {mirrors.second}")
    cells = drawer.get_by_role("table").get_by_role("row").nth(1).get_by_role("cell")
    report = sample_jobs.admin.get(f"/api/passes/{mirrors.second}/report").ok()
    (session,) = report["sessions"]
    expect(cells.nth(1)).to_have_text(str(session["workerCount"]))
    expect(cells.nth(2)).to_have_text(str(session["pages"]))
    drawer.get_by_role("link", name="Compare with the pass before").click()
    expect(someone.grid("Differences").get_by_role("row").nth(1)).to_be_visible()


def test_a_row_shows_what_changed_and_when(visit: Visit, sample_jobs: SampleJobs):
    mirrors = sample_jobs.mirrors
    someone = visit(sample_jobs.admin)
    someone.open(f"/mirrors/{mirrors.mirror}/streams/{mirrors.stream}")
    someone.page.get_by_label("Row id").fill("3")
    someone.page.keyboard.press("Enter")
    history = someone.page.get_by_role("dialog", name="Row 3").locator("ol").get_by_role("listitem")
    expect(history).to_have_count(2)
    expect(history.first).to_contain_text("Changed")
    expect(history.first.locator("del")).to_have_text("111")
    expect(history.first.locator("ins")).to_have_text("1111")
    someone.page.keyboard.press("j")
    expect(someone.page.get_by_role("dialog", name="Row 4")).to_be_visible()


def test_deleted_rows_are_listed_only_when_asked_for(visit: Visit, sample_jobs: SampleJobs):
    mirrors = sample_jobs.mirrors
    someone = visit(sample_jobs.admin, viewport={"width": 1280, "height": 2000})
    someone.open(f"/mirrors/{mirrors.mirror}/streams/{mirrors.stream}")
    expect(row_of(someone, "Rows of artists", "Artist 20")).to_be_visible()
    expect(row_of(someone, "Rows of artists", "Artist 21")).to_have_count(0)
    someone.page.get_by_label("Show deleted").check()
    expect(row_of(someone, "Rows of artists", "Artist 21")).to_contain_text("Deleted")


def test_two_passes_are_compared(visit: Visit, sample_jobs: SampleJobs):
    mirrors = sample_jobs.mirrors
    someone = visit(sample_jobs.admin)
    someone.open(f"/mirrors/{mirrors.mirror}?tab=differences")
    expect(someone.page.get_by_role("heading", name="No differences")).to_be_visible()
    someone.page.get_by_label("Older pass").select_option(mirrors.first)
    grid = someone.grid("Differences")
    for kind, count in {"Changed": 6, "Deleted": 2, "Added": 3}.items():
        expect(grid.get_by_role("row").filter(has_text=kind)).to_have_count(count)
    grid.get_by_role("row").filter(has_text="label").click()
    drawer = someone.page.get_by_role("dialog", name="Row 8")
    expect(drawer.locator("ins")).to_have_text("River Records")


def test_a_described_source_is_mirrored(visit: Visit, api: ApiServer, shop: RecordShop):
    caller = api.user("founder")
    someone = visit(caller)
    someone.open("/mirrors", "Mirrors")
    page = someone.page
    page.get_by_role("button", name="New mirror…").click()
    page.get_by_label("Source").fill('{"client": ')
    page.get_by_role("button", name="Begin first pass").click()
    expect(page.get_by_role("alert")).to_contain_text("not a JSON object")
    page.get_by_label("Source").fill(json.dumps(shop.source()))
    page.get_by_label("Name").fill("my records")
    page.get_by_role("button", name="Begin first pass").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("my records")
    expect(someone.main).to_contain_text("Proven")
    (mirror,) = caller.get("/api/mirrors").ok()["items"]
    assert {each["name"]: each["live"] for each in mirror["streams"]}["artists"] == 120


def test_retried_pages_complete_their_stream(visit: Visit, api: ApiServer, shop: RecordShop):
    caller = api.user("collector")
    shop.broken = {50}
    mirror, first = mirrored(caller, shop)
    someone = visit(caller)
    someone.open(f"/mirrors/{mirror}?tab=failed")
    expect(someone.grid("Failed pages")).to_contain_text("reviews/offset=50")
    shop.broken = set()
    someone.page.get_by_role("button", name="Retry all failed pages").click()
    someone.page.get_by_label("Reset attempt count").check()
    someone.page.get_by_role("button", name="Run 1 again").click()
    someone.told("1 page queued to run again.")
    # No reload: the end of the pass arrives as a message.
    expect(someone.main).to_contain_text("Proven")
    expect(someone.page.get_by_role("heading", name="No failed pages")).to_be_visible()
    assert caller.job(first)["counts"]["error"] == 0


def test_an_interrupted_pass_continues(visit: Visit, api: ApiServer, shop: RecordShop):
    caller = api.user("keeper")
    shop.broken = {50}
    mirror, first = mirrored(caller, shop)
    shop.broken = set()
    someone = visit(caller)
    someone.open(f"/mirrors/{mirror}")
    someone.page.get_by_role("button", name="Continue pass…").click()
    someone.page.get_by_role("dialog").get_by_role("button", name="Continue pass").click()
    someone.told(f"Pass {first} continues.")
    expect(someone.main).to_contain_text("Proven")


def test_a_pass_is_begun_paused_resumed_and_cancelled(
    visit: Visit, api: ApiServer, shop: RecordShop
):
    caller = api.user("conductor")
    mirror, _first = mirrored(caller, shop)
    shop.open = False
    someone = visit(caller)
    someone.open(f"/mirrors/{mirror}")
    page = someone.page
    page.get_by_role("button", name="New pass…").click()
    page.get_by_label("Full pass").check()
    page.get_by_role("checkbox", name="artists").check()
    page.get_by_role("button", name="Begin pass").click()
    page.get_by_role("button", name="Pause").click()
    someone.told("Pass paused.")
    page.get_by_role("button", name="Resume").click()
    someone.told("Pass resumed.")
    page.get_by_role("button", name="Cancel pass…").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel 1 page").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Cancelled")
    newest = caller.get(f"/api/mirrors/{mirror}").ok()["newest"]
    assert [each["stream"] for each in newest["checkpoints"]] == ["artists"]
    assert newest["job"]["state"] == "CANCELLED"


def test_a_viewer_sees_mirrors_and_changes_nothing(visit: Visit, api: ApiServer, shop: RecordShop):
    owner = api.user("archivist")
    mirror, _first = mirrored(owner, shop)
    again(owner, mirror)
    viewer = api.user("archivist")
    asked = {"user": "archivist", "role": "viewer"}
    viewer.token = api.admin().post("/api/tokens", asked).ok(201)["token"]
    someone = visit(viewer)
    someone.open(f"/mirrors/{mirror}")
    expect(row_of(someone, "Streams", "artists")).to_be_visible()
    expect(someone.main.get_by_role("button")).to_have_count(0)


def test_a_mirror_of_another_user_is_not_found(visit: Visit, api: ApiServer, shop: RecordShop):
    mirror, _first = mirrored(api.user("owner"), shop)
    other = visit(api.user("stranger"))
    other.expects("404")
    other.open("/mirrors", "Mirrors")
    expect(other.page.get_by_role("heading", name="No mirrors yet")).to_be_visible()
    other.page.goto(f"/mirrors/{mirror}")
    expect(other.page.get_by_role("alert")).to_contain_text("Not found")


def test_a_forgotten_mirror_is_gone(visit: Visit, api: ApiServer, shop: RecordShop):
    caller = api.user("forgetter")
    mirror, _first = mirrored(caller, shop)
    someone = visit(caller)
    someone.open(f"/mirrors/{mirror}")
    someone.choose("Actions", "Forget mirror…")
    someone.page.get_by_role("button", name="Forget 640 rows").click()
    someone.drawn("Mirrors")
    expect(someone.page.get_by_role("heading", name="No mirrors yet")).to_be_visible()
    assert caller.get("/api/mirrors").ok()["items"] == []
