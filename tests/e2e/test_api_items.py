"""Items over HTTP: the grid, single rows, why they wait, decisions, and bringing them back."""

import base64
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.kit.api_server import ApiServer, Caller, rows_csv
from tests.kit.command import until

pytestmark = pytest.mark.slow

FIELDS = {
    "id",
    "key",
    "status",
    "summary",
    "result",
    "attempts",
    "errorClass",
    "lastError",
    "dueAt",
    "lockedBy",
    "updatedAt",
}
DEEDS = {"r2": "missing", "r3": "fail", "r4": "review", "r5": "skip"}


@pytest.fixture(scope="module")
def seen(api: ApiServer) -> str:
    """A job that no test changes."""
    return api.admin().done(rows_csv(12, **DEEDS))


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Path]:
    """A file that handlers wait for; there at the end in any case, or they would wait forever."""
    yield tmp_path / "gate"
    (tmp_path / "gate").touch()


@pytest.fixture
def gated(admin: Caller, gate: Path) -> str:
    """A job whose items wait for a file."""
    config = json.dumps({"gate": str(gate)})
    return admin.send(b"id\n1\n2\n3\n", handler="shop.gated", config=config)


# ---- the grid -----------------------------------------------------------------------------------


def test_items_come_in_input_order_with_the_names_of_the_contract(admin: Caller, seen: str):
    page = admin.get(f"/api/jobs/{seen}/items").ok()
    assert page.keys() == {"items", "next"}
    assert page["next"] is None
    assert [item["key"] for item in page["items"]] == [str(n) for n in range(1, 13)]
    for item in page["items"]:
        assert item.keys() >= FIELDS
        assert "input" not in item  # light
    first, missing, failed = page["items"][:3]
    assert first["result"] == {"price": 3, "seen": "name 1"}
    assert (first["status"], first["attempts"], first["errorClass"]) == ("DONE", 1, None)
    assert missing["status"] == "NOT_FOUND"
    assert (failed["status"], failed["errorClass"]) == ("ERROR", "permanent")
    assert "out of stock" in failed["lastError"]


def test_lists_are_compressed_for_clients_that_accept_it(admin: Caller, seen: str):
    path = f"/api/jobs/{seen}/items"
    plain = admin.get(path)
    packed = admin.ask("GET", path, headers={**admin.headers, "Accept-Encoding": "br, gzip"})
    assert "Content-Encoding" not in plain.headers
    assert packed.headers["Content-Encoding"] == "gzip"
    assert int(packed.headers["Content-Length"]) == len(packed.body) < len(plain.body) / 3
    assert gzip.decompress(packed.body) == plain.body
    for answer in (plain, packed):
        assert answer.headers["Vary"] == "Accept-Encoding"
    # What holds a secret stays as it is: its packed length would tell of it.
    me = admin.ask("GET", "/api/me", headers={**admin.headers, "Accept-Encoding": "gzip"})
    assert "Content-Encoding" not in me.headers


@pytest.mark.parametrize("size", [1, 5, 12, 100])
def test_pages_of_any_size_hold_every_row_once(admin: Caller, seen: str, size: int):
    keys = [item["key"] for item in admin.items(seen, pageSize=size)]
    assert keys == [str(n) for n in range(1, 13)]
    by_change = admin.items(seen, pageSize=size, order="updated")
    assert sorted(int(item["key"]) for item in by_change) == [*range(1, 13)]


def test_items_are_found_by_status_text_and_error_class(admin: Caller, seen: str):
    def keys(**query: str) -> list[str]:
        return [item["key"] for item in admin.items(seen, **query)]

    assert keys(statuses="ERROR,NOT_FOUND") == ["2", "3"]
    assert keys(statuses="review") == ["4"]
    assert keys(errorClass="permanent") == ["3"]
    assert keys(q="name 11") == ["11"]
    assert keys(q="nothing like it") == []
    assert keys(q="100%") == []
    admin.get(f"/api/jobs/{seen}/items", statuses="LOST").refused(422, "LOST", "PENDING")
    admin.get(f"/api/jobs/{seen}/items", errorClass="forever").refused(422, "poison")
    admin.get("/api/dead-letters", errorClass="forever").refused(422, "poison")
    admin.get(f"/api/jobs/{seen}/items", order="random").refused(422, "order")
    admin.get(f"/api/jobs/{seen}/items", pageSize=1001).refused(422, "pageSize")


