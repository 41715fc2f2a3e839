"""Sources of a server: lookups, places, images and earlier results."""

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from PIL import Image

from tests.kit.answers import Answer, always
from tests.kit.api_server import ApiServer, Caller
from tests.kit.command import until
from tests.kit.provider import Provider

ROWS = b"id,name\nA,lamp\nB,chair\n"


@pytest.fixture(scope="module")
def arrivals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("arrivals")


@pytest.fixture(scope="module")
def open_api(tmp_path_factory: pytest.TempPathFactory, arrivals: Path) -> Iterator[ApiServer]:
    """A server that may reach this machine, and that looks into a folder."""
    settings = {
        "net__allow_private": "true",
        "places__roots": str(arrivals),
        "server__watch": f"shop.price=folder:{arrivals}/*.csv",
        "server__watch_settle_s": "0",
    }
    with ApiServer(tmp_path_factory.mktemp("open"), **settings) as server:
        yield server


@pytest.fixture
def admin(open_api: ApiServer) -> Caller:
    return open_api.admin()


def lookup(url: str) -> dict[str, object]:
    return {
        "request": {"url": f"{url}/found?name={{name}}"},
        "columns": {"colour": "colour"},
    }


def by_page() -> dict[str, object]:
    """A lookup whose rows name the address."""
    return {
        "host_from_data": True,
        "request": {"url": "{page}"},
        "columns": {"colour": "colour"},
    }


def test_a_lookup_needs_no_python(admin: Caller, provider: Provider):
    provider.script = always(Answer(200, body=b'{"colour": "red"}'))
    config = json.dumps({"lookup": lookup(provider.url(""))})
    job = admin.send(ROWS, handler="http.lookup", config=config)
    assert admin.ended(job)["counts"]["done"] == 2
    assert [item["result"] for item in admin.items(job)] == [{"colour": "red"}] * 2


def test_a_lookup_whose_rows_name_their_host_runs(admin: Caller, provider: Provider):
    provider.script = always(Answer(200, body=b'{"colour": "red"}'))
    rows = "".join(f"{n},{provider.url('/', HOSTS[n % 2])}\n" for n in range(6))
    config = json.dumps({"lookup": by_page()})
    job = admin.send(f"id,page\n{rows}".encode(), handler="http.lookup", config=config)
    assert admin.ended(job)["counts"]["done"] == 6


HOSTS = ("127.0.0.1", "localhost")


def test_a_gate_that_is_paused_holds_its_requests_back(admin: Caller, provider: Provider):
    provider.script = always(Answer(200, body=b'{"colour": "red"}'))
    config = json.dumps({"lookup": lookup(provider.url(""))})
    admin.ended(admin.send(b"id,name\nA,first\n", handler="http.lookup", config=config))
    host = urlsplit(provider.url("")).netloc
    until(lambda: admin.get(f"/api/providers/{host}").status == 200, what="its gate to be known")
    paused = admin.patch(f"/api/providers/{host}", {"paused": True, "forS": 600}).ok()["items"]
    assert [gate["override"]["paused"] for gate in paused] == [True]
    listed = {gate["key"] for gate in admin.get("/api/providers").ok()["items"]}
    assert {gate["key"] for gate in paused} <= listed

    def waiting(job: str) -> bool:
        """Whether a row is held back; workers hear of a pause within a second, not before."""
        admin.reached(job, "RUNNING", "DONE")
        [item] = admin.items(job)
        why = f"/api/items/{item['id']}/why"
        until(lambda: host in admin.get(why).body.decode() or is_done(job), what="the word")
        return not is_done(job)

    def is_done(job: str) -> bool:
        return admin.job(job)["state"] == "DONE"

    jobs = []
    while not jobs or not waiting(jobs[-1]):
        jobs.append(admin.send(b"id,name\nB,second\n", handler="http.lookup", config=config))
        assert len(jobs) < 10
    asked = len(provider.seen)
    jobs.append(admin.send(b"id,name\nC,third\n", handler="http.lookup", config=config))
    assert waiting(jobs[-1])
    assert len(provider.seen) == asked
    freed = admin.patch(f"/api/providers/{host}", {"paused": False}).ok()["items"]
    assert [gate["override"] for gate in freed] == [None]
    assert [admin.ended(job)["counts"]["done"] for job in jobs] == [1] * len(jobs)
    slowed = admin.patch(f"/api/providers/{host}", {"rate": "30/min"}).ok()["items"]
    assert [gate["override"]["rate"] for gate in slowed] == [0.5]
    admin.patch(f"/api/providers/{host}", {"forget": True}).ok()


