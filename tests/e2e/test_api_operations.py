"""What operators need: how the server starts, gates, workers, arrivals, slices, both stores."""

import json
import queue
import threading
from pathlib import Path

import pytest

from tests.kit.api_server import Answer, ApiServer, Caller, rows_csv
from tests.kit.command import PATIENCE_S, until

pytestmark = pytest.mark.slow


# ---- starting -----------------------------------------------------------------------------------


def test_the_server_listens_on_the_network_only_with_users(tmp_path: Path):
    server = ApiServer(tmp_path)
    words = ("serve", "--handlers", server.handlers, "--port", "0", "--json", "--host", "0.0.0.0")
    refused = server.project.run(*words)
    assert refused.code == 2
    assert "headgate users add" in refused.err
    assert refused.out == ""
    added = server.project.invoke("users", "add", "ann", "--role", "admin", "--json")
    assert added.code == 0, added.err
    with server.project.start(*words) as command:
        until(lambda: command.said or not command.running, what="the server")
        assert command.said, command.talk
        url = json.loads(command.said.splitlines()[0])["url"]
        assert url.startswith("http://0.0.0.0:")
        ann = Caller(url.replace("0.0.0.0", "127.0.0.1"), added.json["token"])
        assert ann.get("/api/me").ok() == {"name": "ann", "role": "admin", "csrf": None}


def test_a_server_that_cannot_start_says_why(api: ApiServer, tmp_path: Path):
    other = ApiServer(tmp_path)
    port = api.url.rpartition(":")[2]
    taken = other.project.run("serve", "--port", port)
    assert taken.code == 2
    assert "--port" in taken.err
    broken = tmp_path / "broken.py"
    broken.write_text("import nothing_of_that_name\n")
    assert other.project.run("serve", "--port", "0", "--handlers", broken).code == 2


def test_users_of_the_command_line_are_let_in(api: ApiServer):
    made = api.project.invoke("users", "add", "cli", "--json")
    caller = Caller(api.url, made.json["token"])
    assert caller.get("/api/me").ok()["role"] == "user"
    second = api.project.invoke("users", "token", "cli", "--role", "viewer", "--json").json
    assert Caller(api.url, second["token"]).get("/api/me").ok()["role"] == "viewer"
    assert api.project.invoke("users", "revoke", second["id"]).code == 0
    Caller(api.url, second["token"]).get("/api/me").refused(401)
    assert api.project.invoke("users", "revoke", "--user", "cli").code == 0
    caller.get("/api/me").refused(401)
    assert api.project.invoke("users", "token", "cli").code == 2
    assert api.project.invoke("users", "enable", "cli").code == 0
    third = api.project.invoke("users", "token", "cli", "--json").json
    assert Caller(api.url, third["token"]).get("/api/me").ok()["name"] == "cli"


# ---- gates and workers --------------------------------------------------------------------------


def test_workers_are_listed_and_sent_home(tmp_path: Path):
    with ApiServer(tmp_path) as server:
        admin = server.admin()
        until(lambda: admin.get("/api/workers").ok()["items"], what="a worker")
        (worker,) = admin.get("/api/workers").ok()["items"]
        assert worker.keys() >= {"id", "host", "pid", "running", "draining", "beatAt"}
        admin.done(rows_csv(3))
        until(
            lambda: admin.get("/api/workers").ok()["items"][0]["claimSize"] > 0,
            what="its claim size to be told with a heartbeat",
        )
        admin.post("/api/workers/nobody/drain").refused(404, "nobody")
        assert admin.post(f"/api/workers/{worker['id']}/drain").ok(202)["draining"]
        until(lambda: not admin.get("/api/workers").ok()["items"], what="it to go")
        until(lambda: admin.get("/readyz").status == 503, what="readiness to tell of it")
        everyone = admin.get("/api/workers", all="true").ok()["items"]
        assert worker["id"] in {each["id"] for each in everyone}
        # A slice brings a worker of its own.
        job_id = admin.send(rows_csv(3))
        admin.reached(job_id, "QUEUED", "RUNNING")
        done = admin.post(f"/api/jobs/{job_id}/kickoff", durationMs=20_000).ok()
        assert (done["settled"], done["remaining"], done["more"]) == (3, 0, False)


def test_gates_are_listed_and_shown(admin: Caller):
    assert admin.get("/api/providers").ok()["items"] == []
    admin.get("/api/providers/nobody").refused(404, "nobody")
    admin.patch("/api/providers/nobody", {"paused": True}).refused(404)
    admin.patch("/api/providers/nobody", {"rate": 5}).refused(422, "rate")
    admin.patch("/api/providers/nobody", {"rate": "5/s", "forS": 0}).refused(422, "forS")


