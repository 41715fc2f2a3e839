"""Access ends when it should, and guessing locks out only the guesser."""

import http.client
import json
import select
import stat
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.kit.answers import Answer as ServerAnswer
from tests.kit.answers import Request
from tests.kit.api_server import ApiServer, Caller
from tests.kit.command import until
from tests.kit.provider import Provider
from tests.kit.sessions import Browser, cookie_of, log_in

pytestmark = pytest.mark.slow

PASSWORD = "correct horse battery"
TRIES = 4
MOST_TOKENS = 8
SETTINGS = """
handlers = ["paid.toml"]
net.allow_private = true
[providers.paid]
hosts = ["127.0.0.1:PORT"]
credentials = { main = { file = "key" } }
"""
OPERATORS_OWN = """
name = "paid.lookup"
request.url = "http://127.0.0.1:PORT/own/{id}"
columns.shown = "shown"
"""


def echo(request: Request) -> ServerAnswer:
    shown = request.headers.get("authorization", "nothing")
    return ServerAnswer(200, body=json.dumps({"shown": shown}).encode())


@pytest.fixture(scope="module")
def paid() -> Iterator[Provider]:
    """A service that the operator has a key for, and that tells which key it was shown."""
    with Provider(echo) as provider:
        yield provider


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory, paid: Provider) -> Iterator[ApiServer]:
    folder = tmp_path_factory.mktemp("api")
    (folder / "headgate.toml").write_text(SETTINGS.replace("PORT", str(paid.port)))
    (folder / "paid.toml").write_text(OPERATORS_OWN.replace("PORT", str(paid.port)))
    (folder / "key").write_text("operator-key")
    most = {"server__login_tries": TRIES, "server__tokens_per_user": MOST_TOKENS}
    with ApiServer(folder, **most) as server:
        yield server


def browser_of(api: ApiServer, **asked: str) -> Browser:
    opened = log_in(api, **asked)
    browser = Browser(api.url, opened)
    browser.csrf = opened.ok()["csrf"]
    return browser


# ---- guessing -----------------------------------------------------------------------------------


def test_concurrent_guesses_are_limited_like_consecutive_ones(api: ApiServer):
    api.user("guessed", password=PASSWORD)

    def guess(number: int) -> int:
        return log_in(api, "203.0.113.1", name="guessed", password=f"wrong guess {number}").status

    with ThreadPoolExecutor(30) as threads:
        statuses = Counter(threads.map(guess, range(30)))
    assert statuses == {401: TRIES, 429: 30 - TRIES}
    slowed = log_in(api, "203.0.113.1", name="guessed", password=PASSWORD)
    slowed.refused(429, "try again", "token")
    assert 0 < int(slowed.headers["Retry-After"]) <= 300 / TRIES
    # The owner is elsewhere, and so are all others.
    log_in(api, "203.0.113.2", name="guessed", password=PASSWORD).ok()
    api.user("not-guessed", password=PASSWORD)
    log_in(api, "203.0.113.1", name="not-guessed", password=PASSWORD).ok()


def test_a_header_of_the_client_itself_does_not_change_its_address(api: ApiServer):
    for number in range(TRIES):
        forged = f"198.51.100.{number}, 203.0.113.3"
        log_in(api, forged, name="nobody", password="wrong guess").refused(401)
    log_in(api, "192.0.2.77, 203.0.113.3", name="nobody", password="wrong guess").refused(429)


def test_guesses_from_many_addresses_do_not_delay_a_login_from_a_known_one(api: ApiServer):
    api.user("as-always", password=PASSWORD)
    log_in(api, "203.0.113.5", name="as-always", password=PASSWORD).ok()
    where = urlsplit(api.url)
    with ExitStack() as stack:
        guesses = []
        for number in range(80):
            connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=60.0)
            stack.callback(connection.close)
            body = json.dumps({"name": f"guess{number}", "password": "wrong guess"})
            headers = {"Content-Type": "application/json"}
            headers["X-Forwarded-For"] = f"198.18.0.{number + 1}"
            connection.request("POST", "/api/login", body, headers)
            guesses.append(connection.sock)
        log_in(api, "203.0.113.5", name="as-always", password=PASSWORD).ok()
        answered, _, _ = select.select(guesses, [], [], 0.0)
    assert len(answered) < len(guesses) / 2


