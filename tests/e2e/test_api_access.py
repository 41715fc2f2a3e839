"""Which users get access, with which role, and for how long."""

import hashlib
import json
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from tests.kit.api_server import ApiServer, Caller, rows_csv
from tests.kit.command import until
from tests.kit.sessions import Browser, cookie_of, log_in

pytestmark = pytest.mark.slow

PASSWORD = "correct horse battery"


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    """A server that logs its news: the log must keep a secret too."""
    with ApiServer(tmp_path_factory.mktemp("api"), log__level="info") as server:
        yield server


# ---- tokens -------------------------------------------------------------------------------------


@pytest.mark.parametrize("token", [None, "", "hg_wrong", "hg_" + "x" * 5_000, "é"])
def test_everything_needs_a_token(api: ApiServer, token: str | None):
    document = api.nobody().get("/api/openapi.json").ok()
    open_to_all = {"/healthz", "/readyz", "/metrics", "/api/login", "/api/session"}
    caller = Caller(api.url, token)
    checked = 0
    for path, methods in document["paths"].items():
        for method in methods if path not in open_to_all else ():
            real = re.sub(r"\{\w+\}", "1", path)
            headers = {"Authorization": f"Bearer {token}"} if token is not None else {}
            headers = {name: text.encode() for name, text in headers.items()}  # type: ignore[misc]
            answer = caller.ask(method.upper(), real, headers=headers)
            assert "***" not in answer.refused(401), "advice is not masked as a secret"
            assert answer.headers["WWW-Authenticate"] == "Bearer"
            checked += 1
    assert checked > 40


def test_a_token_is_kept_as_a_digest_and_shown_once(api: ApiServer):
    admin = api.admin()
    made = admin.post("/api/tokens", {"label": "ci"}).ok(201)
    secret = made["token"]
    assert secret.startswith("hg_")
    listed = [each for each in admin.get("/api/tokens").ok()["items"] if each["id"] == made["id"]]
    assert listed[0]["label"] == "ci"
    assert secret not in json.dumps(listed)
    assert Caller(api.url, secret).get("/api/me").ok()["name"] == "local"
    files = [path.read_bytes() for path in api.folder.glob("headgate.db*")]
    assert not any(secret.encode() in content for content in files)
    digest = hashlib.sha256(secret.encode()).hexdigest().encode()
    assert any(digest in content for content in files)
    assert secret not in api.talk


def test_a_revoked_token_is_refused(api: ApiServer):
    ann = api.user("revoked")
    (own,) = ann.get("/api/tokens").ok()["items"]
    assert ann.delete(f"/api/tokens/{own['id']}").status == 204
    ann.get("/api/me").refused(401, "revoked")
    api.admin().delete(f"/api/tokens/{own['id']}").refused(404)


def test_an_expired_token_is_refused(api: ApiServer):
    made = api.admin().post("/api/tokens", {"expiresInS": 0.2}).ok(201)
    assert made["expiresAt"]
    late = Caller(api.url, made["token"])
    until(lambda: late.get("/api/me").status == 401, what="the token to expire")
    for wrong in (0, -1, 1e12, "5", True):
        api.admin().post("/api/tokens", {"expiresInS": wrong}).refused(422, "expiresInS")


def test_a_disabled_user_can_no_longer_log_in(api: ApiServer):
    gone = api.user("gone", password=PASSWORD)
    session = Browser(api.url, log_in(api, name="gone", password=PASSWORD))
    assert session.get("/api/me").ok()["name"] == "gone"
    locked = {"disabled": True}
    assert api.admin().patch("/api/users/gone", locked).ok()["disabledAt"]
    gone.get("/api/me").refused(401)
    session.get("/api/me").refused(401)
    log_in(api, name="gone", password=PASSWORD).refused(401)
    assert api.admin().patch("/api/users/gone", {"role": "viewer"}).ok()["disabledAt"]
    log_in(api, name="gone", password=PASSWORD).refused(401)
    assert api.admin().patch("/api/users/gone", {"disabled": False}).ok()["disabledAt"] is None
    assert log_in(api, name="gone", password=PASSWORD).ok()["role"] == "viewer"
    gone.get("/api/me").refused(401)
    api.admin().patch("/api/users/nobody-of-that-name", locked).refused(404)
    api.admin().patch("/api/users/local", locked).refused(409, "your own account")