def test_a_cursor_that_is_forged_cut_or_of_another_list_is_refused(
    api: ApiServer, admin: Caller, seen: str
):
    path = f"/api/jobs/{seen}/items"
    good = admin.get(path, pageSize=3).ok()["next"]
    other = admin.done(rows_csv(5))
    forged = base64.urlsafe_b64encode(b"2026|1").decode()
    for wrong in (good[:-3], good[1:], forged, "%", "x" * 400, "\u0661", good + "AAAA"):
        admin.get(path, after=wrong).refused(400, "cursor")
    admin.get(path, after="x" * 401).refused(422, "after")
    admin.get(f"/api/jobs/{other}/items", after=good).refused(400, "cursor")
    admin.get(path, after=good, statuses="DONE").refused(400, "cursor")
    admin.get(path, after=good, order="updated").refused(400, "cursor")
    admin.get("/api/jobs", after=good).refused(400, "cursor")
    admin.get("/api/pending", after=good).refused(400, "cursor")
    admin.get("/api/dead-letters", after=good).refused(400, "cursor")
    ann = api.user("ann")
    for _ in range(2):
        ann.send(rows_csv(1))
    jobs = ann.get("/api/jobs", pageSize=1).ok()["next"]
    api.user("bob").get("/api/jobs", after=jobs).refused(400, "cursor")


def test_a_whole_item_has_its_input_and_history(admin: Caller, seen: str):
    item_id = admin.items(seen)[2]["id"]
    whole = admin.get(f"/api/jobs/{seen}/items/{item_id}").ok()
    assert whole == admin.get(f"/api/items/{item_id}").ok()
    assert whole["input"] == {"id": "3", "name": "name 3", "do": "fail"}
    (attempt,) = whole["history"]
    assert attempt["number"] == 1
    assert attempt["errorClass"] == "permanent"
    assert attempt["calls"] == []
    assert attempt["worker"]


def test_items_are_found_by_their_key(api: ApiServer, admin: Caller, seen: str):
    found = admin.get("/api/items", key="11", jobId=seen).ok()
    assert [(item["jobId"], item["key"]) for item in found["items"]] == [(seen, "11")]
    assert seen in {item["jobId"] for item in admin.get("/api/items", key="11").ok()["items"]}
    assert admin.get("/api/items", key="nobody").ok() == {"items": [], "next": None}
    admin.get("/api/items", key="11", jobId="4711").refused(404)
    stranger = api.user("stranger")
    assert stranger.get("/api/items", key="11").ok()["items"] == []
    stranger.get("/api/items", key="11", jobId=seen).refused(404)


def test_an_attempt_says_where_the_handler_failed(admin: Caller):
    job_id = admin.send(rows_csv(1, r1="raise"))
    until(lambda: any(item["attempts"] for item in admin.items(job_id)))
    (item,) = admin.items(job_id)
    last = admin.get(f"/api/items/{item['id']}").ok()["history"][-1]
    assert last["failedAt"].startswith("shop.py:")
    assert "headgate/engine" not in last["traceback"]
    assert last["traceback"].endswith(last["reason"])


# ---- waiting ------------------------------------------------------------------------------------


def test_why_an_item_waits(admin: Caller, seen: str, gated: str):
    finished = admin.items(seen)[0]["id"]
    answer = admin.get(f"/api/items/{finished}/why").ok()
    assert answer.items() >= {"itemId": finished, "status": "DONE", "waiting": None}.items()
    assert answer["ended"] == "it is finished"
    until(lambda: admin.job(gated)["counts"]["processing"] == 3, what="work to begin")
    item = admin.items(gated)[0]
    assert item["lockedBy"]
    assert admin.get(f"/api/items/{item['id']}/why").ok()["status"] == "PROCESSING"
    admin.post(f"/api/jobs/{gated}/cancel").ok()


