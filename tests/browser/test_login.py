"""Coming in and going out: by password, by token, and by the link that the server prints."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.kit.api_server import ApiServer
from tests.kit.browser import Visitor
from tests.kit.command import until

PASSWORD = "correct horse battery"


def _send(someone: Visitor, **fields: str) -> None:
    for label, text in fields.items():
        someone.page.get_by_label(label.capitalize(), exact=True).fill(text)
    someone.page.get_by_role("button", name="Log in", exact=True).click()


def test_a_password_leads_to_where_one_wanted_to_go(visit: Visit, api: ApiServer):
    api.user("pass", password=PASSWORD)
    someone = visit(None)
    someone.page.goto("/settings?tab=features")
    _send(someone, name="pass", password=PASSWORD)
    someone.drawn("Settings")
    expect(someone.page).to_have_url(re.compile(r"/settings\?tab=features$"))
    expect(someone.page.get_by_role("button", name="pass, user")).to_be_visible()


def test_a_token_lets_in_as_far_as_it_goes(visit: Visit, api: ApiServer):
    api.user("token")
    asked = {"user": "token", "role": "viewer"}
    someone = visit(None)
    someone.page.goto("/login")
    someone.page.get_by_role("button", name="Use a token instead").click()
    _send(someone, token=api.admin().post("/api/tokens", asked).ok(201)["token"])
    someone.drawn("Jobs")
    expect(someone.page.get_by_role("button", name="token, viewer")).to_be_visible()


def test_a_wrong_password_is_told(visit: Visit):
    someone = visit(None)
    someone.expects("401")
    someone.page.goto("/login")
    _send(someone, name="nobody", password="wrong")
    expect(someone.page.get_by_role("alert")).to_contain_text("password")
    expect(someone.page).to_have_url(re.compile("/login$"))


def test_a_login_that_is_not_needed_leads_on(visit: Visit, api: ApiServer):
    someone = visit(api.user("inside"))
    someone.open("/", "Jobs")
    someone.page.goto("/login?to=/settings")
    someone.drawn("Settings")


def test_a_session_that_ends_is_told(visit: Visit, api: ApiServer):
    caller = api.user("ended")
    someone = visit(caller)
    someone.expects("401")
    someone.open("/settings", "Settings")
    for token in caller.get("/api/tokens").ok()["items"]:
        api.admin().delete(f"/api/tokens/{token['id']}")
    someone.page.get_by_role("link", name="Jobs").click()
    someone.told("Your session has ended")
    expect(someone.page).to_have_url(re.compile(r"/login\?"))


def test_who_logs_out_is_gone(visit: Visit, api: ApiServer):
    someone = visit(api.user("leaver"))
    someone.open("/", "Jobs")
    someone.choose("leaver, user", "Log out")
    expect(someone.page).to_have_url(re.compile("/login"))
    someone.page.goto("/settings")
    expect(someone.page).to_have_url(re.compile("/login"))


@pytest.fixture
def link(tmp_path: Path) -> Iterator[str]:
    """What a server prints for the one who started it."""
    server = ApiServer(tmp_path)
    with server.project.start("serve", "--handlers", server.handlers, "--port", "0") as command:
        until(lambda: "/login/link?token=" in command.talk, what="the link")
        found = re.search(r"http://\S+/login/link\?token=\S+", command.talk)
        assert found
        yield found[0]


def test_the_printed_link_lets_in_once(link: str, visit: Visit):
    someone = visit(None, link.partition("/login")[0])
    someone.page.goto(link)
    someone.drawn("Jobs")
    expect(someone.page.get_by_role("button", name=", admin")).to_be_visible()
    other = visit(None, someone.url)
    other.page.goto(link)
    expect(other.page.get_by_role("alert")).to_contain_text("used before")
    other.check_access()