def test_admins_see_the_whole_system(tmp_path: Path):
    with ApiServer(tmp_path) as server:
        admin, ann = server.admin(), server.user("ann")
        ann.done(rows_csv(4, r1="fail"))
        ann.get("/api/system").refused(403)
        until(lambda: admin.get("/api/system").ok()["sweeper"]["holder"], what="a sweeper")
        told = admin.get("/api/system").ok()
        database, queue_ = told["database"], told["queue"]
        assert (database["kind"], database["jobs"], database["items"]) == ("sqlite", 1, 4)
        assert database["schemaVersion"] == database["latestSchemaVersion"]
        assert database["sizeBytes"] > 0
        assert (queue_["counts"]["error"], queue_["errorShare"]) == (1, 0.25)
        assert [each["name"] for each in told["loops"] if not each["alive"]] == []
        assert {each["name"] for each in told["loops"]} == {
            "server token",
            "health readings",
            "job histories",
            "supervisor",
            "supervisor: workers",
            "file worker",
            "file worker: files",
            "file worker: clearing",
        }
        assert told["logLinesLost"] == 0
        assert told["sweeper"]["retentionDays"] > 0


# ---- slices -------------------------------------------------------------------------------------


def test_one_slice_at_a_time_for_each_job_and_user(api: ApiServer, tmp_path: Path):
    gate = tmp_path / "gate"
    ann = api.user("slicer")
    config = json.dumps({"gate": str(gate)})
    job_id = ann.send(rows_csv(2_000), handler="shop.gated", config=config)
    path = f"/api/jobs/{job_id}/kickoff"
    answers: queue.Queue[Answer] = queue.Queue()
    both = [
        threading.Thread(target=lambda: answers.put(ann.post(path, durationMs=25_000)))
        for _ in range(2)
    ]
    try:
        ann.reached(job_id, "RUNNING")
        for one in both:
            one.start()
        answers.get(timeout=PATIENCE_S).refused(409, "already running")
    finally:
        gate.touch()
    report = answers.get(timeout=PATIENCE_S).ok()
    assert report["remaining"] == 0 or report["more"]
    assert ann.ended(job_id)["counts"]["done"] == 2_000
    for one in both:
        one.join()


# ---- arrivals -----------------------------------------------------------------------------------


def test_each_new_file_becomes_one_job(tmp_path: Path):
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    settings = {
        "places__roots": inbox,
        "server__watch": f"shop.price=file:{inbox}/*.csv",
        "server__watch_settle_s": 0.1,
    }
    with ApiServer(tmp_path, **settings) as server:
        admin = server.admin()
        (inbox / "a.csv").write_bytes(rows_csv(2))
        (inbox / "b.txt").write_text("not for us")
        found = admin.post("/api/ingestion/scan").ok()
        assert found["problems"] == []
        (arrived,) = found["jobs"]
        assert arrived["source"].endswith("a.csv")
        assert admin.ended(arrived["jobId"])["counts"]["done"] == 2
        again = admin.post("/api/ingestion/scan").ok()
        assert (again["jobs"], again["known"]) == ([], 1)
        assert admin.delete(f"/api/jobs/{arrived['jobId']}").status == 204
        assert admin.post("/api/ingestion/scan").ok()["jobs"] == []  # once is once


# ---- the other store ----------------------------------------------------------------------------


@pytest.mark.postgres
def test_the_same_on_postgresql(postgres_url: str, tmp_path: Path):
    with ApiServer(tmp_path, postgres_url) as server:
        ann, bob = server.user("ann"), server.user("bob")
        job_id = ann.done(rows_csv(20, r1="fail", r2="review", r3="missing"))
        counts = ann.job(job_id)["counts"]
        assert (counts["done"], counts["error"], counts["review"]) == (17, 1, 1)
        bob.get(f"/api/jobs/{job_id}").refused(404)
        assert [item["key"] for item in ann.items(job_id, pageSize=7)] == [
            str(n) for n in range(1, 21)
        ]
        assert [letter["key"] for letter in ann.pages("/api/dead-letters")] == ["1"]
        assert ann.post(f"/api/jobs/{job_id}/reprocess").ok()["count"] == 2
        ann.ended(job_id)
        review = ann.items(job_id, statuses="REVIEW")[0]["id"]
        accepted = ann.post(f"/api/items/{review}/accept", {"candidateId": "Q1"}).ok()
        assert accepted["status"] == "DONE"
        asked = ann.post(f"/api/jobs/{job_id}/export", format="csv").ok(202)
        path = f"/api/jobs/{job_id}/exports/{asked['id']}"
        until(lambda: ann.get(path).status == 200, what="the export")
        file = tmp_path / "file.csv"
        file.write_bytes(ann.get(path).body)
        assert server.project.invoke("export", job_id, "--check", str(file)).code == 0
        odd = ann.done(b"id,name,do\n1,a\0b,\n")
        assert ann.items(odd)[0]["result"]["seen"] == "a\0b"
        first = ann.upload(("r.csv", rows_csv(1)), handler="shop.price", once="k").ok(202)
        assert ann.upload(("r.csv", rows_csv(1)), handler="shop.price", once="k").ok(202) == first
        ann.ended(first["jobId"])
        assert ann.delete(f"/api/jobs/{job_id}").status == 204
        assert server.stop().code == 0