def test_wrong_tokens_do_not_lock_a_user_out(api: ApiServer):
    api.user("behind-it", password=PASSWORD)
    for _ in range(3 * TRIES):
        log_in(api, "203.0.113.4", token="hg_wrong").refused(401)
    log_in(api, "203.0.113.4", token=api.token).ok()
    log_in(api, "203.0.113.4", name="behind-it", password=PASSWORD).ok()


# ---- what ends with what ------------------------------------------------------------------------


def test_a_new_password_ends_sessions_and_tokens(api: ApiServer):
    token = api.user("renewed", password=PASSWORD)
    session = browser_of(api, name="renewed", password=PASSWORD)
    made = Caller(api.url, session.post("/api/tokens", {}).ok(201)["token"])
    assert made.get("/api/me").status == 200
    api.admin().patch("/api/users/renewed", {"password": "quite another horse"}).ok()
    for caller in (token, session, made):
        caller.get("/api/me").refused(401)
    log_in(api, name="renewed", password=PASSWORD).refused(401)
    log_in(api, name="renewed", password="quite another horse").ok()


def test_an_admin_with_a_new_password_stays_logged_in(api: ApiServer):
    api.user("chief", "admin", password=PASSWORD)
    here, elsewhere = (browser_of(api, name="chief", password=PASSWORD) for _ in range(2))
    here.patch("/api/users/chief", {"password": "quite another horse"}).ok()
    here.get("/api/me").ok()
    elsewhere.get("/api/me").refused(401)


def test_a_token_creates_no_token_that_outlives_it(api: ApiServer):
    lent = api.user("lender").post("/api/tokens", {"expiresInS": 3_600}).ok(201)
    caller = Caller(api.url, lent["token"])
    for asked in ({}, {"expiresInS": 7_200}):
        assert caller.post("/api/tokens", asked).ok(201)["expiresAt"] == lent["expiresAt"]
    shorter = caller.post("/api/tokens", {"expiresInS": 60}).ok(201)
    assert shorter["expiresAt"] < lent["expiresAt"]


def test_revoking_a_token_revokes_tokens_that_it_or_its_sessions_created(api: ApiServer):
    lender = api.user("revoker")
    lent = lender.post("/api/tokens", {}).ok(201)
    made = Caller(api.url, lent["token"]).post("/api/tokens", {}).ok(201)
    session = browser_of(api, token=lent["token"])
    in_session = session.post("/api/tokens", {}).ok(201)
    callers = [Caller(api.url, each["token"]) for each in (made, in_session)]
    assert [caller.get("/api/me").status for caller in callers] == [200, 200]
    lender.delete(f"/api/tokens/{lent['id']}").ok(204)
    for caller in (*callers, session):
        caller.get("/api/me").refused(401)
    lender.get("/api/me").ok()


def test_a_token_that_was_created_in_a_session_outlives_a_logout(api: ApiServer):
    api.user("leaver", password=PASSWORD)
    session = browser_of(api, name="leaver", password=PASSWORD)
    made = Caller(api.url, session.post("/api/tokens", {}).ok(201)["token"])
    assert session.post("/api/logout").status == 204
    session.get("/api/me").refused(401)
    made.get("/api/me").ok()


def test_viewers_make_no_tokens(api: ApiServer):
    api.user("watcher", "viewer").post("/api/tokens", {}).refused(403, "viewer")
    weak = api.admin().post("/api/tokens", {"role": "viewer"}).ok(201)["token"]
    Caller(api.url, weak).post("/api/tokens", {}).refused(403, "viewer")


def test_the_number_of_tokens_of_a_user_is_limited(api: ApiServer):
    hoarder = api.user("hoarder")
    for _ in range(MOST_TOKENS - 1):
        last = hoarder.post("/api/tokens", {}).ok(201)
    hoarder.post("/api/tokens", {}).refused(429, "Revoke one")
    hoarder.delete(f"/api/tokens/{last['id']}").ok(204)
    hoarder.post("/api/tokens", {}).ok(201)


# ---- streams ------------------------------------------------------------------------------------