def test_a_token_is_never_more_than_its_user(api: ApiServer):
    chief = api.user("chief", "admin")
    assert chief.get("/api/users").status == 200
    assert api.admin().patch("/api/users/chief", {"role": "viewer"}).ok()["role"] == "viewer"
    assert chief.get("/api/me").ok()["role"] == "viewer"
    chief.get("/api/users").refused(403)
    chief.upload(("r.csv", rows_csv(1)), handler="shop.price").refused(403)
    api.admin().patch("/api/users/local", {"role": "user"}).refused(409)
    api.admin().patch("/api/users/no-such", {"role": "user"}).refused(404)


@pytest.mark.parametrize(
    "asked",
    [
        {"name": "../x"},
        {"name": ""},
        {"name": "a b"},
        {"name": "x" * 65},
        {"name": "ok", "role": "root"},
        {"name": "ok", "password": "short"},
        {"role": "user"},
    ],
)
def test_a_user_that_is_invalid_is_refused(api: ApiServer, asked: dict[str, Any]):
    api.admin().post("/api/users", asked).refused(422)


def test_a_name_is_taken_once(api: ApiServer):
    made = api.admin().post("/api/users", {"name": "once"}).ok(201)
    assert (made["name"], made["role"], made["hasPassword"]) == ("once", "user", False)
    api.admin().post("/api/users", {"name": "once"}).refused(409, "once")
    assert "once" in {user["name"] for user in api.admin().get("/api/users").ok()["items"]}


# ---- sessions -----------------------------------------------------------------------------------


def test_a_password_opens_a_session_that_a_page_of_ours_can_use(api: ApiServer):
    api.user("carol", password=PASSWORD)
    opened = log_in(api, name="carol", password=PASSWORD)
    assert opened.ok()["name"] == "carol"
    cookie = cookie_of(opened)
    assert cookie["httponly"]
    assert cookie["samesite"].lower() == "strict"
    assert int(cookie["max-age"]) == 12 * 3_600
    assert cookie["path"] == "/"
    browser = Browser(api.url, opened)
    me = browser.get("/api/me").ok()
    assert me["csrf"] == opened.json["csrf"]
    browser.upload(("r.csv", rows_csv(1)), handler="shop.price").refused(403, "X-CSRF-Token")
    browser.csrf = "0" * 64
    browser.upload(("r.csv", rows_csv(1)), handler="shop.price").refused(403, "X-CSRF-Token")
    browser.post("/api/logout").refused(403)
    browser.csrf = me["csrf"]
    assert browser.upload(("r.csv", rows_csv(1)), handler="shop.price").status == 202
    left = browser.post("/api/logout")
    assert left.status == 204
    assert cookie_of(left)["max-age"] == "0"
    browser.get("/api/me").refused(401)


def test_a_session_secret_is_not_a_token_and_a_token_no_session(api: ApiServer):
    api.user("dave", password=PASSWORD)
    browser = Browser(api.url, log_in(api, name="dave", password=PASSWORD))
    Caller(api.url, browser.cookie).get("/api/me").refused(401)
    browser.cookie = api.token
    browser.get("/api/me").refused(401)


def test_passwords_are_kept_by_scrypt(api: ApiServer):
    api.user("scrypt", password=PASSWORD)
    files = [path.read_bytes() for path in api.folder.glob("headgate.db*")]
    assert not any(PASSWORD.encode() in content for content in files)
    assert any(b"scrypt$32768$8$1$" in content for content in files)


def test_a_token_opens_a_session_with_its_own_rights(api: ApiServer):
    weak = api.admin().post("/api/tokens", {"role": "viewer"}).ok(201)["token"]
    opened = log_in(api, token=weak)
    assert opened.ok()["role"] == "viewer"
    browser = Browser(api.url, opened)
    assert browser.get("/api/me").ok()["role"] == "viewer"
    browser.get("/api/users").refused(403)


def test_a_session_ends_with_the_token_that_opened_it(api: ApiServer):
    made = api.admin().post("/api/tokens", {}).ok(201)
    browser = Browser(api.url, log_in(api, token=made["token"]))
    assert browser.get("/api/me").status == 200
    assert api.admin().delete(f"/api/tokens/{made['id']}").status == 204
    browser.get("/api/me").refused(401)


def test_logging_out_leaves_an_api_token_alone(api: ApiServer):
    caller = Caller(api.url, api.admin().post("/api/tokens", {}).ok(201)["token"])
    assert caller.post("/api/logout").status == 204
    assert caller.get("/api/me").status == 200


