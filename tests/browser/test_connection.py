"""The connection is lost and comes back: the page says so, and then shows what happened."""

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


def test_a_page_that_is_held_still_goes_on_when_told(visit: Visit, api: ApiServer):
    caller = api.user("patient")
    caller.done(rows_csv(1), name="Before")
    someone = visit(caller)
    someone.open("/", "Jobs")
    page = someone.page
    page.get_by_role("button", name="Live").click()
    held = page.get_by_role("banner").get_by_role("button", name="Paused")
    expect(held).to_be_visible()
    caller.done(rows_csv(1), name="Behind the back")
    held.click()
    expect(page.get_by_role("link", name="Behind the back").first).to_be_visible()
