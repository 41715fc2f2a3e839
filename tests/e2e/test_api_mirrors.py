"""Mirrors over HTTP: passes begin, go on and end; users see and forget only their own."""

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.kit.api_server import ApiServer, Caller
from tests.kit.command import until
from tests.kit.listing_service import SOURCE, ListingService, book

pytestmark = pytest.mark.slow
SECRET = "ninety-nine-luftballons"


class Place(NamedTuple):
    mirror: str
    streams: dict[str, str]
    first: str
    second: str

    def path(self, verb: str, stream: str = "books") -> str:
        return f"/api/mirrors/{self.mirror}/streams/{self.streams[stream]}/{verb}"


@pytest.fixture(scope="module")
def service() -> Iterator[ListingService]:
    with ListingService() as service:
        yield service


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SHOP_SECRET", SECRET)
        with ApiServer(tmp_path_factory.mktemp("api"), net__allow_private="true") as server:
            yield server


def source_at(url: str, **client: Any) -> dict[str, Any]:
    tree = tomllib.loads(SOURCE.replace("URL", url))
    return {**tree, "client": {**tree["client"], **client}}


def begun(caller: Caller, path: str = "/api/mirrors", **body: Any) -> str:
    """Begin a pass, and return its id once it is DONE."""
    job: str = caller.post(path, body).ok(202)["jobId"]
    assert caller.ended(job)["state"] == "DONE"
    return job


@pytest.fixture(scope="module")
def shop(api: ApiServer, service: ListingService) -> Place:
    """A mirror of the operator with two passes: one book changed, one came, one went."""
    admin = api.admin()
    first = begun(admin, source=source_at(service.url("")), name="shop")
    service.books[7] = book(7, day=2, title="Another title")
    service.books[101] = book(101, day=2)
    del service.books[8]
    (mirror,) = admin.get("/api/mirrors").ok()["items"]
    second = begun(admin, f"/api/mirrors/{mirror['id']}/passes", full=True)
    streams = {each["name"]: each["id"] for each in mirror["streams"]}
    return Place(mirror["id"], streams, first, second)


def test_a_mirror_is_listed_with_its_streams_and_its_newest_pass(admin: Caller, shop: Place):
    found = admin.get(f"/api/mirrors/{shop.mirror}").ok()
    assert (found["name"], found["owner"]) == ("shop", "local")
    assert {each["name"]: each["live"] for each in found["streams"]} == {"books": 100, "authors": 2}
    assert found["newest"]["id"] == shop.second
    assert found["source"]["resources"][0]["name"] == "books"
    (listed,) = admin.get("/api/mirrors").ok()["items"]
    assert listed == {name: found[name] for name in listed}


def test_a_pass_shows_how_each_stream_is_proven(admin: Caller, shop: Place):
    found = admin.get(f"/api/passes/{shop.second}").ok()
    by_stream = {each["stream"]: each for each in found["checkpoints"]}
    assert {name: each["proof"] for name, each in by_stream.items()} == {
        "books": "covered",
        "authors": "chained",
    }
    books = by_stream["books"]
    assert (books["added"], books["changed"], books["unchanged"]) == (1, 1, 98)
    assert found["job"]["state"] == "DONE"
    path = f"/api/mirrors/{shop.mirror}/passes"
    assert [each["id"] for each in admin.pages(path, pageSize=1)] == [shop.second, shop.first]


def test_the_report_of_a_pass_tells_its_sessions_and_requests(admin: Caller, shop: Place):
    report = admin.get(f"/api/passes/{shop.first}/report").ok()
    (session,) = report["sessions"]
    assert session["rows"] >= 102
    assert session["rowsPerS"] > session["pagesPerS"] > 0
    assert session["workerCount"] >= 1
    assert report["requests"] >= 11
    assert (report["refusals"], report["lastRefusalAt"], report["errorsByWorker"]) == (0, None, [])
    assert report["successesSinceRefusal"] == report["requests"]
    assert report["backoffMultiplier"] == 1


def test_rows_are_read_page_by_page_and_the_deleted_ones_on_request(admin: Caller, shop: Place):
    rows = admin.pages(shop.path("rows"), pageSize=40)
    assert [each["rowId"] for each in rows[:3]] == ["1", "2", "3"]
    assert (len(rows), "8" in {each["rowId"] for each in rows}) == (100, False)
    everything = admin.pages(shop.path("rows"), deleted="true")
    (gone,) = [each for each in everything if each["deletedAt"]]
    assert (gone["rowId"], gone["body"]["title"]) == ("8", "Book 8")
    cursor = admin.get(shop.path("rows"), pageSize=1).ok()["next"]
    admin.get(shop.path("rows"), deleted="true", after=cursor).refused(400)
    admin.get(shop.path("rows"), page=2).refused(400)


