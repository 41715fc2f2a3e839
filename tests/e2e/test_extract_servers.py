"""The shipped sources against servers that others wrote: the mirror equals their own database."""

from collections.abc import AsyncIterator, Iterator

import pytest

from headgate.core.json_types import JsonType
from headgate.core.mirror import Proof
from headgate.handlers.extract import shipped_source
from headgate.ports.mirrors import PassMode
from headgate.ports.store import Store
from headgate.stores.sqlite import SqliteStore
from tests.kit.datasette import DatasetteServer
from tests.kit.json_server import JsonServer
from tests.kit.kinto import KintoServer
from tests.kit.looker import LookerServer
from tests.kit.looker_content import KINDS
from tests.kit.stored_mirror import StoredMirror

pytestmark = pytest.mark.slow

ARTICLES = [
    {"id": number * 7, "title": f"Article {number}", "updated_at": f"2025-01-{1 + number % 28:02}"}
    for number in range(1, 2_051)
]
ISSUES = [
    {
        "id": 1_000 + number,
        "number": number,
        "created_at": f"2024-01-01T00:{number // 60:02}:{number % 60:02}Z",
        "updated_at": f"2025-01-01T00:{number // 60:02}:{number % 60:02}Z",
    }
    for number in range(1, 252)
]


@pytest.fixture
async def store(tmp_path) -> AsyncIterator[Store]:
    async with SqliteStore(tmp_path / "store.db") as opened:
        yield opened


def by_id(rows) -> dict[str, dict]:
    return {str(row["id"]): row for row in rows}


# ---- Datasette ------------------------------------------------------------------------------


@pytest.fixture
def datasette() -> Iterator[DatasetteServer]:
    DatasetteServer.need()
    with DatasetteServer(page_rows=100) as server:
        server.execute(
            "CREATE TABLE articles (id INTEGER PRIMARY KEY, title TEXT, updated_at TEXT)"
        )
        server.insert("articles", ARTICLES)
        yield server


async def test_a_mirror_of_datasette_equals_its_file_after_each_pass(datasette, store):
    mirror = StoredMirror(store, "datasette", url=datasette.url("/db"), size="100")
    first = (await mirror.extract())["rows"]
    assert await mirror.errors() == {}
    assert await mirror.bodies("rows") == by_id(datasette.rows("articles"))
    assert (first.proof, first.added, first.repeated) == (Proof.COVERED, len(ARTICLES), 0)
    datasette.execute(
        "DELETE FROM articles WHERE id % 5 = 0",
        "UPDATE articles SET title = 17 WHERE id = 14",
        "INSERT INTO articles VALUES (1, 'new', NULL)",
    )
    second = (await mirror.extract())["rows"]
    assert await mirror.bodies("rows") == by_id(datasette.rows("articles"))
    assert (second.proof, second.added, second.changed) == (Proof.COVERED, 1, 1)
    assert len(await mirror.stored("rows", deleted=True)) == len(ARTICLES) + 1


async def test_ranges_of_keys_cost_few_requests_beyond_the_pages(datasette, store):
    mirror = StoredMirror(store, "datasette", url=datasette.url("/db"), size="100")
    await mirror.extract()
    asked = [target for target in datasette.requests() if target.startswith("/db/articles.json")]
    assert len(asked) <= 2 * len(ARTICLES) // 100


async def test_a_field_that_changes_its_type_is_kept_with_both_types(datasette, store):
    mirror = StoredMirror(store, "datasette", url=datasette.url("/db"), size="100")
    await mirror.extract()
    before = (await mirror.fields("rows"))["updated_at"].types
    datasette.execute(
        "CREATE TABLE changed (id INTEGER PRIMARY KEY, title, updated_at)",
        "INSERT INTO changed SELECT id, title, id FROM articles",
        "DROP TABLE articles",
        "ALTER TABLE changed RENAME TO articles",
    )
    checkpoint = (await mirror.extract())["rows"]
    fields = await mirror.fields("rows")
    assert checkpoint.changed == len(ARTICLES)
    assert (before, fields["updated_at"].types) == (
        JsonType.STRING,
        JsonType.STRING | JsonType.INTEGER,
    )


# ---- json-server, in GitHub's words ----------------------------------------------------------


@pytest.fixture
def github() -> Iterator[JsonServer]:
    JsonServer.need()
    comments = [{"id": n, "body": f"comment {n}"} for n in range(4)]
    tables = {"issues": ISSUES, "pulls": ISSUES[:3], "releases": [], "comments": comments}
    with JsonServer(tables) as server:
        yield server