def test_why_an_item_of_a_paused_job_waits(admin: Caller, gate: Path):
    config = json.dumps({"gate": str(gate)})
    job_id = admin.send(rows_csv(3_000), handler="shop.gated", config=config)
    until(lambda: admin.job(job_id)["counts"]["processing"], what="work to begin")
    admin.post(f"/api/jobs/{job_id}/pause").ok()
    last = admin.items(job_id, statuses="PENDING", pageSize=1000)[-1]
    waiting = admin.get(f"/api/items/{last['id']}/why").ok()["waiting"]
    assert (waiting["kind"], waiting["gate"]) == ("paused", "")
    assert "paused" in waiting["why"]
    listed = admin.get(f"/api/jobs/{job_id}/items", statuses="PENDING", waits="true").ok()["items"]
    assert {item["waiting"]["why"] for item in listed} == {waiting["why"]}
    plain = admin.get(f"/api/jobs/{job_id}/items", statuses="PENDING").ok()["items"]
    assert {item["waiting"] for item in plain} == {None}
    admin.post(f"/api/jobs/{job_id}/cancel").ok()


def test_pending_shows_every_row_at_least_once_while_a_worker_runs(api: ApiServer):
    ann = api.user("walker")
    job_id = ann.send(rows_csv(3_000), handler="shop.plain")
    seen: set[str] = set()
    finished: set[str] = set()
    while not finished:
        rows = ann.pages("/api/pending", jobId=job_id, pageSize=50)
        seen |= {row["id"] for row in rows}
        assert {row["status"] for row in rows} <= {"PENDING", "PROCESSING"}
        if ann.job(job_id)["state"] == "DONE":
            finished = {item["id"] for item in ann.items(job_id, pageSize=1000)}
    assert seen <= finished
    assert len(finished) == 3_000


def test_one_request_reprocesses_matching_items_across_jobs(api: ApiServer):
    ann, bob = api.user("across-ann"), api.user("across-bob")
    one = ann.done(rows_csv(4, r1="missing", r2="missing", r3="fail"))
    two = ann.done(rows_csv(3, r1="missing"))
    other = bob.done(rows_csv(2, r1="missing"))
    path = "/api/pending/reprocess"
    asked = {"statuses": ["NOT_FOUND"], "dryRun": True}
    counted = ann.post(path, asked).ok()
    assert (counted["count"], set(counted["jobIds"])) == (3, {one, two})
    listed = ann.items(one, statuses="NOT_FOUND")
    others = {**asked, "exceptIds": [listed[0]["id"]]}
    assert ann.post(path, others).ok()["count"] == 2
    assert ann.post(path, {**asked, "jobId": two}).ok()["count"] == 1
    assert ann.post(path, {**asked, "jobId": two, "jobType": "shop.ask"}).ok()["count"] == 0
    assert ann.post(path, {**asked, "to": listed[0]["updatedAt"]}).ok()["count"] == 0
    ann.post(path, {**asked, "userId": "all"}).refused(403, "admins")
    ann.post(path, {**asked, "jobId": other}).refused(404)
    ann.post(path, {"statuses": ["PENDING"]}).refused(422, "finished")
    assert ann.job(one)["counts"]["notFound"] == 2
    assert ann.post(path, {"statuses": ["NOT_FOUND", "ERROR"]}).ok()["count"] == 4
    assert ann.ended(one)["counts"]["notFound"] == 2
    assert [each["kind"] for each in ann.pages("/api/events/log", jobId=one)].count("asked") == 1