@contextmanager
def listening(caller: Caller) -> Iterator[http.client.HTTPResponse]:
    parts = urlsplit(caller.url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
    try:
        connection.request("GET", "/api/events", headers=caller.headers)
        response = connection.getresponse()
        assert response.status == 200
        assert response.readline().startswith(b"id")
        yield response
    finally:
        connection.close()


@pytest.mark.parametrize("end", ["revoked", "disabled", "demoted", "password", "command"])
def test_a_stream_ends_with_the_right_to_hear_it(api: ApiServer, end: str):
    name = f"listener-{end}"
    role = "admin" if end == "demoted" else "user"
    caller = api.user(name, role)
    (token,) = caller.get("/api/tokens").ok()["items"] if role == "user" else (None,)
    changes: dict[str, Any] = {
        "disabled": {"disabled": True},
        "demoted": {"role": "user"},
        "password": {"password": PASSWORD},
    }
    with listening(caller) as stream:
        if end == "revoked":
            api.admin().delete(f"/api/tokens/{token['id']}").ok(204)
        elif end == "command":
            done = api.project.invoke("users", "revoke", token["id"])
            assert done.code == 0, done.err
        else:
            api.admin().patch(f"/api/users/{name}", changes[end]).ok()
        # A stream that goes on has a line every 15 s.
        until(lambda: not stream.readline(), what="the stream to end")


def test_a_stream_continues_while_the_right_does(api: ApiServer):
    caller = api.user("hearer")
    with listening(caller) as stream:
        api.admin().patch("/api/users/hearer", {"role": "user"}).ok()
        job_id = caller.post("/api/jobs", {"handler": "shop.price", "items": [{"id": "1"}]}).ok(
            202
        )["jobId"]
        caller.ended(job_id)
        until(lambda: b"DONE" in stream.readline(), what="the end of the job to be told")


# ---- cookies and passwords ----------------------------------------------------------------------


@pytest.mark.parametrize(("told", "secure"), [("https", True), ("http", False), ("", False)])
def test_a_cookie_is_secure_behind_https(api: ApiServer, told: str, *, secure: bool):
    body = f'{{"token": "{api.token}"}}'.encode()
    headers = {"Content-Type": "application/json", "X-Forwarded-Proto": told}
    opened = api.nobody().ask("POST", "/api/login", body=body, headers=headers)
    opened.ok()
    assert bool(cookie_of(opened)["secure"]) is secure
    assert cookie_of(opened)["httponly"]


@pytest.mark.parametrize("password", ["1234567890", " " * 10, "aaaaaaaaaaaa", "weak.name1"])
def test_a_password_that_is_guessed_soon_is_refused(api: ApiServer, password: str):
    admin = api.admin()
    said = admin.post("/api/users", {"name": "weak.name", "password": password}).refused(422)
    assert "four words" in said
    admin.patch("/api/users/weak.name", {"password": password}).refused(422, "four words")


# ---- keys of the operator -----------------------------------------------------------------------


def shown_to(caller: Caller, handler: str, **config: Any) -> str:
    """What the paid service was shown with the request of a job."""
    items = {"handler": handler, "items": [{"id": "1"}], "config": config}
    job = caller.ended(caller.post("/api/jobs", items).ok(202)["jobId"])
    assert job["counts"]["done"] == 1, job
    (item,) = caller.items(job["id"])
    shown: str = item["result"]["shown"]
    return shown


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_the_key_of_the_operator_is_not_sent_for_a_user(
    api: ApiServer, paid: Provider, method: str
):
    request = {"url": paid.url("/any/{id}"), "method": method}
    lookup = {"request": request, "columns": {"shown": "shown"}}
    user = api.user("curious")
    assert shown_to(user, "http.lookup", lookup=lookup) == "nothing"
    asked = {"handler": "http.lookup", "items": [{"id": "1"}]}
    named = {**asked, "config": {"lookup": {**lookup, "provider": "paid"}}}
    user.post("/api/jobs", named).refused(422, "paid", "operator", "for_users")
    assert shown_to(user, "paid.lookup") == "Bearer operator-key"
    assert shown_to(api.admin(), "http.lookup", lookup=lookup) == "Bearer operator-key"


# ---- files --------------------------------------------------------------------------------------


def test_others_on_the_machine_can_read_nothing_of_the_server(api: ApiServer):
    files = [*api.folder.glob("headgate.db*"), api.data]
    assert len(files) >= 3
    assert {path.name: stat.S_IMODE(path.stat().st_mode) & 0o077 for path in files} == {
        path.name: 0 for path in files
    }
