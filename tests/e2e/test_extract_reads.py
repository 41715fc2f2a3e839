"""Commands that read mirrors say the same beside a store and over a server."""

import tomllib
from collections.abc import Iterator

import pytest

from headgate.client import Client, MirrorNotFound, NextPass, SourcePass
from tests.kit.api_server import ApiServer
from tests.kit.listing_service import SOURCE, ListingService, book
from tests.kit.local_and_remote import LocalAndRemote, timeless

pytestmark = pytest.mark.slow


class Shop(LocalAndRemote):
    """A server with a mirror and two passes over it: one book changed, one came, one went."""

    first: str
    second: str


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    folder = tmp_path_factory.mktemp("shop")
    with (
        ListingService(30) as service,
        ApiServer(folder, net__allow_private="true") as server,
    ):
        shop, admin = Shop(server), server.admin()
        source = tomllib.loads(SOURCE.replace("URL", service.url("")))
        begun = admin.post("/api/mirrors", {"source": source, "name": "shop"}).ok(202)
        shop.first = begun["jobId"]
        admin.ended(shop.first)
        service.books[7] = book(7, day=2, title="Another title")
        service.books[31] = book(31, day=2)
        del service.books[8]
        path = f"/api/mirrors/{begun['mirrorId']}/passes"
        shop.second = admin.post(path, {"full": True}).ok(202)["jobId"]
        admin.ended(shop.second)
        yield shop


@pytest.mark.parametrize(
    "words",
    [
        ("ls",),
        ("show", "shop"),
        ("show", "1"),
        ("list", "books"),
        ("list", "shop/books", "--limit", "3"),
        ("list", "books", "--deleted"),
        ("list", "books", "--id", "7"),
        ("schema", "books"),
        ("diff", "1", "2"),
        ("diff", "1", "2", "books", "--fields"),
    ],
    ids=" ".join,
)
def test_a_store_and_a_server_say_the_same(shop: Shop, words: tuple[str, ...]):
    local, remote = shop.local("extract", *words), shop.remote("extract", *words)
    assert (local.code, timeless(local)) == (0, timeless(remote))
    local, remote = (tell("extract", *words, "--json") for tell in (shop.local, shop.remote))
    assert (local.code, local.err, local.json) == (0, "", remote.json)


def test_a_mirror_is_listed_with_its_rows_and_newest_pass(shop: Shop):
    heading, line = shop.local("extract", "ls").out.splitlines()
    assert heading.split() == ["MIRROR", "OWNER", "STREAMS", "ROWS", "PASS", "STATE", "CHANGED"]
    assert line.split()[:6] == ["shop", "local", "2", "32", shop.second, "proven"]


def test_a_difference_names_what_came_went_and_changed(shop: Shop):
    told = shop.local("extract", "diff", shop.first, shop.second, "books", "--fields")
    lines = told.out.splitlines()
    assert {"  ~ 7", "  - 8", "  + 31"} <= set(lines)
    assert '      title: "Book 7" → "Another title"' in lines
    assert "1 added, 1 changed, 1 deleted" in told.err


def test_a_deleted_row_is_listed_on_request_only(shop: Shop):
    live = shop.local("extract", "list", "books", "--limit", "100", "--json").json["rows"]
    every = shop.local("extract", "list", "books", "--deleted", "--json").json["rows"]
    assert (len(live), len(every)) == (30, 31)
    assert [each["row_id"] for each in every if each["deleted_at"]] == ["8"]


def test_pages_of_rows_follow_each_other(shop: Shop):
    first = shop.local("extract", "list", "books", "--limit", "20", "--json").json
    rest = shop.remote("extract", "list", "books", "--after", first["next"], "--json").json
    assert (len(first["rows"]), len(rest["rows"]), rest["next"]) == (20, 10, None)


def test_the_report_of_a_pass_has_its_pace_and_its_sessions(shop: Shop):
    report = shop.local("extract", "show", shop.first, "--json").json["report"]
    assert {"refusals", "last_refusal_at", "successes_since_refusal", "backoff_multiplier"} <= {
        *report
    }
    (session,) = report["sessions"]
    assert session["worker_count"] >= 1
    assert session["rows_per_s"] > 0


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("show", "99"), "99"),
        (("show", "nope"), "there are shop"),
        (("list", "nope"), "shop/books, shop/authors"),
        (("list", "books", "--id", "nope"), "no row 'nope'"),
        (("diff", "2", "1"), "name the older first"),
        (("diff", "1", "2", "nope"), "it has books, authors"),
        (("forget", "nope", "--yes"), "there are shop"),
        (("forget", "shop"), "add --yes"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_wrong_name_is_refused_with_the_right_ones(
    shop: Shop, words: tuple[str, ...], reason: str
):
    for tell in (shop.local, shop.remote):
        told = tell("extract", *words)
        assert told.code == 2
        assert reason in told.err


async def test_the_client_reads_and_begins_passes(shop: Shop):
    async with Client(shop.server.url, shop.server.token) as client:
        (mirror,) = [each for each in await client.mirrors.ls() if each.name == "shop"]
        stream = client.mirrors.stream(mirror.id, mirror.streams[0].id)
        assert len([row async for row in stream.all(page_size=7)]) == 30
        found = [each async for each in stream.all_differences(shop.first, shop.second)]
        assert {each.row_id for each in found} == {"7", "8", "31"}
        assert (await stream.changes()).items[0].row_id == "7"
        assert (await client.mirrors.show(shop.second)).is_proven
        with pytest.raises(MirrorNotFound):
            await client.mirrors.get("999")
        source = (await client.mirrors.get(mirror.id)).source
        begun = await client.mirrors.begin(
            SourcePass(source=source, name="copy", streams=["authors"])
        )
        await client.jobs.wait(begun.job_id)
        again = await client.mirrors.begin_next(
            begun.mirror_id, NextPass(streams=["authors"], full=True)
        )
        assert (again.job_id != begun.job_id, again.resumed) == (True, False)
        await client.jobs.wait(again.job_id)
        await client.mirrors.forget(begun.mirror_id)
        assert [each.name for each in await client.mirrors.ls()] == ["shop"]


def test_a_forgotten_mirror_is_gone(shop: Shop):
    admin = shop.server.admin()
    (mirror,) = admin.get("/api/mirrors").ok()["items"]
    source = admin.get(f"/api/mirrors/{mirror['id']}").ok()["source"]
    body = {"source": source, "name": "old", "streams": ["authors"]}
    job = admin.post("/api/mirrors", body).ok(202)["jobId"]
    admin.ended(job)
    would = shop.remote("extract", "forget", "old", "--dry-run")
    assert "would remove mirror old with 2 live rows" in would.err
    assert shop.remote("extract", "forget", "old", "--yes").code == 0
    assert "old" not in shop.local("extract", "ls").out
    assert admin.job(job)["state"] == "DONE"


def test_a_store_without_mirrors_says_how_to_make_one(tmp_path_factory: pytest.TempPathFactory):
    with ApiServer(tmp_path_factory.mktemp("empty")) as server:
        told = LocalAndRemote(server).local("extract", "ls")
    assert (told.code, told.out) == (0, "")
    assert "headgate extract SOURCE" in told.err