def test_rows_that_wait_throughout_are_all_listed(api: ApiServer, gate: Path):
    ann = api.user("waiter")
    rows = b"id\n" + b"".join(b"%d\n" % n for n in range(500))
    job_id = ann.send(rows, handler="shop.gated", config=json.dumps({"gate": str(gate)}))
    until(lambda: len(ann.pages("/api/pending", pageSize=1000)) == 500, what="all to be listed")
    listed = [row["key"] for row in ann.pages("/api/pending", pageSize=7)]
    assert set(listed) == {str(n) for n in range(500)}
    assert ann.pages("/api/pending", jobType="shop.price") == []
    ann.get("/api/pending", statuses="DONE").refused(422, "DONE")
    at = ann.get("/api/pending", pageSize=1).ok()["items"][0]["updatedAt"]
    assert ann.pages("/api/pending", to=at) == []
    assert len(ann.pages("/api/pending", **{"from": at, "pageSize": 1000})) == 500
    ann.get("/api/pending", to="yesterday").refused(422, "to")
    of_job = f"/api/jobs/{job_id}/items"
    assert ann.pages(of_job, order="updated", to=at) == []
    assert len(ann.pages(of_job, order="updated", pageSize=1000, **{"from": at})) == 500
    ann.get(of_job, to=at).refused(422, "order")
    row = ann.get("/api/pending", pageSize=1).ok()["items"][0]
    assert (row["owner"], row["handler"], row["gate"]) == ("waiter", "shop.gated", "")
    gate.touch()
    assert ann.ended(job_id)["counts"]["done"] == 500


def test_the_pending_view_can_be_switched_off(tmp_path: Path):
    with ApiServer(tmp_path, server__pending_view="false") as server:
        server.admin().get("/api/pending").refused(404, "pending_view")
        server.admin().get("/api/pending/oldest").refused(404, "pending_view")


def test_the_owner_sees_the_oldest_item_of_each_job(api: ApiServer, gate: Path):
    ann, bob = api.user("elder"), api.user("younger")
    config = json.dumps({"gate": str(gate)})
    jobs = [ann.send(rows_csv(n), handler="shop.gated", config=config) for n in (2, 3)]
    until(
        lambda: sum(each["counts"]["processing"] for each in oldest(ann)["jobs"]) == 5,
        what="all items to be held",
    )
    told = oldest(ann)["jobs"]
    assert {each["jobId"] for each in told} == set(jobs)
    assert told == sorted(told, key=lambda each: each["oldestAt"])
    first = next(each for each in told if each["jobId"] == jobs[0])
    assert (first["owner"], first["handler"]) == ("elder", "shop.gated")
    until(lambda: len(ann.pages("/api/pending", jobId=jobs[0])) == 2, what="its items to be listed")
    rows = ann.pages("/api/pending", jobId=jobs[0])
    assert first["oldestAt"] == min(row["updatedAt"] for row in rows)
    assert first["itemId"] in {row["id"] for row in rows}
    assert oldest(bob) == {"jobs": [], "providers": []}
    bob.get("/api/pending/oldest", userId="all").refused(403, "admins")
    everybody = api.admin().get("/api/pending/oldest", userId="all").ok()["jobs"]
    assert set(jobs) <= {each["jobId"] for each in everybody}
    gate.touch()
    for job_id in jobs:
        ann.ended(job_id)
    assert oldest(ann)["jobs"] == []


def oldest(caller: Caller) -> dict[str, Any]:
    return caller.get("/api/pending/oldest").ok()


# ---- decisions ----------------------------------------------------------------------------------


def test_a_person_decides_once(api: ApiServer):
    ann = api.user("judge")
    job_id = ann.done(rows_csv(3, r1="review", r2="review", r3="review"))
    first, second, third = (item["id"] for item in ann.items(job_id))
    waiting = ann.pages("/api/reviews", pageSize=2)
    assert {item["id"] for item in waiting} == {first, second, third}
    assert ann.pages("/api/reviews", jobId=job_id, pageSize=2) == waiting
    ann.post(f"/api/items/{first}/accept", {"candidateId": "Q9"}).refused(422, "Q9", "Q1")
    ann.post(f"/api/items/{first}/accept", {}).refused(422, "candidateId")
    taken = ann.post(f"/api/items/{first}/accept", {"candidateId": "Q2", "reason": "sure"}).ok()
    assert (taken["status"], taken["result"]) == ("DONE", {"match": "Q2"})
    assert taken["decision"] == "accepted candidate Q2, decided by judge: sure"
    ann.post(f"/api/items/{first}/accept", {"candidateId": "Q1"}).refused(409)
    assert ann.post(f"/api/items/{second}/reject").ok()["status"] == "NOT_FOUND"
    assert ann.post(f"/api/items/{third}/skip", {"reason": "later"}).ok()["status"] == "SKIPPED"
    for verb in ("reject", "skip"):
        ann.post(f"/api/items/{third}/{verb}").refused(409)
    job = ann.job(job_id)
    assert (job["state"], job["counts"]["review"]) == ("DONE", 0)
    assert ann.pages("/api/reviews") == []
    log = ann.get("/api/events/log", jobId=job_id).ok()["items"]
    told = [event for event in log if event["itemId"] == first]
    assert any("judge" in event["message"] for event in told), log