async def test_a_mirror_of_link_pages_equals_the_servers_file(github, store, monkeypatch):
    monkeypatch.setenv("GITHUB_TOKEN", "unused")
    source = {**shipped_source("github"), "values": {"owner": "me", "repo": "mine"}}
    source["client"] = {**source["client"], "base_url": github.url("/repos/{owner}/{repo}")}
    mirror = StoredMirror(store, source)
    first = await mirror.extract(streams=["issues", "pulls", "releases"])
    assert await mirror.errors() == {}
    assert await mirror.bodies("issues") == by_id(github.rows("issues"))
    assert await mirror.bodies("pulls") == by_id(github.rows("pulls"))
    assert {each.proof for each in first.values()} == {Proof.CHAINED}
    github.write("/issues/1001", "PATCH", {"updated_at": "2025-06-01T00:00:00Z", "title": "x"})
    second = (await mirror.extract(streams=["issues"]))["issues"]
    assert (second.mode, second.changed) == (PassMode.INCREMENTAL, 1)
    assert await mirror.bodies("issues") == by_id(github.rows("issues"))


# ---- Kinto ----------------------------------------------------------------------------------


@pytest.fixture
def kinto(monkeypatch) -> Iterator[KintoServer]:
    KintoServer.need()
    with KintoServer() as server:
        monkeypatch.setenv("KINTO_USER", server.user)
        monkeypatch.setenv("KINTO_PASSWORD", server.password)
        server.put("things", [{"id": f"thing-{n:04}", "number": n} for n in range(450)])
        yield server


async def test_a_mirror_of_kinto_follows_its_changes_and_deletions(kinto, store):
    values = {"url": kinto.url(), "bucket": kinto.bucket, "collection": "things"}
    mirror = StoredMirror(store, "kinto", **values)
    first = (await mirror.extract())["records"]
    assert await mirror.errors() == {}
    assert await mirror.bodies("records") == by_id(kinto.rows("things"))
    assert (first.proof, first.total) == (Proof.CHAINED, 450)
    kinto.put("things", [{"id": "thing-0007", "number": -7}, {"id": "new", "number": 1}])
    kinto.delete("things", "thing-0100", "thing-0101")
    second = (await mirror.extract())["records"]
    assert await mirror.errors() == {}
    assert second.mode is PassMode.INCREMENTAL
    assert await mirror.bodies("records") == by_id(kinto.rows("things"))
    third = (await mirror.extract(full=True))["records"]
    assert (third.mode, third.proof) == (PassMode.FULL, Proof.CHAINED)
    assert await mirror.bodies("records") == by_id(kinto.rows("things"))


async def test_an_incremental_pass_asks_for_no_more_than_what_changed(kinto, store):
    values = {"url": kinto.url(), "bucket": kinto.bucket, "collection": "things"}
    mirror = StoredMirror(store, "kinto", **values)
    await mirror.extract()
    before = len(kinto.requests())
    kinto.put("things", [{"id": "thing-0007", "number": -7}])
    await mirror.extract()
    assert len(kinto.requests()) - before <= 2


async def test_a_wrong_password_fails_the_pass_and_closes_nothing(kinto, store, monkeypatch):
    monkeypatch.setenv("KINTO_PASSWORD", "wrong")
    values = {"url": kinto.url(), "bucket": kinto.bucket, "collection": "things"}
    mirror = StoredMirror(store, "kinto", **values)
    checkpoint = (await mirror.extract())["records"]
    assert checkpoint.completed_at is None
    assert list(await mirror.errors()) == ["records/first"]


# ---- Looker ---------------------------------------------------------------------------------


@pytest.fixture
def looker(monkeypatch) -> Iterator[LookerServer]:
    with LookerServer(rows=130) as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        yield server


def without_rate(name: str) -> dict:
    """The shipped source without the rate of the real service, which tests need not wait for."""
    tree = shipped_source(name)
    client = {key: value for key, value in tree["client"].items() if key != "rate"}
    return {**tree, "client": client}


async def test_all_twelve_kinds_of_looker_are_mirrored_with_one_login_a_process(looker, store):
    mirror = StoredMirror(store, without_rate("looker"))
    found = await mirror.extract()
    assert await mirror.errors() == {}
    assert set(found) == set(KINDS)
    for kind, words in KINDS.items():
        bodies = await mirror.bodies(kind)
        assert bodies == {row[words.key]: row for row in looker.rows(kind)}, kind
    assert looker.logins == mirror.slices
    assert Proof.UNPROVEN not in {each.proof for each in found.values()}


async def test_only_changed_dashboards_are_asked_for_again(looker, store):
    mirror = StoredMirror(store, without_rate("looker"))
    await mirror.extract(streams=["dashboards"])
    changed = {**looker.rows("dashboards")[3], "title": "new", "updated_at": "2026-01-01T00:00:00"}
    looker.put("dashboards", changed)
    gone = looker.rows("dashboards")[9]["id"]
    looker.remove("dashboards", gone)
    before = len(looker.seen)
    checkpoint = (await mirror.extract(streams=["dashboards"]))["dashboards"]
    details = [each for each in looker.seen[before:] if "/search" not in each.request.path]
    assert [each.request.path.rpartition("/")[2] for each in details] == ["login", changed["id"]]
    assert checkpoint.proof is Proof.COVERED
    bodies = await mirror.bodies("dashboards")
    assert bodies == {row["id"]: row for row in looker.rows("dashboards")}