def test_a_row_has_the_history_of_its_changes(admin: Caller, shop: Place):
    row = admin.get(shop.path("row"), id="7").ok()
    assert row["body"]["title"] == "Another title"
    (change,) = row["changes"]
    assert (change["kind"], change["passId"]) == ("changed", shop.second)
    assert change["before"]["title"] == "Book 7"
    assert admin.pages(shop.path("changes")) == [change]
    admin.get(shop.path("row"), id="no such row").refused(404)


def test_two_passes_are_compared(admin: Caller, shop: Place):
    query = {"from": shop.first, "to": shop.second}
    found = admin.pages(shop.path("differences"), pageSize=1, **query)
    assert {each["rowId"]: each["kind"] for each in found} == {
        "7": "changed",
        "8": "deleted",
        "101": "added",
    }
    changed = next(each for each in found if each["kind"] == "changed")
    assert changed["fields"] == ["title", "updated_at"]
    admin.get(shop.path("differences"), **{"from": shop.second, "to": shop.first}).refused(422)
    admin.get(shop.path("differences"), **{"from": shop.first, "to": "999"}).refused(404)


def test_fields_have_their_types(admin: Caller, shop: Place):
    fields = admin.get(shop.path("fields")).ok()["items"]
    types = {each["name"]: each["types"] for each in fields}
    assert types == {"id": ["integer"], "title": ["string"], "updated_at": ["string"]}


def test_a_failed_page_is_retried_as_an_item(admin: Caller, service: ListingService):
    service.refused.update(range(15, 25))
    job = begun(admin, source=source_at(service.url("")), name="broken", streams=["books"])
    shown = admin.get(f"/api/passes/{job}").ok()
    assert shown["checkpoints"][0]["completedAt"] is None
    assert admin.get(f"/api/passes/{job}/report").ok()["errorsByWorker"]
    assert len(admin.items(job, statuses="ERROR")) == 1
    service.refused.clear()
    admin.post(f"/api/jobs/{job}/reprocess", {"scope": "job", "resetAttempts": True}).ok()

    def complete() -> bool:
        return bool(admin.get(f"/api/passes/{job}").ok()["checkpoints"][0]["completedAt"])

    until(complete, what="the checkpoint to be complete")


def test_an_unfinished_pass_goes_on_instead_of_a_second_one(admin: Caller, service: ListingService):
    service.open.clear()
    try:
        body = {"source": source_at(service.url("")), "name": "slow", "streams": ["books"]}
        first = admin.post("/api/mirrors", body).ok(202)
        second = admin.post("/api/mirrors", body).ok(202)
        assert (second["jobId"], second["resumed"]) == (first["jobId"], True)
        assert admin.post(f"/api/jobs/{first['jobId']}/pause").ok()["state"] == "PAUSED"
        admin.delete(f"/api/mirrors/{first['mirrorId']}").refused(409, "cancel")
        assert admin.post(f"/api/jobs/{first['jobId']}/resume").ok()["state"] != "PAUSED"
        assert admin.post(f"/api/jobs/{first['jobId']}/cancel").ok()["state"] == "CANCELLED"
        assert admin.delete(f"/api/mirrors/{first['mirrorId']}").ok()["done"]
        admin.get(f"/api/mirrors/{first['mirrorId']}").refused(404)
    finally:
        service.open.set()


@pytest.mark.parametrize(
    "auth",
    [
        {"auth": {"type": "bearer", "token": {"env": "SHOP_SECRET"}}},
        {"auth": {"type": "bearer", "token": "{env.SHOP_SECRET}"}},
        {"auth": {"type": "bearer", "token": {"file": "/etc/hostname"}}},
        {
            "auth": {
                "type": "http_basic",
                "username": "u",
                "password": {"env": "SHOP_SECRET"},
            }
        },
        {"auth": {"type": "login", "url": "/l", "form": {"a": {"env": "SHOP_SECRET"}}}},
        {"headers": {"X-Key": "{env.SHOP_SECRET}"}},
    ],
    ids=["env", "template", "file", "basic", "login", "header"],
)
def test_a_users_source_cannot_name_secrets_of_the_server(api: ApiServer, auth: dict[str, Any]):
    ann = api.user("ann")
    source = source_at("https://api.example.org", **auth)
    told = ann.post("/api/mirrors", {"source": source, "name": "mine"})
    assert SECRET not in told.refused(422, "users cannot read")
    assert ann.get("/api/mirrors").ok()["items"] == []


def test_a_secret_in_the_address_of_a_users_source_is_refused(api: ApiServer):
    source = source_at("https://{env.SHOP_SECRET}.example.org")
    told = api.user("ann").post("/api/mirrors", {"source": source, "name": "mine"})
    assert SECRET not in told.refused(422, "users cannot read")


def test_a_shipped_source_with_secrets_is_for_the_operator(api: ApiServer):
    body = {"source": "github", "set": {"owner": "o", "repo": "r"}}
    api.user("ann").post("/api/mirrors", body).refused(422, "GITHUB_TOKEN")


