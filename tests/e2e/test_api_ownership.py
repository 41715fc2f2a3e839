"""Users see, count, change and export only their own jobs; admins all jobs."""

import asyncio
import http.client
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import aiohttp
import pytest

from tests.kit.api_server import ApiServer, Caller, multipart, rows_csv
from tests.kit.command import until

pytestmark = pytest.mark.slow


class People(NamedTuple):
    """Two users with a job each, and a viewer."""

    ann: Caller
    bob: Caller
    eve: Caller
    job: str
    """Ann's."""
    item: str
    export: str
    others: str
    """Bob's job."""


@pytest.fixture(scope="module")
def people(api: ApiServer) -> People:
    ann, bob = api.user("ann"), api.user("bob")
    eve = api.user("eve", "viewer")
    job = ann.done(rows_csv(4, r1="review", r2="fail", r3="missing"), name="of ann")
    others = bob.done(rows_csv(3, r1="fail"), name="of bob")
    export = ann.post(f"/api/jobs/{job}/export", format="csv").ok(202)["id"]
    path = f"/api/jobs/{job}/exports/{export}"
    until(lambda: ann.get(path).status == 200, what="the export")
    return People(ann, bob, eve, job, ann.items(job)[0]["id"], export, others)


def operations(api: ApiServer) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every operation of the document whose path names something that a user owns."""
    document = api.nobody().get("/api/openapi.json").ok()
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if re.search(r"\{(jobId|itemId)\}", path):
                yield method.upper(), path, operation


BODIES = {
    "/api/items/{itemId}/accept": {"candidateId": "Q1"},
    "/api/jobs/{jobId}/priority": {"priority": 1},
}


def ask(caller: Caller, method: str, path: str, template: str) -> Any:
    body = BODIES.get(template)
    headers = {"Content-Type": "application/json"} if body else {}
    content = json.dumps(body).encode() if body else None
    return caller.ask(method, path, body=content, headers=headers)


def test_a_foreign_unknown_or_malformed_id_is_404_everywhere(api: ApiServer, people: People):
    checked = 0
    own = {"jobId": people.job, "itemId": people.item, "exportId": people.export}
    for method, template, _ in operations(api):
        foreign = template.format(**own)
        ask(people.bob, method, foreign, template).refused(404)
        for wrong in ("999999999", "0", "-1", "x", "1e3", "9" * 30, "%00", "01", "1%20", "%D9%A1"):
            path = template.format(**dict.fromkeys(own, wrong))
            ask(people.ann, method, path, template).refused(404)
        checked += 1
    assert checked >= 18  # the table of the contract
    assert people.ann.job(people.job)["counts"]["review"] == 1  # nothing was changed
    assert people.ann.job(people.job)["state"] == "DONE"


def test_an_item_is_found_under_its_own_job_only(people: People):
    own = people.ann.done(rows_csv(1))
    people.ann.get(f"/api/jobs/{own}/items/{people.item}").refused(404)
    people.ann.get(f"/api/jobs/{own}/exports/{people.export}").refused(404)
    assert people.ann.get(f"/api/jobs/{people.job}/items/{people.item}").ok()["id"] == people.item


def test_lists_contain_only_the_users_own_jobs(api: ApiServer, people: People):
    assert {job["owner"] for job in people.ann.pages("/api/jobs")} == {"ann"}
    assert {job["id"] for job in people.bob.pages("/api/jobs")} == {people.others}
    assert people.eve.pages("/api/jobs") == []
    everyone = {job["owner"] for job in api.admin().pages("/api/jobs")}
    assert {"ann", "bob"} <= everyone
    letters = people.bob.pages("/api/dead-letters")
    assert {letter["jobId"] for letter in letters} == {people.others}
    assert [item["id"] for item in people.ann.pages("/api/reviews")] == [people.item]
    assert people.bob.pages("/api/reviews") == []
    people.bob.get("/api/reviews", jobId=people.job).refused(404)
    log = people.bob.get("/api/events/log", pageSize=1000).ok()["items"]
    assert log
    assert {event["jobId"] for event in log} == {people.others}
    people.bob.get("/api/events/log", jobId=people.job).refused(404)
    people.bob.get("/api/events", jobId=people.job).refused(404)


def test_pending_of_all_is_for_admins(api: ApiServer, people: People, tmp_path: Path):
    config = json.dumps({"gate": str(tmp_path / "gate")})
    job = people.ann.send(b"id\n1\n2\n", handler="shop.gated", config=config)
    # What changed a moment ago is shown once it is certain that nothing older can appear.
    until(lambda: len(people.ann.pages("/api/pending")) == 2, what="its items to be listed")
    assert {item["jobId"] for item in people.ann.pages("/api/pending")} == {job}
    assert people.bob.pages("/api/pending") == []
    people.bob.get("/api/pending", userId="all").refused(403, "admins")
    people.bob.get("/api/pending", jobId=job).refused(404)
    people.bob.get("/api/pending", userId="ann").refused(422, "userId")
    found = api.admin().pages("/api/pending", userId="all", jobId=job)
    assert [item["key"] for item in found] == ["1", "2"]
    assert api.admin().pages("/api/pending") == []
    people.ann.post(f"/api/jobs/{job}/cancel").ok()


def test_a_viewer_looks_and_changes_nothing(api: ApiServer, people: People):
    watching = Caller(
        api.url,
        api.admin().post("/api/tokens", {"user": "ann", "role": "viewer"}).ok(201)["token"],
    )
    assert watching.job(people.job)["id"] == people.job
    assert watching.get(f"/api/jobs/{people.job}/exports/{people.export}").status == 200
    watching.upload(("r.csv", rows_csv(1)), handler="shop.price").refused(403, "viewer")
    own = {"jobId": people.job, "itemId": people.item, "exportId": people.export}
    for method, template, _ in operations(api):
        if method != "GET":
            ask(watching, method, template.format(**own), template).refused(403)
    watching.post("/api/dead-letters/replay", {"all": True}).refused(403)
    watching.post("/api/tokens", {"role": "user"}).refused(403)


def test_endpoints_about_the_whole_server_are_for_admins(people: People):
    for path in ("/api/providers", "/api/providers/x", "/api/workers", "/api/users"):
        people.ann.get(path).refused(403, "admins")
    people.ann.patch("/api/providers/x", {"paused": True}).refused(403)
    people.ann.post("/api/workers/x/drain").refused(403)
    people.ann.post("/api/users", {"name": "mallory", "role": "admin"}).refused(403)
    people.ann.patch("/api/users/bob", {"disabled": True}).refused(403)
    people.ann.post("/api/tokens", {"user": "bob"}).refused(403)
    people.ann.post("/api/tokens", {"role": "admin"}).refused(403)
    people.ann.post("/api/ingestion/scan").refused(403)


def test_tokens_of_others_are_neither_seen_nor_revoked(people: People):
    mine = people.ann.get("/api/tokens").ok()["items"]
    assert {token["user"] for token in mine} == {"ann"}
    people.bob.delete(f"/api/tokens/{mine[0]['id']}").refused(404)
    assert people.ann.get("/api/me").ok()["name"] == "ann"


def test_items_of_others_are_not_requeued(people: People):
    asked = {"scope": "items", "itemIds": [people.item]}
    path = f"/api/jobs/{people.others}/reprocess"
    assert people.bob.post(path, asked).ok()["count"] == 0
    people.bob.post("/api/dead-letters/replay", {"itemIds": [people.item]}).refused(404)
    people.bob.post("/api/dead-letters/replay", {"jobId": people.job}).refused(404)
    dry = {"all": True, "dryRun": True}
    assert people.bob.post("/api/dead-letters/replay", dry).ok()["count"] == 1
    assert people.ann.job(people.job)["counts"]["review"] == 1


def test_the_same_idempotency_key_of_two_users_does_not_meet(people: People):
    body = ("r.csv", rows_csv(1))
    first = people.ann.upload(body, handler="shop.price", once="same")
    second = people.bob.upload(body, handler="shop.price", once="same")
    assert first.ok(202)["jobId"] != second.ok(202)["jobId"]


def test_the_event_stream_shows_no_jobs_of_others(api: ApiServer, people: People):
    parts = urlsplit(api.url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=120)
    headers = {**people.bob.headers, "Last-Event-ID": "0"}
    connection.request("GET", "/api/events", headers=headers)
    heard = connection.getresponse()
    other = people.ann.done(rows_csv(1))
    own = people.bob.done(rows_csv(1), name="told")
    told: set[str] = set()
    while own not in told:
        line = heard.fp.readline().decode()
        if line.startswith("data:"):
            job_id = json.loads(line[5:]).get("jobId")
            told |= {job_id} if job_id else set()
    connection.close()
    assert not told & {other, people.job}


def test_the_number_of_unfinished_jobs_of_a_user_is_limited(tmp_path: Path):
    """Two hundred uploads at once: exactly as many are taken as one may have."""
    with ApiServer(tmp_path, server__unfinished_jobs_per_user=7) as server:
        gate = tmp_path / "gate"
        ann = server.user("ann")
        config = json.dumps({"gate": str(gate)})

        async def upload(session: aiohttp.ClientSession) -> tuple[int, str | None]:
            fields = {"handler": "shop.gated", "config": config}
            body, kind = multipart([("r.csv", b"id\n1\n")], fields)
            headers = {**ann.headers, "Content-Type": kind}
            async with session.post(f"{server.url}/api/jobs", data=body, headers=headers) as reply:
                await reply.read()
                return reply.status, reply.headers.get("Retry-After")

        async def storm() -> list[tuple[int, str | None]]:
            connector = aiohttp.TCPConnector(limit=0)
            async with aiohttp.ClientSession(connector=connector) as session:
                return await asyncio.gather(*(upload(session) for _ in range(200)))

        answers = asyncio.run(storm())
        statuses = [status for status, _ in answers]
        assert sorted(set(statuses)) == [202, 429]
        assert statuses.count(202) == 7
        assert all(later for status, later in answers if status == 429)
        assert len(server.uploads()) == 7  # nothing is kept of what was refused
        assert len(ann.pages("/api/jobs")) == 7
        assert server.user("bob").send(b"id\n1\n", handler="shop.gated", config=config)
        gate.touch()
        for job in ann.pages("/api/jobs"):
            ann.ended(job["id"])
        assert ann.send(rows_csv(1))


def test_the_number_of_open_items_of_a_user_is_limited(tmp_path: Path):
    with ApiServer(tmp_path, server__open_items_per_user=50) as server:
        ann = server.user("ann")
        job = ann.ended(ann.send(rows_csv(51)))
        assert job["state"] == "FAILED"
        assert "50" in job["lastError"]
        assert job["counts"]["total"] == 0
        assert ann.done(rows_csv(50))


def test_a_handler_that_ends_the_event_loop_does_not_stop_the_job_of_another_user(
    api: ApiServer, tmp_path: Path
):
    """Rows of both users run in one process when the loop ends."""
    gate, logs = tmp_path / "gate", [tmp_path / "rude", tmp_path / "innocent"]
    deeds = rows_csv(12, r3="stop the loop", r9="cancel all tasks")
    people = [api.user("rude"), api.user("innocent")]
    jobs = [
        caller.send(
            rows, handler="shop.gated", config=json.dumps({"gate": str(gate), "log": str(log)})
        )
        for caller, rows, log in zip(people, (deeds, rows_csv(12)), logs, strict=True)
    ]
    until(
        lambda: all(log.exists() and len(log.read_text().split()) == 12 for log in logs),
        what="all rows of both to run",
    )
    gate.touch()
    rude, innocent = (
        caller.ended(job, timeout_s=120) for caller, job in zip(people, jobs, strict=True)
    )
    assert (innocent["state"], innocent["counts"]["done"]) == ("DONE", 12)
    assert (rude["counts"]["done"], rude["counts"]["error"]) == (10, 2)
    failed = people[0].items(jobs[0], statuses="ERROR")
    assert [(item["key"], item["errorClass"]) for item in failed] == [
        ("3", "poison"),
        ("9", "poison"),
    ]
    assert {item["attempts"] for item in people[1].items(jobs[1])} == {1}
