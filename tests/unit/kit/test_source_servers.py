"""The servers that tests extract from page as the shipped descriptions of sources expect."""

import re
import time
from collections.abc import Iterator

import psutil
import pytest

from tests.kit import source_server
from tests.kit.datasette import DatasetteServer
from tests.kit.json_server import JsonServer
from tests.kit.kinto import KintoServer
from tests.kit.source_server import SourceServer

pytestmark = pytest.mark.slow

ARTICLES = [
    {"id": number, "title": f"Article {number}", "updated_at": f"2025-01-{1 + number % 28:02}"}
    for number in range(1, 251)
]
ISSUES = [
    {"id": number, "created_at": f"2024-01-{1 + number % 28:02}", "updated_at": f"2025-{number:03}"}
    for number in range(1, 251)
]
COMMENTS = [{"id": number, "issueId": 1 + number % 3} for number in range(30)]


def links(reply) -> dict[str, str]:
    return {name: url for url, name in re.findall(r'<([^>]+)>; rel="(\w+)"', reply.headers["Link"])}


@pytest.fixture(scope="module")
def datasette() -> Iterator[DatasetteServer]:
    DatasetteServer.need()
    with DatasetteServer(page_rows=100) as server:
        server.execute(
            "CREATE TABLE articles (id INTEGER PRIMARY KEY, title TEXT, updated_at TEXT)",
            "CREATE TABLE pairs (a INTEGER, b TEXT, PRIMARY KEY (a, b))",
        )
        server.insert("articles", ARTICLES)
        server.insert("pairs", [{"a": n // 10, "b": f"k{n % 10}"} for n in range(30)])
        yield server


@pytest.fixture(scope="module")
def kinto() -> Iterator[KintoServer]:
    KintoServer.need()
    with KintoServer() as server:
        yield server


@pytest.fixture(scope="module")
def json_server() -> Iterator[JsonServer]:
    JsonServer.need()
    with JsonServer({"issues": ISSUES, "comments": COMMENTS}) as server:
        yield server


def chain(server, reply, following) -> list:
    """All pages from this one on, by whatever names the next."""
    pages = [reply]
    while url := following(pages[-1]):
        assert len(pages) < 50, "the chain does not end"
        pages.append(server.ask(url, headers=getattr(server, "authorization", None)))
    return pages


# ---- Datasette ------------------------------------------------------------------------------


def test_datasette_names_the_next_page_in_its_body_and_in_a_link(datasette):
    first = datasette.ask("/db/articles.json", _shape="objects", _size=100)
    assert first.value["next"] == "100"
    assert links(first) == {"next": first.value["next_url"]}
    pages = chain(datasette, first, lambda reply: reply.value["next_url"])
    assert [len(page.value["rows"]) for page in pages] == [100, 100, 50]
    assert [row for page in pages for row in page.value["rows"]] == datasette.rows("articles")


def test_datasette_refuses_a_page_that_is_too_large(datasette):
    reply = datasette.ask("/db/articles.json", _shape="objects", _size=101)
    assert (reply.status, reply.value["error"]) == (400, "_size must be <= 100")


def test_datasette_lets_us_choose_the_range_of_keys(datasette):
    reply = datasette.ask("/db/articles.json", _shape="objects", id__gt=10, id__lte=13)
    assert [row["id"] for row in reply.value["rows"]] == [11, 12, 13]


def test_datasette_filters_by_the_time_of_change(datasette):
    reply = datasette.ask("/db/articles.json", _shape="objects", updated_at__gte="2025-01-28")
    expected = [row for row in datasette.rows("articles") if row["updated_at"] >= "2025-01-28"]
    assert reply.value["rows"] == expected != []


def test_datasette_counts_rows_without_sending_them(datasette):
    reply = datasette.ask("/db/articles.json", _shape="objects", _size=0)
    assert (reply.value["rows"], reply.value["filtered_table_rows_count"]) == ([], 250)


def test_datasette_pages_by_a_compound_key(datasette):
    first = datasette.ask("/db/pairs.json", _shape="objects", _size=12)
    assert first.value["next"] == "1,k1"
    pages = chain(datasette, first, lambda reply: reply.value["next_url"])
    assert [row for page in pages for row in page.value["rows"]] == datasette.rows("pairs")


def test_datasette_invites_caches_to_keep_a_page(datasette):
    assert datasette.ask("/db/articles.json").headers["Cache-Control"] == "max-age=5"


def test_datasette_sees_a_change_of_its_file_at_once(datasette):
    datasette.execute("CREATE TABLE changing (id INTEGER PRIMARY KEY, word TEXT)")
    datasette.insert("changing", [{"id": 1, "word": "old"}, {"id": 2, "word": "left"}])
    before = datasette.ask("/db/changing.json", _shape="array").value
    datasette.execute(
        "UPDATE changing SET word = 'new' WHERE id = 1", "DELETE FROM changing WHERE id = 2"
    )
    after = datasette.ask("/db/changing.json", _shape="array").value
    assert before == [{"id": 1, "word": "old"}, {"id": 2, "word": "left"}]
    assert after == datasette.rows("changing") == [{"id": 1, "word": "new"}]


# ---- Kinto ----------------------------------------------------------------------------------


def records(count) -> list[dict]:
    return [{"id": f"r{number:03}", "n": number} for number in range(count)]


def test_kinto_names_the_next_page_in_a_header(kinto):
    kinto.put("paged", records(450))  # more than it takes in one request
    first = kinto.read(kinto.path("paged"), _limit=200)
    assert "_token=" in first.headers["Next-Page"]
    assert "Total-Objects" not in first.headers
    pages = chain(kinto, first, lambda reply: reply.headers["Next-Page"])
    assert [len(page.value["data"]) for page in pages] == [200, 200, 50]
    found = {row["id"]: row["n"] for page in pages for row in page.value["data"]}
    assert found == {row["id"]: row["n"] for row in kinto.rows("paged")}
    assert found == {row["id"]: row["n"] for row in records(450)}


def test_kinto_tells_the_total_to_head_alone(kinto):
    kinto.put("counted", records(7))
    reply = kinto.read(kinto.path("counted"), "HEAD")
    assert (reply.status, reply.headers["Total-Objects"]) == (200, "7")


def test_kinto_reports_what_was_deleted_since(kinto):
    kinto.put("shrinking", records(5))
    before = kinto.read(kinto.path("shrinking"), "HEAD").headers["ETag"]
    kinto.delete("shrinking", "r003")
    kinto.put("shrinking", [{"id": "r001", "n": 100}])
    changes = kinto.read(kinto.path("shrinking"), _since=before, _sort="last_modified").value[
        "data"
    ]
    assert [(row["id"], row.get("deleted"), row.get("n")) for row in changes] == [
        ("r003", True, None),
        ("r001", None, 100),
    ]
    assert [row["id"] for row in kinto.rows("shrinking")] == ["r000", "r001", "r002", "r004"]


def test_kinto_answers_304_while_nothing_changes(kinto):
    kinto.put("still", records(3))
    path = kinto.path("still")
    known = {**kinto.authorization, "If-None-Match": kinto.read(path).headers["ETag"]}
    assert kinto.ask(path, headers=known).status == 304
    kinto.delete("still", "r000")
    assert kinto.ask(path, headers=known).status == 200


def test_kinto_turns_strangers_away(kinto):
    kinto.put("private", records(1))
    assert kinto.ask(kinto.path("private")).status == 401


def test_kinto_gives_no_more_at_once_than_it_was_told_to():
    KintoServer.need()
    with KintoServer(page_rows=2) as server:
        server.put("small", records(5))
        reply = server.read(server.path("small"), _limit=100)
        assert len(reply.value["data"]) == 2
        assert [row["id"] for row in server.rows("small")] == [row["id"] for row in records(5)]


# ---- json-server ----------------------------------------------------------------------------


def test_json_server_links_to_the_next_and_the_last_page(json_server):
    first = json_server.ask("/issues", _page=1, _limit=100)
    assert first.headers["X-Total-Count"] == "250"
    assert links(first).keys() == {"first", "next", "last"}
    assert "_page=3" in links(first)["last"]
    pages = chain(json_server, first, lambda reply: links(reply).get("next"))
    assert [row for page in pages for row in page.value] == json_server.rows("issues")


def test_json_server_understands_the_words_of_github(json_server):
    first = json_server.ask(
        "/repos/me/shop/issues", state="all", sort="created", direction="asc", per_page=100
    )
    pages = chain(json_server, first, lambda reply: links(reply).get("next"))
    assert [len(page.value) for page in pages] == [100, 100, 50]
    found = [row for page in pages for row in page.value]
    assert [row["created_at"] for row in found] == sorted(row["created_at"] for row in ISSUES)
    assert {row["id"] for row in found} == {row["id"] for row in json_server.rows("issues")}


def test_json_server_filters_by_the_time_of_change(json_server):
    reply = json_server.ask("/repos/me/shop/issues", since="2025-249", per_page=100)
    assert [row["id"] for row in reply.value] == [249, 250]


def test_json_server_has_the_rows_of_a_parent(json_server):
    reply = json_server.ask("/repos/me/shop/issues/2/comments", per_page=100)
    assert reply.value == [row for row in json_server.rows("comments") if row["issueId"] == 2] != []


def test_the_file_of_json_server_has_a_change_when_it_is_written():
    JsonServer.need()
    with JsonServer({"issues": ISSUES[:5]}) as server:
        server.write("/issues/3", "DELETE")
        server.write("/issues/4", "PATCH", {"title": "changed"})
        server.write("/issues", "POST", {"id": 9})
        assert [row["id"] for row in server.rows("issues")] == [1, 2, 4, 5, 9]
        assert server.rows("issues")[2]["title"] == "changed"


# ---- all of them ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["datasette", "kinto", "json_server"])
def test_a_server_remembers_what_it_was_asked(name, request):
    server: SourceServer = request.getfixturevalue(name)
    before = len(server.requests())
    path = {"kinto": "/v1/", "datasette": "/db.json", "json_server": "/comments"}[name]
    assert server.ask(path, mark="x").status == 200
    assert server.ask(path, mark="y").status == 200
    assert server.requests()[before:] == [f"{path}?mark=x", f"{path}?mark=y"]


def test_a_slow_datasette_answers_no_earlier_than_told():
    DatasetteServer.need()
    with DatasetteServer(delay_s=0.2) as server:
        begun = time.monotonic()
        assert server.ask("/-/versions.json").status == 200
        assert time.monotonic() - begun >= 0.2


@pytest.mark.parametrize("make", [DatasetteServer, KintoServer, lambda: JsonServer({"rows": []})])
def test_nothing_is_left_of_a_server_that_is_closed(make):
    getattr(make, "need", JsonServer.need)()
    with make() as server:
        process = psutil.Process(server.pid)
        assert process.is_running()
    assert not process.is_running()
    assert not server.folder.exists()


@pytest.mark.parametrize("kind", [DatasetteServer, KintoServer, JsonServer])
def test_a_missing_server_skips_on_a_laptop_and_fails_in_ci(kind, monkeypatch, tmp_path):
    monkeypatch.setattr(source_server, "FOLDER", tmp_path)
    monkeypatch.setattr("tests.kit.json_server.MAIN", tmp_path / "bin.js")
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="make services"):
        kind.need()
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="make services"):
        kind.need()