def test_a_source_at_a_private_address_is_refused(tmp_path: Path):
    with ApiServer(tmp_path) as strict:
        for caller in (strict.admin(), strict.user("ann")):
            for host in ("http://127.0.0.1:1", "http://localhost", "http://10.0.0.1"):
                body = {"source": source_at(host), "name": "mine"}
                caller.post("/api/mirrors", body).refused(422, "not public")
            assert caller.get("/api/mirrors").ok()["items"] == []


def test_a_pass_is_not_made_as_an_ordinary_job(api: ApiServer):
    ann = api.user("ann")
    source = source_at("https://api.example.org", auth={"type": "bearer", "token": {"env": "A"}})
    body = {"handler": "extract", "config": {"source": source}, "items": [{"stream": "books"}]}
    ann.post("/api/jobs", body).refused(422, "not found")
    ann.post("/api/queues/q/items", {"handler": "extract", "items": [{}]}).refused(422, "not found")
    assert "extract" not in {each["name"] for each in ann.get("/api/handlers").ok()["items"]}


def test_wrong_sources_and_options_are_refused_with_what_is_wrong(admin: Caller):
    source = source_at("https://api.example.org")
    admin.post("/api/mirrors", {"source": {**source, "cleint": {}}}).refused(422, "client")
    admin.post("/api/mirrors", {"source": "nope"}).refused(422, "nope")
    wrong = {"source": source, "name": "x", "streams": ["nope"]}
    admin.post("/api/mirrors", wrong).refused(422, "books, authors")
    both = {"source": source, "name": "x", "full": True, "since": "2026"}
    admin.post("/api/mirrors", both).refused(422, "leave out one")
    admin.post("/api/mirrors", {"name": "x"}).refused(422, "source")


def test_users_neither_see_nor_change_the_mirrors_of_others(api: ApiServer, shop: Place):
    ann = api.user("ann")
    assert ann.get("/api/mirrors").ok()["items"] == []
    paths = [
        f"/api/mirrors/{shop.mirror}",
        f"/api/mirrors/{shop.mirror}/passes",
        f"/api/passes/{shop.first}",
        f"/api/passes/{shop.first}/report",
        *map(shop.path, ("rows", "changes", "fields", "row?id=7")),
        shop.path(f"differences?from={shop.first}&to={shop.second}"),
    ]
    for path in paths:
        ann.get(path).refused(404)
        api.nobody().get(path).refused(401)
        api.admin().get(path).ok()
    ann.delete(f"/api/mirrors/{shop.mirror}").refused(404)
    ann.post(f"/api/mirrors/{shop.mirror}/passes", {}).refused(404)


def test_viewers_read_and_change_nothing(api: ApiServer, shop: Place):
    eve = api.user("eve", "viewer")
    eve.post("/api/mirrors", {"source": "datasette"}).refused(403)
    eve.post(f"/api/mirrors/{shop.mirror}/passes", {}).refused(403)
    eve.delete(f"/api/mirrors/{shop.mirror}").refused(403)


@pytest.mark.parametrize("wrong", ["0", "-1", "x", "9" * 30, "01", "%00", "999999"])
def test_an_unknown_or_malformed_id_is_not_found(admin: Caller, shop: Place, wrong: str):
    for path in (
        f"/api/mirrors/{wrong}",
        f"/api/mirrors/{wrong}/passes",
        f"/api/passes/{wrong}",
        f"/api/mirrors/{shop.mirror}/streams/{wrong}/rows",
        f"/api/mirrors/{wrong}/streams/{shop.streams['books']}/rows",
    ):
        admin.get(path).refused(404)


def test_a_stream_belongs_to_its_mirror(admin: Caller, shop: Place, service: ListingService):
    other = admin.post(
        "/api/mirrors",
        {"source": source_at(service.url("")), "name": "other", "streams": ["authors"]},
    ).ok(202)
    admin.ended(other["jobId"])
    admin.get(f"/api/mirrors/{other['mirrorId']}/streams/{shop.streams['books']}/rows").refused(404)
    query = {"from": shop.first, "to": other["jobId"]}
    admin.get(shop.path("differences"), **query).refused(404, "another mirror")


def test_secrets_are_neither_stored_nor_shown(api: ApiServer, service: ListingService, shop: Place):
    """Passes without a secret ran over the same host before: each source has its own."""
    del shop
    admin = api.admin()
    auth = {"type": "bearer", "token": {"env": "SHOP_SECRET"}}
    source = source_at(service.url(""), auth=auth)
    job = begun(admin, source=source, name="secret", streams=["authors"])
    assert any(SECRET in each.request.headers.get("authorization", "") for each in service.seen)
    shown = [admin.get(path).ok() for path in (f"/api/passes/{job}", "/api/mirrors")]
    assert SECRET not in json.dumps(shown)
    stored = [path for path in Path(api.folder).rglob("*") if path.is_file()]
    assert not [path for path in stored if SECRET.encode() in path.read_bytes()]