@pytest.mark.parametrize(
    "asked", [{}, {"name": "x"}, {"password": "x"}, {"name": "x", "password": 1}, {"more": 1}]
)
def test_a_login_that_says_too_little_is_refused(api: ApiServer, asked: dict[str, Any]):
    api.nobody().post("/api/login", asked).refused(422)


def test_the_login_link_works_once(tmp_path: Path):
    server = ApiServer(tmp_path)
    with server.project.start("serve", "--handlers", server.handlers, "--port", "0") as command:
        until(lambda: "/login/link?token=" in command.talk, what="the link")
        found = re.search(r"(http://127\.0\.0\.1:\d+)(/login/link\?token=\S+)", command.talk)
        assert found
        nobody = Caller(found[1], None)
        opened = nobody.get(found[2])
        assert (opened.status, opened.headers["Location"]) == (303, "/")
        assert Browser(found[1], opened).get("/api/me").ok()["role"] == "admin"
        nobody.get(found[2]).refused(401, "used before")
        nobody.get("/login/link?token=x").refused(401)
        nobody.get("/login/link").refused(422, "token")
        seen = nobody.ask("GET", found[2], headers={"Accept": "text/html"})  # by a person
        assert (seen.status, seen.headers["Location"]) == (303, "/login?link=used")
        os.kill(command.pid, signal.SIGTERM)
        ended = command.wait()
        assert ended.code == 0, ended.err
        assert ended.out == ""


def test_a_session_of_what_the_server_printed_outlives_it(tmp_path: Path):
    with ApiServer(tmp_path) as server:
        opened = log_in(server, token=server.token)
        made = server.admin().post("/api/tokens", {"user": "local", "role": "user"}).ok(201)
        by_token = log_in(server, token=made["token"])
        stopped = server.token
        server.stop()
        server.start()
        Caller(server.url, stopped).get("/api/me").refused(401)
        assert Browser(server.url, opened).get("/api/me").ok()["role"] == "admin"
        # Another token's session still ends with that token.
        assert Browser(server.url, by_token).get("/api/me").status == 200
        server.admin().delete(f"/api/tokens/{made['id']}").ok(204)
        Browser(server.url, by_token).get("/api/me").refused(401)


def test_the_token_of_a_server_that_was_killed_ends_by_itself(tmp_path: Path):
    with ApiServer(tmp_path) as server:
        killed = server.token
        (own,) = server.admin().get("/api/tokens").ok()["items"][:1]
        assert own["label"] == "headgate serve"
        assert own["expiresAt"] is not None
        far = {"X-Forwarded-For": "203.0.113.9", "Content-Type": "application/json"}
        from_far = server.admin().ask("POST", "/api/tokens", body=b"{}", headers=far).ok(201)
        server.kill()
        # Time passes for the dead server's token alone: its clock is the database's.
        database = apsw.Connection(str(tmp_path / "headgate.db"))
        database.execute("UPDATE tokens SET until_at = until_at - 60000000")
        database.close()
        server.start()
        Caller(server.url, killed).get("/api/me").refused(401)
        Caller(server.url, from_far["token"]).get("/api/me").refused(401)
        log_in(server, token=killed).refused(401)


def test_a_page_may_ask_whether_a_user_is_logged_in(api: ApiServer):
    assert api.nobody().get("/api/session").ok() == {"me": None}
    assert Caller(api.url, "hg_wrong").get("/api/session").ok() == {"me": None}
    assert api.admin().get("/api/session").ok()["me"]["name"] == "local"
    api.user("paged", password=PASSWORD)
    browser = Browser(api.url, log_in(api, name="paged", password=PASSWORD))
    assert browser.get("/api/session").ok()["me"] == browser.get("/api/me").ok()


def test_a_wrong_password_is_told_silently_of_tokens(api: ApiServer):
    said = log_in(api, name="nobody", password="wrong password").refused(401)
    assert said == "wrong name or password"
    assert log_in(api, token="hg_wrong").refused(401) == "the token is wrong"


# ---- every request ------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "localhost.evil.example", ""])
def test_other_names_are_refused(api: ApiServer, host: str):
    answer = api.admin().ask("GET", "/api/me", headers={"Host": host})
    answer.refused(421, "server.hosts")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:9", "[::1]:80"])
def test_loopback_and_plain_addresses_are_known(api: ApiServer, host: str):
    assert api.admin().ask("GET", "/api/me", headers={"Host": host}).status == 200


