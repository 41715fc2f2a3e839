"""Each shipped source against the server that it describes: the mirror has what the server has."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from headgate.handlers.extract import source as sources
from tests.kit.datasette import DatasetteServer
from tests.kit.extraction import FAST, Extraction
from tests.kit.json_server import JsonServer
from tests.kit.kinto import KintoServer
from tests.kit.looker import LookerServer
from tests.kit.looker_content import KINDS
from tests.kit.project import Project

pytestmark = pytest.mark.slow

STORES = ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]
SHIPPED = Path(sources.__file__).with_name("shipped")
ARTICLES = [
    {"id": number, "title": f"Article {number}", "updated_at": f"2025-01-{1 + number % 28:02}"}
    for number in range(1, 1_201)
]
ISSUES = [
    {
        "id": 1_000 + number,
        "number": number,
        "title": f"Issue {number}",
        "created_at": f"2024-{1 + number // 28:02}-{1 + number % 28:02}T00:00:00Z",
        "updated_at": f"2025-01-{1 + number // 10:02}T00:00:00Z",
    }
    for number in range(1, 251)
]
COMMENTS = [
    {"id": number, "issueId": 1_001 + number % 3, "body": f"Comment {number}"}
    for number in range(1, 31)
]


@pytest.fixture(params=STORES)
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Project:
    if request.param == "postgres":
        return Project(tmp_path, request.getfixturevalue("postgres_url"))
    return Project(tmp_path, f"sqlite:///{tmp_path}/headgate.db")


@pytest.fixture
def sqlite_project(tmp_path: Path) -> Project:
    return Project(tmp_path, f"sqlite:///{tmp_path}/headgate.db")


def by(key: str, rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {str(row[key]): row for row in rows}


def parameters(target: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(target).query).items()}


# ---- Datasette ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def datasette() -> Iterator[DatasetteServer]:
    DatasetteServer.need()
    with DatasetteServer(page_rows=100) as server:
        server.execute(
            "CREATE TABLE articles (id INTEGER PRIMARY KEY, title TEXT, updated_at TEXT)"
        )
        yield server


@pytest.fixture
def articles(datasette: DatasetteServer) -> DatasetteServer:
    datasette.execute("DELETE FROM articles")
    datasette.insert("articles", ARTICLES)
    return datasette


def test_a_mirror_of_datasette_has_the_rows_of_its_table(
    project: Project, articles: DatasetteServer
):
    words = ("--set", f"url={articles.url('/db')}", "--set", "size=100", *FAST)
    source = Extraction(project, "datasette", *words)
    done = source.complete()
    assert done.proofs == {"rows": "covered"}
    assert source.live("rows") == by("id", articles.rows("articles"))

    articles.execute(
        "DELETE FROM articles WHERE id % 7 = 0",
        "UPDATE articles SET title = 'Another' WHERE id % 100 = 1",
        "INSERT INTO articles VALUES (5000, 'Late', '2025-02-01')",
    )
    again = source.complete()
    assert again.numbers("rows") == (1, 12 - 2, 1_200 - 171 - 10)
    assert source.live("rows") == by("id", articles.rows("articles"))
    assert source.deleted("rows") == {str(number) for number in range(7, 1_201, 7)}
    verified = project.invoke("extract", "verify", "--remote", "--json")
    assert verified.code == 0, verified.out
    project.assert_clean()


def test_the_rows_of_a_mirror_are_exported_as_the_source_gives_them(
    sqlite_project: Project, articles: DatasetteServer
):
    words = ("--set", f"url={articles.url('/db')}", "--set", "size=100", *FAST)
    source = Extraction(sqlite_project, "datasette", *words)
    source.complete()
    out = sqlite_project.folder / "rows.csv"
    assert sqlite_project.invoke("extract", "export", "rows", "--out", str(out)).code == 0
    with out.open(newline="") as file:
        written = {row["id"]: row for row in csv.DictReader(file)}
    rows = articles.rows("articles")
    assert written == {str(row["id"]): {**row, "id": str(row["id"])} for row in rows}


# ---- Kinto ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def kinto() -> Iterator[KintoServer]:
    KintoServer.need()
    with KintoServer() as server:
        yield server


def kinto_source(project: Project, kinto: KintoServer, collection: str) -> Extraction:
    project.environment = {"KINTO_USER": kinto.user, "KINTO_PASSWORD": kinto.password}
    words = [f"url={kinto.url()}", f"bucket={kinto.bucket}", f"collection={collection}"]
    return Extraction(project, "kinto", *(part for each in words for part in ("--set", each)))


def test_a_second_pass_over_kinto_fetches_what_changed_and_what_was_deleted(
    project: Project, kinto: KintoServer
):
    collection = Path(project.folder).name.replace("_", "-")[:40]
    kinto.put(collection, [{"id": f"row-{number}", "value": number} for number in range(250)])
    source = kinto_source(project, kinto, collection)
    source.complete()
    assert source.live("records") == by("id", kinto.rows(collection))

    kinto.delete(collection, "row-1", "row-2")
    kinto.put(collection, [{"id": "row-3", "value": "other"}, {"id": "new", "value": 0}])
    before = len(kinto.requests())
    again = source.complete()
    assert again.streams["records"]["mode"] == "incremental"
    assert again.numbers("records")[0] == 1
    (asked,) = kinto.requests()[before:]
    assert parameters(asked)["_since"].strip('"').isdecimal()
    assert source.live("records") == by("id", kinto.rows(collection))
    assert source.deleted("records") == {"row-1", "row-2"}

    # A full pass sees the deletion by absence, and finds nothing else to do.
    full = source.complete("--full")
    assert full.numbers("records") == (0, 0, 249)
    assert source.live("records") == by("id", kinto.rows(collection))


# ---- GitHub, by json-server -----------------------------------------------------------------


def test_a_repository_is_mirrored_with_the_comments_of_its_issues(sqlite_project: Project):
    JsonServer.need()
    # json-server finds the comments of an issue by the issue's id, which GitHub calls its number.
    issues = [{**issue, "number": issue["id"]} for issue in ISSUES[:130]]
    tables = {"issues": issues, "comments": COMMENTS, "pulls": [], "releases": []}
    with JsonServer(tables) as server:
        source = github(sqlite_project, server)
        done = source.complete()
        assert done.proofs == dict.fromkeys(("issues", "comments", "pulls", "releases"), "chained")
        assert source.live("issues") == by("id", server.rows("issues"))
        found = source.live("comments")
        assert found.keys() == by("id", server.rows("comments")).keys()
        assert {row["_issues_number"] for row in found.values()} == {1_001, 1_002, 1_003}

        server.write("/issues/1001", "PATCH", {"title": "New", "updated_at": "2025-03-01"})
        before = len(server.requests())
        again = source.complete("issues", "comments")
        assert again.streams["issues"]["mode"] == "incremental"
        assert again.numbers("issues")[1] == 1
        assert source.live("issues") == by("id", server.rows("issues"))
        asked = [urlsplit(target).path for target in server.requests()[before:]]
        # Comments are asked for only where the issue has changed.
        assert [path for path in asked if path.endswith("/comments")] == ["/issues/1001/comments"]


def test_a_stream_is_listed_without_those_of_its_children(sqlite_project: Project):
    JsonServer.need()
    with JsonServer({"issues": ISSUES, "comments": COMMENTS}) as server:
        source = github(sqlite_project, server)
        done = source.complete("issues")
        assert done.numbers("issues") == (250, 0, 0)
        assert not any("comments" in target for target in server.requests())


def github(project: Project, server: JsonServer) -> Extraction:
    """The shipped source, with the address of another server."""
    project.environment = {"GITHUB_TOKEN": "secret"}
    text = (SHIPPED / "github.toml").read_text()
    (project.folder / "github.toml").write_text(
        text.replace("https://api.github.com", server.url())
    )
    words = ("--set", "owner=octo", "--set", "repo=cat")
    return Extraction(project, "github.toml", *words, *FAST)


# ---- Looker ---------------------------------------------------------------------------------


@pytest.fixture
def looker() -> Iterator[LookerServer]:
    with LookerServer(rows=40) as server:
        yield server


def test_a_mirror_of_looker_has_every_kind_of_content(project: Project, looker: LookerServer):
    project.environment = looker.environment
    source = Extraction(project, "looker", *FAST)
    done = source.complete()
    assert done.proofs.keys() == KINDS.keys()
    assert looker.logins == 1
    for name, kind in KINDS.items():
        assert source.live(name) == by(kind.key, looker.rows(name)), name

    (changed,) = [row for row in looker.rows("dashboards") if row["id"] == "7"]
    looker.put("dashboards", {**changed, "title": "New", "updated_at": "2026-01-01T00:00:00.000Z"})
    (viewed,) = [row for row in looker.rows("users") if row["id"] == "3"]
    looker.put("users", {**viewed, "can": {"show": False}})
    looker.remove("looks", "5")
    looker.remove("lookml_models", "model_2")
    looker.remove("explores", "model_2::explore_1", "model_2::explore_2")
    before = len(looker.seen)
    again = source.complete()
    assert again.numbers("dashboards") == (0, 1, 39)
    assert again.numbers("users") == (0, 0, 40)  # what a caller may do is not content
    assert source.deleted("looks") == {"5"}
    assert source.deleted("lookml_models") == {"model_2"}
    assert source.deleted("explores") == {"model_2::explore_1", "model_2::explore_2"}
    details = [
        seen.request.path for seen in looker.seen[before:] if "/dashboards/" in seen.request.path
    ]
    assert sorted(path.rpartition("/")[2] for path in details) == ["7", "search"]
    assert source.live("dashboards") == by("id", looker.rows("dashboards"))
    project.assert_clean()


def test_looker_is_checked_with_its_login_before_anything_is_stored(
    sqlite_project: Project, looker: LookerServer
):
    sqlite_project.environment = looker.environment
    streams = ("dashboards", "explores")
    checked = sqlite_project.run("extract", "check", "looker", *streams, "--json")
    assert checked.code == 0, checked.err
    assert {each["stream"] for each in checked.json["streams"]} == {"lookml_models", *streams}

    sqlite_project.environment = {**looker.environment, "LOOKERSDK_CLIENT_SECRET": "no-such-key"}
    refused = sqlite_project.run("extract", "check", "looker", "users", "--json")
    assert refused.code == 6, refused.err
    assert "no-such-key" not in refused.out + refused.err
    assert sqlite_project.jobs() == []
