"""Jobs over HTTP: made, listed, seen, steered, deleted."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kit.api_server import ApiServer, Caller, rows_csv
from tests.kit.command import until

pytestmark = pytest.mark.slow

COUNTS = {
    "total",
    "pending",
    "processing",
    "done",
    "notFound",
    "skipped",
    "review",
    "error",
    "cancelled",
}
DEEDS = {"r2": "missing", "r3": "fail", "r4": "review", "r5": "skip"}


@pytest.fixture(scope="module")
def seen(api: ApiServer) -> str:
    """A job that no test changes."""
    return api.admin().done(rows_csv(6, **DEEDS), name="all kinds")


@pytest.fixture
def gated(admin: Caller, tmp_path: Path) -> Iterator[str]:
    """A job whose only item waits for a file, which is there in the end."""
    job_id = admin.send(
        b"id\n1\n", handler="shop.gated", config=json.dumps({"gate": str(tmp_path / "gate")})
    )
    until(lambda: admin.job(job_id)["counts"]["processing"] == 1, what="work to begin")
    yield job_id
    (tmp_path / "gate").touch()


def test_an_upload_is_accepted_stored_and_worked_on(admin: Caller):
    answer = admin.upload(("r.csv", rows_csv(3)), handler="shop.price", key="id")
    job_id = answer.ok(202)["jobId"]
    assert answer.headers["Location"] == f"/api/jobs/{job_id}"
    assert isinstance(job_id, str)
    job = admin.ended(job_id)
    assert (job["state"], job["counts"]["done"], job["counts"]["total"]) == ("DONE", 3, 3)
    assert (job["owner"], job["client"], job["file"]) == ("local", "127.0.0.1", "r.csv")


def test_a_job_has_the_names_of_the_contract(admin: Caller, seen: str):
    job = admin.job(seen)
    assert job.keys() >= {"id", "name", "handler", "state", "counts", "lastError"}
    assert job.keys() >= {"rate", "eta", "limitedBy", "heartbeat", "ingest"}
    assert job["counts"].keys() == COUNTS
    assert job["counts"] == {
        "total": 6,
        "pending": 0,
        "processing": 0,
        "done": 2,
        "notFound": 1,
        "skipped": 1,
        "review": 1,
        "error": 1,
        "cancelled": 0,
    }
    assert (job["id"], job["name"], job["handler"]) == (seen, "all kinds", "shop.price")
    assert job["ingest"].keys() >= {"rows", "ingestMs", "batchRows", "latencyEwmaMs"}


def test_inline_items_become_a_job(admin: Caller):
    items = [{"id": 1, "name": "a"}, {"id": 2, "do": "fail"}]
    asked = {"handler": "shop.price", "key": "id", "items": items, "name": "inline"}
    job = admin.ended(admin.post("/api/jobs", asked).ok(202)["jobId"])
    assert (job["counts"]["done"], job["counts"]["error"]) == (1, 1)


def test_a_source_reference_becomes_a_job(tmp_path: Path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "far.csv").write_bytes(rows_csv(4))
    with ApiServer(tmp_path, places__roots=tmp_path / "in") as server:
        admin = server.admin()
        asked = {"handler": "shop.price", "key": "id", "source": f"file:{tmp_path}/in/far.csv"}
        job = admin.ended(admin.post("/api/jobs", asked).ok(202)["jobId"])
        assert (job["state"], job["counts"]["done"], job["file"]) == ("DONE", 4, "far.csv")
        outside = {**asked, "source": f"file:{tmp_path}/in/../headgate.db"}
        admin.post("/api/jobs", outside).refused(422, "roots")
        gone = {**asked, "source": f"file:{tmp_path}/in/gone.csv"}
        failed = admin.ended(admin.post("/api/jobs", gone).ok(202)["jobId"])
        assert failed["state"] == "FAILED"
        assert "gone.csv" in failed["lastError"]


@pytest.mark.parametrize(
    "source",
    [
        "http://127.0.0.1:9/x.csv",
        "https://169.254.169.254/latest/meta-data",
        "ftp://10.0.0.1/x.csv",
        "sftp://[::1]/x.csv",
        "gopher://example.org/x.csv",
        "/etc/passwd",
        "upload:00000000000000000000000000000000/x.csv",
    ],
)
def test_forbidden_places_are_refused_or_fail_in_the_background(admin: Caller, source: str):
    answer = admin.post("/api/jobs", {"handler": "shop.price", "source": source})
    if answer.status == 202:  # whether a place can be reached is found out later
        job = admin.ended(answer.json["jobId"])
        assert job["state"] == "FAILED"
        assert "not allowed" in job["lastError"] or "private" in job["lastError"], job["lastError"]
    else:
        answer.refused(422)


@pytest.mark.parametrize(
    "handler",
    [
        "shop.py",
        "./shop.py:price",
        "os:system",
        "headgate.testing:run_handler",
        "none",
        "download",  # it writes wherever a job says
    ],
)
def test_a_handler_is_a_name_that_is_listed(admin: Caller, handler: str):
    listed = {each["name"] for each in admin.get("/api/handlers").ok()["items"]}
    assert {"shop.price", "shop.gated"} <= listed
    assert handler not in listed
    admin.upload(("r.csv", rows_csv(1)), handler=handler).refused(422, "shop.price")
    admin.post("/api/jobs", {"handler": handler, "items": [{"id": 1}]}).refused(422, "shop.price")


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("http://127.0.0.1:8080/{id}", "loopback"),
        ("https://192.168.7.7/prices?id={id}", "private"),
        ("http://shop.localhost/{id}", "loopback"),
    ],
)
def test_a_lookup_at_a_private_address_is_refused_before_the_first_row(
    api: ApiServer, admin: Caller, url: str, kind: str
):
    kept = api.uploads()
    config = {"lookup": {"request": {"url": url}, "columns": {"price": "price"}}}
    asked = {"handler": "http.lookup", "config": config}
    words = (f"which is {kind} and not public: every row", "`allow_private = true` under [net]")
    admin.post("/api/jobs", {**asked, "items": [{"id": 1}]}).refused(422, *words)
    admin.post("/api/jobs", {**asked, "source": "https://example.org/x.csv"}).refused(422, *words)
    given = {"handler": "http.lookup", "config": json.dumps(config)}
    admin.upload(("rows.csv", rows_csv(1)), **given).refused(422, *words)
    assert api.uploads() == kept


@pytest.mark.parametrize(
    ("asked", "word"),
    [
        ({"items": [{"id": 1}]}, "handler"),
        ({"handler": "shop.price"}, "source"),
        ({"handler": "shop.price", "items": [], "source": "file:x"}, "source"),
        ({"handler": "shop.price", "items": []}, "items"),
        ({"handler": "shop.price", "items": [{"id": 1}], "priority": 11}, "priority"),
        ({"handler": "shop.price", "items": [{"id": 1}], "priority": "high"}, "priority"),
        ({"handler": "shop.price", "items": [{"id": 1}], "surprise": 1}, "surprise"),
        ({"handler": "shop.price", "items": [{"id": 1}], "reuse": "long"}, "reuse"),
        ({"handler": "shop.price", "items": [{"id": 1}], "onBadRow": "shrug"}, "onBadRow"),
        ({"handler": "shop.price", "items": [{"id": 1}], "key": "isbn"}, "isbn"),
        ({"handler": "shop.price", "items": [{"id": 1}], "columns": {"x": "y"}}, "columns"),
        ({"handler": "shop.price", "items": [{"id": 1}], "read": {"format": "docx"}}, "docx"),
        ({"handler": "shop.price", "items": [1]}, "items"),
    ],
)
def test_a_request_that_is_invalid_is_refused_by_field(
    api: ApiServer, admin: Caller, asked: object, word: str
):
    kept = api.uploads()
    admin.post("/api/jobs", asked).refused(422, word)
    assert api.uploads() == kept


def test_a_body_that_is_not_json_is_refused(admin: Caller):
    kind = {"Content-Type": "application/json"}
    admin.ask("POST", "/api/jobs", body=b"{", headers=kind).refused(400, "JSON")
    admin.ask("POST", "/api/jobs", body=b"[" * 100_000, headers=kind).refused(400)
    text = {"Content-Type": "text/plain"}
    admin.ask("POST", "/api/jobs", body=b"x", headers=text).refused(415, "multipart/form-data")
    bare = {"Content-Type": "multipart/form-data"}
    admin.ask("POST", "/api/jobs", body=b"x", headers=bare).refused(415, "boundary")


def test_jobs_are_listed_newest_first_by_cursor(api: ApiServer):
    ann = api.user("lister")
    made = [ann.send(rows_csv(1), name=f"list {n}") for n in range(5)]
    for job_id in made:
        ann.ended(job_id)
    first = ann.get("/api/jobs", pageSize=2).ok()
    assert [job["id"] for job in first["items"]] == made[:-3:-1]
    assert first["next"]
    assert [job["id"] for job in ann.pages("/api/jobs", pageSize=2)] == made[::-1]
    assert [job["name"] for job in ann.get("/api/jobs", q="list 3").ok()["items"]] == ["list 3"]
    assert ann.get("/api/jobs", states="RUNNING").ok()["items"] == []
    assert len(ann.get("/api/jobs", states="DONE,FAILED").ok()["items"]) == 5
    assert ann.get("/api/jobs", handler="shop.gated").ok()["items"] == []
    ann.get("/api/jobs", states="BUSY").refused(422, "BUSY", "RUNNING")


def test_pause_resume_and_cancel_follow_the_table_of_moves(admin: Caller, gated: str):
    admin.post(f"/api/jobs/{gated}/resume").refused(409)
    assert admin.post(f"/api/jobs/{gated}/pause").ok()["state"] == "PAUSED"
    admin.post(f"/api/jobs/{gated}/pause").refused(409)
    assert admin.post(f"/api/jobs/{gated}/resume").ok()["state"] in {"QUEUED", "RUNNING"}
    assert admin.post(f"/api/jobs/{gated}/cancel").ok()["state"] == "CANCELLED"
    for verb in ("pause", "resume", "cancel"):
        admin.post(f"/api/jobs/{gated}/{verb}").refused(409, "CANCELLED")
    until(lambda: admin.job(gated)["counts"]["cancelled"] == 1, what="its item to be cancelled")


def test_priority_is_bounded(admin: Caller, gated: str):
    path = f"/api/jobs/{gated}/priority"
    assert admin.post(path, {"priority": 3.0}).ok()["priority"] == 3
    assert admin.job(gated)["priority"] == 3
    for wrong in (11, -11, "1", 1.5, None, True):
        admin.post(path, {"priority": wrong}).refused(422, "priority")
    admin.post(path, {}).refused(422, "priority")
    admin.post(path, {"priority": 1, "more": 1}).refused(422, "more")
    admin.post(f"/api/jobs/{gated}/cancel").ok()


def test_delete_takes_everything_with_it(api: ApiServer, admin: Caller):
    before = api.uploads()
    job_id = admin.done(rows_csv(3))
    item = admin.items(job_id)[0]["id"]
    assert len(api.uploads()) == len(before) + 1
    export = admin.post(f"/api/jobs/{job_id}/export", format="csv").ok(202)["id"]
    path = f"/api/jobs/{job_id}/exports/{export}"
    until(lambda: admin.get(path).status == 200, what="the export")
    assert admin.delete(f"/api/jobs/{job_id}").status == 204
    assert api.uploads() == before
    assert not (api.data / "exports" / job_id).exists()
    for gone in (f"/api/jobs/{job_id}", f"/api/items/{item}", path):
        admin.get(gone).refused(404)
    admin.delete(f"/api/jobs/{job_id}").refused(404)


def test_a_running_job_is_cancelled_and_deleted(admin: Caller, gated: str):
    assert admin.delete(f"/api/jobs/{gated}").status == 204
    admin.get(f"/api/jobs/{gated}").refused(404)


def test_errors_are_grouped_by_what_they_say(admin: Caller):
    job_id = admin.done(rows_csv(5, r1="fail", r2="fail", r3="missing"))
    (group,) = admin.get(f"/api/jobs/{job_id}/errors").ok()["items"]
    assert group["count"] == 2
    assert group.keys() == {"signature", "errorClass", "count", "example"}
    assert "out of stock" in group["example"]["reason"]
    found = admin.items(job_id, signature=group["signature"])
    assert {item["key"] for item in found} == {"1", "2"}
    assert group["example"]["itemId"] in {item["id"] for item in found}


@pytest.mark.parametrize("name", ["page", "offset"])
@pytest.mark.parametrize("path", ["/api/jobs", "/api/jobs/{job}/items", "/api/pending"])
def test_counted_pages_are_refused_with_an_explanation(
    admin: Caller, seen: str, path: str, name: str
):
    path = path.replace("{job}", seen)
    admin.get(path, **{name: 2}).refused(400, name, "after", "next")