@pytest.mark.parametrize("path", ["/", "/api/me", "/api/nothing", "/healthz", "/nothing"])
def test_every_answer_has_security_headers(api: ApiServer, path: str):
    headers = api.admin().get(path).headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert "Access-Control-Allow-Origin" not in headers
    assert "Server" not in headers
    if path.startswith("/api"):
        assert headers["Cache-Control"] == "no-store"


def test_every_refusal_is_a_problem(api: ApiServer):
    admin = api.admin()
    for path in ("/api/nothing", "/assets/nothing.js", "/healthz/nothing"):
        admin.get(path).refused(404, path.rpartition("/")[2])
    wrong = admin.ask("PUT", "/api/jobs")
    wrong.refused(405, "PUT")
    assert wrong.headers["Allow"] == "GET, POST"
    admin.ask("POST", "/api/jobs", body=b"x").refused(415)
    admin.get("/api/jobs", pageSize=0).refused(422, "pageSize")
    admin.get("/api/jobs", pageSize="many").refused(422, "pageSize")
    admin.get("/api/jobs", after="rubbish").refused(400)
    huge = {"Content-Type": "multipart/form-data; boundary=x", "Content-Length": str(10**13)}
    admin.ask("POST", "/api/jobs", body=b"", headers=huge).refused(413, "upload_mb")


def test_health_and_figures(api: ApiServer):
    nobody = api.nobody()
    until(lambda: nobody.get("/readyz").status == 200, what="a worker")
    health = nobody.get("/healthz").ok()
    about = {"status", "version", "store", "workers", "claimable", "moving", "slowJobs"}
    assert health.keys() == {*about, "notRunning"}
    assert health["notRunning"] == []
    assert health["status"] == "ok"
    far = {"X-Forwarded-For": "203.0.113.9"}
    nobody.ask("GET", "/metrics", headers=far).refused(401)
    api.user("plain").ask("GET", "/metrics", headers={**far}).refused(403)
    assert api.admin().ask("GET", "/metrics", headers=far).status == 200
    figures = nobody.get("/metrics")  # from loopback
    assert figures.status == 200
    for name in ("headgate_queue_depth", "headgate_items_per_second", "headgate_workers"):
        assert name in figures.body.decode()
    assert "Headgate" in nobody.get("/").body.decode()


# ---- secrets ------------------------------------------------------------------------------------


def test_secrets_are_masked_wherever_they_are_shown(api: ApiServer):
    admin = api.admin()
    source = "https://ann:hunter2@127.0.0.1:9/x.csv?token=s3same&X-Amz-Signature=abc123def&page=4"
    config = {"password": "hunter3", "deep": {"api_key": "hunter4"}, "url": "ftp://u:hunter5@h/"}
    asked = {"handler": "shop.price", "source": source, "config": config}
    job = admin.ended(admin.post("/api/jobs", asked).ok(202)["jobId"])
    assert job["state"] == "FAILED"
    log = admin.get("/api/events/log", jobId=job["id"]).ok()
    listed = admin.get("/api/jobs", pageSize=5).ok()
    shown = json.dumps([job, log, listed]) + api.talk
    for secret in ("hunter2", "hunter3", "hunter4", "hunter5", "s3same", "abc123def"):
        assert secret not in shown, (secret, shown)
    assert job["source"].startswith("https://")
    assert job["config"]["password"] == "***"


def test_secrets_in_errors_of_handlers_are_masked_wherever_they_are_shown(api: ApiServer):
    admin = api.admin()
    config = json.dumps({"steps": [{"token": "hunter6"}], "key": "hunter6", "author": "Ann"})
    job_id = admin.send(rows_csv(1, r1="leak"), config=config)
    job = admin.ended(job_id)
    assert job["config"] == {"steps": [{"token": "***"}], "key": "***", "author": "Ann"}
    (item,) = admin.items(job_id)
    told = "ValueError: login failed: password=***, see /srv/shop.log"
    assert item["lastError"] == told
    asked = admin.post(f"/api/jobs/{job_id}/export", format="csv").ok(202)
    path = f"/api/jobs/{job_id}/exports/{asked['id']}"
    until(lambda: admin.get(path).status == 200, what="the export")
    assert told.encode() in admin.get(path).body
    for where in (
        path,
        f"/api/jobs/{job_id}",
        f"/api/items/{item['id']}",
        f"/api/items/{item['id']}/why",
        f"/api/jobs/{job_id}/errors",
        "/api/events/log",
        "/api/dead-letters",
    ):
        answer = admin.get(where)
        assert answer.status == 200
        assert b"hunter6" not in answer.body, answer.body
    assert "hunter6" not in api.talk
