"""Every command that works with a server prints the same as with the store."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.kit.answers import Answer
from tests.kit.api_server import ApiServer, rows_csv
from tests.kit.command import until
from tests.kit.local_and_remote import LocalAndRemote, timeless
from tests.kit.provider import Provider

pytestmark = pytest.mark.slow

ASKING = """
from headgate import handler

@handler("label", provider="labels")
async def label(item, ctx):
    reply = await ctx.http.get(item.input["url"])
    return {"status": reply.raise_for_status().status_code, "share": 0.25}
"""


class Shop(LocalAndRemote):
    """A server with two finished jobs: one of decisions, one of requests."""

    decided: str
    asked: str


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    folder = tmp_path_factory.mktemp("shop")
    with Provider(lambda _: Answer(200, body=b"hello")) as provider:
        settings = folder / "headgate.toml"
        settings.write_text(f"[providers.labels]\nhosts = ['127.0.0.1:{provider.port}']\n")
        (folder / "label.py").write_text(ASKING)
        server = ApiServer(folder, net__allow_private="true")
        try:
            server.start("--handlers", str(folder / "label.py"))
            shop = Shop(server, "-c", str(settings))
            admin = server.admin()
            rows = rows_csv(7, r2="fail", r3="missing", r4="review", r5="skip", r6="fail")
            shop.decided = admin.done(rows, name="decided")
            urls = "".join(f"{provider.url(f'/{n}')}\n" for n in range(3))
            shop.asked = admin.done(f"url\n{urls}".encode(), handler="label", key="url")
            yield shop
        finally:
            server.__exit__(None, None, None)


def first_item(shop: Shop, job: str, status: str) -> str:
    listed = shop.local("items", "ls", job, "--status", status, "--json")
    return str(listed.json["items"][0]["id"])


def same(shop: Shop, *words: str | int) -> Any:
    """What both say to a command that changes nothing, as text and as JSON.

    A worker with nothing to do leaves its gates, which may be between two looks: so what the
    server says must be what the store said just before or just after.
    """
    before, remote, after = (
        timeless(tell(*words)) for tell in (shop.local, shop.remote, shop.local)
    )
    assert remote in (before, after)
    before, remote, after = (
        tell(*words, "--json") for tell in (shop.local, shop.remote, shop.local)
    )
    assert (remote.code, remote.err) == (after.code, after.err) == (0, "")
    assert remote.json in (before.json, after.json)
    return remote.json


@pytest.mark.parametrize(
    "words",
    [
        ("jobs", "ls"),
        ("jobs", "ls", "--limit", "1"),
        ("jobs", "ls", "--after", "2"),
        ("items", "ls", "1", "--limit", "3"),
        ("items", "ls", "1", "--status", "ERROR,REVIEW"),
        ("items", "ls", "1", "--error-class", "permanent"),
        ("items", "ls", "1", "--search", "name 4"),
        ("items", "ls", "1", "--key", "6"),
        ("items", "show", "6", "--job", "1"),
        ("items", "why", "6", "--job", "1"),
        ("dlq", "ls"),
        ("dlq", "ls", "--error-class", "timeout"),
        ("dlq", "ls", "--handler", "shop.price"),
        ("dlq", "ls", "--job", "1"),
        ("dlq", "ls", "--job", "1", "--handler", "label"),
        ("providers", "ls"),
        ("providers", "ls", "--all"),
        ("providers", "show", "labels"),
        ("providers", "show", "wikidata"),
        ("queue", "stats"),
    ],
    ids=" ".join,
)
def test_lists_are_the_same(shop: Shop, words: tuple[str, ...]):
    assert same(shop, *words)


def test_a_job_is_the_same(shop: Shop):
    for job in (shop.decided, shop.asked):
        assert same(shop, "jobs", "show", job)["state"] == "DONE"


@pytest.mark.parametrize("status", ["DONE", "ERROR", "NOT_FOUND", "REVIEW", "SKIPPED"])
def test_an_item_is_the_same(shop: Shop, status: str):
    item = first_item(shop, shop.decided, status)
    assert same(shop, "items", "show", item)["status"] == status
    assert same(shop, "items", "why", item)["waiting"] is None


def test_a_missing_key_is_refused_in_the_same_way(shop: Shop):
    for tell in (shop.local, shop.remote):
        said = tell("items", "show", "nobody")
        assert said.code == 2
        assert "no item has the key 'nobody'" in said.err


def test_an_item_with_calls_is_the_same(shop: Shop):
    item = first_item(shop, shop.asked, "DONE")
    shown = same(shop, "items", "show", item)
    assert [call["status"] for call in shown["history"][0]["calls"]] == [200]
    assert shown["result"] == {"status": 200, "share": 0.25}


def test_a_dead_letter_is_the_same(shop: Shop):
    assert same(shop, "dlq", "show", first_item(shop, shop.decided, "ERROR"))["history"]


def test_workers_are_the_same(shop: Shop):
    """But for what changes with every heartbeat."""
    local, remote = (
        json.loads(said("workers", "ls", "--all", "--json").out)["workers"]
        for said in (shop.local, shop.remote)
    )
    for worker in (*local, *remote):
        del worker["beat"], worker["beat_at"]
    assert remote == local
    assert local


def test_a_page_resumes_where_the_last_one_ended(shop: Shop):
    page = shop.remote("items", "ls", shop.decided, "--limit", "3", "--json").json
    rest = shop.remote("items", "ls", shop.decided, "--after", page["next"], "--json").json
    local = shop.local("items", "ls", shop.decided, "--json").json
    assert page["items"] + rest["items"] == local["items"]


@pytest.mark.parametrize(
    "words",
    [
        ("jobs", "show", "99"),
        ("jobs", "pause", "1"),
        ("items", "show", "99"),
        ("items", "why", "99"),
        ("items", "accept", "1", "--candidate", "x"),
        ("items", "ls", "99"),
        ("dlq", "ls", "--job", "99"),
        ("dlq", "show", "1"),
        ("providers", "show", "wikidta"),
        ("items", "ls", "1", "--after", "nonsense"),
        ("export", "99", "rows.csv"),
        ("jobs", "reprocess", "99"),
        ("jobs", "rm", "99", "--dry-run"),
    ],
    ids=" ".join,
)
def test_refusals_are_the_same(
    shop: Shop, words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    local, remote = shop.local(*words), shop.remote(*words)
    assert (remote.code, remote.out, remote.err) == (local.code, local.out, local.err)
    assert remote.code == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "xlsx", "parquet"])
def test_exports_have_the_same_content(shop: Shop, tmp_path: Path, ending: str):
    local, remote = tmp_path / f"local.{ending}", tmp_path / f"remote.{ending}"
    here = shop.local("export", shop.decided, str(local), "--json").json
    there = shop.remote("jobs", "export", shop.decided, str(remote), "--json").json
    assert there.pop("exported_at") != here.pop("exported_at")
    assert there == here
    record = json.loads((tmp_path / f"remote.{ending}.meta.json").read_text())
    assert record["sha256"] == here["sha256"]
    if ending in {"csv", "tsv", "jsonl"}:
        assert remote.read_bytes() == local.read_bytes()
    same(shop, "export", shop.decided, "--check", str(remote))


def test_a_file_that_differs_is_found_through_a_server(shop: Shop, tmp_path: Path):
    file = tmp_path / "rows.csv"
    assert shop.remote("export", shop.decided, str(file)).code == 0
    file.write_text(file.read_text().replace("out of stock", "in stock"))
    local, remote = (
        said("export", shop.decided, "--check", str(file)) for said in (shop.local, shop.remote)
    )
    assert remote == local
    assert remote.code == 6
    assert "differs from job" in remote.err


def test_a_job_is_controlled_through_a_server(shop: Shop):
    job = shop.remote("queue", "enqueue", '{"id": "1"}', "--handler", "shop.price", "--json").json
    number = job["job_id"]
    assert shop.remote("jobs", "pause", number).err.startswith(f"job {number} is PAUSED")
    assert shop.local("jobs", "show", number, "--json").json["state"] == "PAUSED"
    assert shop.remote("jobs", "resume", number).code == 0
    assert shop.remote("jobs", "priority", number, "3").err == f"job {number} has priority 3\n"
    assert shop.local("jobs", "show", number, "--json").json["priority"] == 3
    assert shop.remote("jobs", "cancel", number).code == 2  # it asks, and no answer comes
    assert "would cancel" in shop.remote("jobs", "cancel", number, "--dry-run").err
    assert shop.remote("jobs", "cancel", number, "--yes").code == 0
    assert shop.local("jobs", "show", number, "--json").json["state"] == "CANCELLED"
    assert shop.remote("jobs", "rm", number, "--yes").code == 0
    assert shop.local("jobs", "show", number).err == f"error: job {number} does not exist\n"


def test_a_queue_is_fed_and_closed_through_a_server(shop: Shop, tmp_path: Path):
    feed = ("--queue", "nightly", "--key", "id")
    new = shop.remote("queue", "enqueue", '{"id": "1"}', *feed)
    assert (new.code, "is new" in new.err) == (2, True)
    first = shop.remote(
        "queue", "enqueue", '{"id": "1"}', *feed, "--handler", "shop.price", "--json"
    )
    assert first.json | {"job_id": 0} == {
        "queue": "nightly",
        "job_id": 0,
        "added": 1,
        "known": 0,
        "bad": 0,
        "problems": [],
    }
    file = tmp_path / "rows.jsonl"
    file.write_text('{"id": "1"}\n{"id": "2", "do": "fail"}\nnonsense\n{"name": "no id"}\n')
    imported = shop.remote("queue", "import", str(file), *feed)
    assert imported.code == 0, imported.err
    assert imported.out == "added 3 items to queue nightly, 1 was already there\n"
    assert "warning: line 3: " in imported.err
    assert "warning: line 4: " in imported.err
    assert shop.remote("queue", "import", str(file), *feed, "--json").json["known"] == 4
    job = first.json["job_id"]

    def failed() -> int:
        queues = shop.remote("queue", "stats", "--queue", "nightly", "--json").json["queues"]
        return int(queues[0]["counts"]["error"])

    while failed() < 3:
        pass
    tried = shop.remote("queue", "retry-failed", "--queue", "nightly", "--dry-run", "--json").json
    assert (tried["found"], tried["requeued"]) == (1, 0)
    assert shop.remote("queue", "pause", "--queue", "nightly").err == "queue nightly is PAUSED\n"
    same(shop, "queue", "stats", "--queue", "nightly")
    assert shop.remote("queue", "resume", "--queue", "nightly").code == 0
    assert "would close" in shop.remote("queue", "close", "--queue", "nightly", "--dry-run").err
    assert shop.remote("queue", "close", "--queue", "nightly", "--yes").code == 0
    assert shop.local("jobs", "show", job, "--json").json["open"] is False
    gone = shop.remote("queue", "stats", "--queue", "nightly")
    assert (gone.code, "open queue 'nightly' not found" in gone.err) == (2, True)


def test_standard_input_is_fed_through_a_server(shop: Shop):
    rows = "".join(f'{{"id": "{n}"}}\n' for n in range(2_500))
    words = ("queue", "import", "-", "--queue", "piped", "--handler", "shop.plain", "--json")
    # Through the real executable: a test runner's standard input has no descriptor.
    ended = shop.piped(*words, stdin=rows)
    assert ended.json["added"] == 2_500


def test_dead_letters_are_replayed_through_a_server(shop: Shop):
    item = first_item(shop, shop.decided, "ERROR")
    assert (
        shop.remote("dlq", "replay", item, "--dry-run").out == "would set 1 item back to PENDING\n"
    )
    tried = shop.remote("dlq", "replay", "--job", shop.decided, "--dry-run", "--json").json
    assert tried == {"found": 2, "requeued": 0}
    assert shop.remote("dlq", "replay", "--all").code == 2
    words = ("jobs", "reprocess", shop.decided, "--status", "ERROR", "--dry-run", "--json")
    assert shop.remote(*words).json == shop.local(*words).json
    named = ("jobs", "reprocess", shop.decided, "--ids", item, "--dry-run", "--json")
    assert (
        shop.remote(*named).json
        == shop.local(*named).json
        == {
            "job_id": int(shop.decided),
            "requeued": 0,
            "found": 1,
        }
    )


def test_a_decision_is_made_through_a_server(shop: Shop):
    rows = rows_csv(3, r1="review", r2="review", r3="review")
    job = shop.server.admin().done(rows, name="undecided")
    listed = shop.remote("items", "ls", job, "--json").json["items"]
    one, two, three = (str(item["id"]) for item in listed)
    unclear = shop.remote("items", "accept", one)
    assert unclear.err == "error: name the right candidate with --candidate: one of Q1, Q2\n"
    assert unclear == shop.local("items", "accept", one)
    taken = shop.remote("items", "accept", one, "--candidate", "Q2", "--json").json
    assert (taken["status"], taken["result"]) == ("DONE", {"match": "Q2"})
    assert shop.remote("items", "reject", two).err == f"item {two} is NOT_FOUND\n"
    assert (
        shop.local("items", "skip", three, "--reason", "twice").err == f"item {three} is SKIPPED\n"
    )
    assert shop.remote("items", "skip", three).code == 2


def test_providers_are_overruled_through_a_server(shop: Shop):
    words = ("providers", "set", "nominatim", "--rate", "100/min")
    assert shop.remote(*words).err == shop.local(*words).err
    timed = shop.remote(*words, "--for", "2h", "--json").json["gates"][0]["override"]
    assert timed["until"] is not None
    assert same(shop, "providers", "show", "nominatim")["gates"][0]["override"]["rate_per_s"]
    assert shop.remote("providers", "pause", "nominatim", "--json").json["gates"][0]["override"][
        "paused"
    ]
    resumed = shop.remote("providers", "resume", "nominatim", "--json").json
    assert resumed["resumed"] == ["provider:nominatim"]
    assert "nothing was changed" in shop.remote("providers", "resume", "nominatim").err
    assert "would forget" in shop.remote("providers", "forget", "nominatim", "--dry-run").err
    forgotten = shop.remote("providers", "forget", "nominatim", "--yes", "--json").json
    assert forgotten["forgotten"] == ["provider:nominatim"]
    assert "nothing was learned" in shop.local("providers", "forget", "nominatim").err
    assert shop.remote("providers", "set", "nominatim", "--rate", "fast").code == 2


@pytest.mark.parametrize(
    "words",
    [
        ("run", "shop.py:price", "rows.csv"),
        ("worker", "--drain"),
        ("queue", "run"),
        ("db", "status"),
        ("config", "show"),
        ("doctor",),
        ("serve",),
        ("report", "politeness", "1"),
        ("users", "ls"),
    ],
    ids=" ".join,
)
def test_commands_of_this_machine_refuse_a_server(shop: Shop, words: tuple[str, ...]):
    said = shop.remote(*words)
    assert (said.code, said.out) == (2, "")
    assert "does not work with a server" in said.err
    assert said.err.count("\n") == 1


def test_an_invalid_token_is_refused_and_not_shown(shop: Shop):
    said = shop.remote("jobs", "ls", token="hg_wrong")
    assert said.code == 2
    assert "unknown, expired or revoked" in said.err
    assert "hg_wrong" not in said.err


def test_others_see_nothing_of_it(shop: Shop):
    ann = shop.server.user("ann").token or ""
    assert shop.remote("jobs", "ls", "--json", token=ann).json == {"jobs": [], "next": None}
    assert shop.remote("jobs", "show", shop.decided, token=ann).code == 2
    assert shop.remote("queue", "stats", "--json", token=ann).json == {"queues": []}
    words = ("queue", "enqueue", '{"id": "1"}', "--handler", "shop.price", "--queue", "mine")
    assert shop.remote(*words, token=ann).code == 0
    others = shop.remote("queue", "stats", "--queue", "mine", token=shop.server.user("bob").token)
    assert others.code == 2
    assert shop.remote("workers", "ls", token=ann).err == "error: only admins can do this\n"


def test_the_environment_names_the_server(shop: Shop, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HEADGATE_SERVER", shop.server.url)
    monkeypatch.setenv("HEADGATE_TOKEN", shop.server.token)
    said = shop.plain("jobs", "ls", "--json")
    assert said.err == ""
    # A row of the test before may start between two looks.
    words = ("jobs", "ls", "--json")
    until(lambda: shop.plain(*words).json == shop.local(*words).json, what="the same answer")
    both = shop.local("jobs", "ls", "--server", shop.server.url)
    assert "not both" in both.err


def test_a_server_that_is_not_there_is_exit_5(shop: Shop, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HEADGATE_SERVER", "http://127.0.0.1:1")
    said = shop.plain("jobs", "pause", "1")
    assert said.code == 5
    assert said.err.startswith("error: http://127.0.0.1:1 does not answer")
    assert said.err.count("\n") == 1
