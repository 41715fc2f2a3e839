"""The connection is lost and comes back: the page says so, and then shows what happened."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.kit.api_server import ApiServer, Caller, rows_csv
from tests.kit.ports import free_port


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
def own(tmp_path: Path, port: int) -> Iterator[ApiServer]:
    """A server of its own, which is killed."""
    server = ApiServer(tmp_path)
    server.start("--port", str(port))
    yield server
    server.command.kill()


def test_a_lost_connection_is_told_and_found_again(visit: Visit, own: ApiServer, port: int):
    someone = visit(own.admin(), own.url)
    someone.expects("net::ERR_|ERR_CONNECTION")
    someone.open("/", "Jobs")
    page = someone.page
    expect(page.get_by_role("button", name="Live")).to_be_visible()
    own.kill()
    expect(page.get_by_role("status").filter(has_text=re.compile(r"Stale for \d"))).to_be_visible()
    own.start("--port", str(port))
    caller = Caller(own.url, own.token)
    caller.done(rows_csv(3), name="Made meanwhile")
    expect(page.get_by_role("button", name="Live")).to_be_visible()
    expect(page.get_by_role("link", name="Made meanwhile").first).to_be_visible()


def test_what_is_clicked_without_a_network_fails_and_never_runs(visit: Visit, api: ApiServer):
    caller = api.user("offline")
    config = json.dumps({"gate": "/nowhere/at/all"})
    job = caller.send(b"id\n1\n", handler="shop.gated", config=config)
    caller.reached(job, "RUNNING")
    someone = visit(caller)
    someone.expects("net::ERR_|ERR_INTERNET|LoadFailure")
    someone.open(f"/jobs/{job}")
    page = someone.page
    pause = page.get_by_role("button", name="Pause", exact=True)
    expect(pause).to_be_enabled()
    page.context.set_offline(True)
    pause.click()
    expect(page.get_by_role("status").filter(has_text="does not answer")).to_be_visible()
    expect(pause).to_be_enabled()
    # A screen that was never loaded says why it is not there, and comes by itself.
    page.get_by_role("link", name="Review").click()
    expect(page.get_by_role("alert")).to_contain_text("cannot be reached")
    page.context.set_offline(False)
    someone.drawn("Review")
    assert caller.job(job)["state"] == "RUNNING"
    caller.post(f"/api/jobs/{job}/cancel").ok()


def test_a_page_of_another_version_loads_the_new_one(visit: Visit, api: ApiServer):
    someone = visit(api.user("upgraded"))
    someone.expects("404|LoadFailure")
    someone.open("/", "Jobs")
    page = someone.page
    # The names of a new version's files are others: the old ones are gone.
    page.route("**/assets/DeadLetters*", lambda route: route.fulfill(status=404, body="gone"))
    page.get_by_role("link", name="Dead letters").click()
    expect(page.get_by_role("alert")).to_contain_text("Headgate was updated")
    page.unroute_all()
    page.get_by_role("button", name="Reload").click()
    someone.drawn("Dead letters")


def test_a_page_that_is_held_still_continues_when_told(visit: Visit, api: ApiServer):
    caller = api.user("patient")
    caller.done(rows_csv(1), name="Before")
    someone = visit(caller)
    someone.open("/", "Jobs")
    page = someone.page
    page.get_by_role("button", name="Live").click()
    held = page.get_by_role("banner").get_by_role("button", name="Updates paused")
    expect(held).to_be_visible()
    caller.done(rows_csv(1), name="Behind the back")
    held.click()
    expect(page.get_by_role("link", name="Behind the back").first).to_be_visible()