def test_a_lookup_that_is_invalid_is_refused_before_there_is_a_job(admin: Caller):
    before = len(admin.pages("/api/jobs"))
    answer = admin.upload(("rows.csv", ROWS), handler="http.lookup", config='{"lookup": {}}')
    answer.refused(422, "lookup")
    missing = {"request": {"url": "https://example.org/{isbn}"}, "columns": {"title": "title"}}
    config = json.dumps({"lookup": missing})
    answer = admin.upload(("rows.csv", ROWS), handler="http.lookup", config=config)
    answer.refused(422, "needs a column 'isbn'")
    assert len(admin.pages("/api/jobs")) == before


def test_results_of_the_same_work_are_reused(admin: Caller):
    rows = b"id,name\nR1,one\nR2,two\n"
    first = admin.done(rows)
    second = admin.done(rows + b"R3,three\n", reuse="1h")
    history = [
        admin.get(f"/api/items/{item['id']}").ok()["history"][-1]["outcome"]
        for item in admin.items(second)
    ]
    assert history.count("reused") == 2
    results = {item["key"]: item["result"] for item in admin.items(first)}
    assert results.items() <= {item["key"]: item["result"] for item in admin.items(second)}.items()


def test_each_new_file_becomes_one_job(admin: Caller, arrivals: Path):
    (arrivals / "monday.csv").write_bytes(ROWS)
    made = admin.post("/api/ingestion/scan").ok()
    [arrived] = made["jobs"]
    assert arrived["source"].endswith("monday.csv")
    assert admin.ended(arrived["jobId"])["counts"]["total"] == 2
    again = admin.post("/api/ingestion/scan").ok()
    assert (again["jobs"], again["known"], again["problems"]) == ([], 1, [])


def test_a_file_below_an_allowed_folder_can_be_named(admin: Caller, arrivals: Path):
    (arrivals / "named.jsonl").write_text('{"id": "X", "name": "lamp"}\n')
    source = (arrivals / "named.jsonl").as_uri()
    made = admin.post("/api/jobs", {"handler": "shop.price", "source": source}).ok(202)
    assert admin.ended(made["jobId"])["counts"]["total"] == 1


def test_a_missing_source_makes_the_job_failed(admin: Caller, arrivals: Path):
    source = (arrivals / "gone.csv").as_uri()
    made = admin.post("/api/jobs", {"handler": "shop.price", "source": source}).ok(202)
    failed = admin.ended(made["jobId"])
    assert failed["state"] == "FAILED"
    assert "gone.csv" in failed["lastError"]
    assert failed["counts"]["total"] == 0


def test_images_become_items_with_a_reference_to_their_bytes(admin: Caller, open_api: ApiServer):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as pack:
        for name, size in (("a.png", (3, 4)), ("b.png", (5, 6))):
            image = io.BytesIO()
            Image.new("RGB", size).save(image, "png")
            pack.writestr(name, image.getvalue())
    made = admin.upload(("pictures.zip", archive.getvalue()), handler="shop.price").ok(202)
    admin.ended(made["jobId"])
    [first, second] = [
        admin.get(f"/api/items/{item['id']}").ok()["input"] for item in admin.items(made["jobId"])
    ]
    assert (first["file"], first["width"], first["height"]) == ("a.png", 3, 4)
    assert second["ref"] != first["ref"]
    kept = [path for path in (open_api.data / "blobs").rglob("*") if path.is_file()]
    assert len(kept) == 2


def test_addresses_from_data_cannot_lead_to_this_machine(api: ApiServer, provider: Provider):
    config = json.dumps({"lookup": by_page()})
    admin = api.admin()
    rows = "".join(f"{n},{provider.url('/', host)}\n" for n, host in enumerate(HOSTS))
    job = admin.send(f"id,page\n{rows}".encode(), handler="http.lookup", config=config)
    admin.ended(job)
    items = admin.items(job)
    assert [item["status"] for item in items] == ["ERROR"] * 2
    assert all("address refused" in item["lastError"] for item in items)
    assert provider.seen == []