# ---- bringing back ------------------------------------------------------------------------------


@pytest.fixture
def mixed(admin: Caller) -> str:
    return admin.done(rows_csv(8, r1="missing", r2="fail", r3="fail", r4="skip", r5="review"))


CASES: list[tuple[dict[str, Any] | None, int]] = [
    (None, 3),
    ({}, 3),
    ({"scope": "job"}, 3),
    ({"statuses": ["DONE"]}, 3),
    ({"statuses": ["ERROR", "SKIPPED"]}, 3),
    ({"statuses": ["REVIEW"]}, 1),
    ({"errorClass": "permanent"}, 2),
    ({"errorClass": "timeout"}, 0),
    ({"filter": {"q": "name 2"}}, 1),
    ({"resetAttempts": True}, 3),
]


@pytest.mark.parametrize(("asked", "count"), CASES)
def test_reprocess_includes_every_matching_item(
    admin: Caller, mixed: str, asked: dict[str, Any] | None, count: int
):
    path = f"/api/jobs/{mixed}/reprocess"
    dry = admin.post(path, {**(asked or {}), "dryRun": True}).ok()
    assert dry == {"jobId": mixed, "count": count}
    assert admin.job(mixed)["state"] == "DONE"
    assert admin.post(path, asked).ok()["count"] == count
    job = admin.ended(mixed)
    assert job["counts"]["total"] == 8
    assert (job["counts"]["error"], job["counts"]["notFound"]) == (2, 1)


def test_reprocess_of_chosen_items(admin: Caller, mixed: str):
    ids = [item["id"] for item in admin.items(mixed)][:2]
    path = f"/api/jobs/{mixed}/reprocess"
    assert admin.post(path, {"scope": "items", "itemIds": ids}).ok()["count"] == 2
    assert admin.ended(mixed)["counts"]["total"] == 8
    again = {item["id"]: item["attempts"] for item in admin.items(mixed)}
    assert [again[item_id] for item_id in ids] == [2, 2]
    unknown = {"scope": "items", "itemIds": ["999999", "x"]}
    assert admin.post(path, unknown).ok()["count"] == 0


def test_reprocess_leaves_out_excluded_items(admin: Caller, mixed: str):
    failed = [item["id"] for item in admin.items(mixed, statuses="ERROR")]
    path, asked = f"/api/jobs/{mixed}/reprocess", {"statuses": ["ERROR"], "exceptIds": failed[:1]}
    assert len(failed) == 2
    assert admin.post(path, {**asked, "dryRun": True}).ok()["count"] == 1
    assert admin.post(path, asked).ok()["count"] == 1
    admin.ended(mixed)
    tried = {item["id"]: item["attempts"] for item in admin.items(mixed, statuses="ERROR")}
    assert [tried[item_id] for item_id in failed] == [1, 2]


def test_reprocess_leaves_items_alone_that_reached_their_cap(tmp_path: Path):
    with ApiServer(tmp_path, retry__max_attempts_ever=2) as server:
        admin = server.admin()
        job_id = admin.done(rows_csv(1, r1="fail"))
        path = f"/api/jobs/{job_id}/reprocess"
        assert admin.post(path).ok()["count"] == 1
        admin.ended(job_id)
        assert admin.post(path).ok()["count"] == 0
        assert admin.post(path, {"resetAttempts": True}).ok()["count"] == 1


@pytest.mark.parametrize(
    ("asked", "word"),
    [
        ({"scope": "all"}, "scope"),
        ({"scope": "items"}, "itemIds"),
        ({"itemIds": ["1"]}, "itemIds"),
        ({"statuses": ["PENDING"]}, "PENDING"),
        ({"statuses": ["LOST"]}, "'REVIEW', 'ERROR' or 'CANCELLED'"),
        ({"errorClass": "perm"}, "the classes are transient, throttled"),
        ({"resetAttempts": "yes"}, "resetAttempts"),
        ({"filter": {"sql": "1=1"}}, "sql"),
        ({"more": 1}, "more"),
    ],
)
def test_a_reprocess_that_is_invalid_is_refused(
    admin: Caller, seen: str, asked: dict[str, Any], word: str
):
    admin.post(f"/api/jobs/{seen}/reprocess", asked).refused(422, word)


def test_reprocess_brings_a_cancelled_job_back(admin: Caller, gated: str, gate: Path):
    admin.reached(gated, "QUEUED", "RUNNING")
    admin.post(f"/api/jobs/{gated}/cancel").ok()
    until(lambda: admin.job(gated)["counts"]["cancelled"] == 3, what="its items to be cancelled")
    gate.touch()
    path = f"/api/jobs/{gated}/reprocess"
    assert admin.post(path, {"statuses": ["CANCELLED"]}).ok()["count"] == 3
    assert admin.ended(gated)["counts"]["done"] == 3


def test_dead_letters_are_listed_and_replayed(api: ApiServer):
    ann = api.user("undertaker")
    job_id = ann.done(rows_csv(4, r1="fail", r2="fail", r3="missing"))
    letters = ann.pages("/api/dead-letters", pageSize=1)
    assert [letter["key"] for letter in letters] == ["1", "2"]
    assert ann.pages("/api/dead-letters", errorClass="timeout") == []
    assert len(ann.pages("/api/dead-letters", jobType="shop.price")) == 2
    path = "/api/dead-letters/replay"
    for wrong in ({}, {"all": True, "jobId": job_id}, {"all": "yes"}, {"jobId": 1}):
        ann.post(path, wrong).refused(422)
    ann.post(path, {"itemIds": ["x"]}).refused(404)
    unknown = "'perm'; the classes are transient, throttled"
    ann.post(path, {"all": True, "errorClass": "perm"}).refused(422, unknown)
    assert ann.post(path, {"all": True, "dryRun": True}).ok()["count"] == 2
    every = {"all": True, "dryRun": True}
    assert ann.post(path, every | {"jobType": "shop.price"}).ok()["count"] == 2
    assert ann.post(path, every | {"jobType": "shop.plain"}).ok() == {"count": 0, "jobIds": []}
    assert ann.post(path, every | {"exceptIds": [letters[0]["id"]]}).ok()["count"] == 1
    ann.post(path, {"jobId": job_id, "jobType": "shop.price"}).refused(422, "jobType")
    assert ann.post(path, {"itemIds": [letters[0]["id"]]}).ok()["count"] == 1
    ann.ended(job_id)
    assert ann.post(path, {"jobId": job_id, "errorClass": "permanent"}).ok()["count"] == 2
    ann.ended(job_id)


# ---- slices -------------------------------------------------------------------------------------


def test_a_kickoff_works_beside_background_workers(admin: Caller):
    job_id = admin.send(rows_csv(400), handler="shop.plain")
    done = admin.post(f"/api/jobs/{job_id}/kickoff", durationMs=4000).ok()
    assert done.keys() == {"settled", "remaining", "more", "durationMs"}
    assert 0 <= done["settled"] <= 400
    assert done["more"] is (done["remaining"] > 0)
    job = admin.ended(job_id)
    assert job["counts"]["done"] == 400
    assert {item["attempts"] for item in admin.items(job_id, pageSize=1000)} == {1}
    nothing = admin.post(f"/api/jobs/{job_id}/kickoff", durationMs=1000).ok()
    assert (nothing["settled"], nothing["remaining"], nothing["more"]) == (0, 0, False)
    for wrong in (0, -1, 30_001, "long"):
        admin.post(f"/api/jobs/{job_id}/kickoff", durationMs=wrong).refused(422, "durationMs")
