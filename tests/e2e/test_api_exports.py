"""Exports over HTTP: every format, and the proof that a file equals the database."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow.parquet as pq
import pytest

from tests.kit.api_server import ApiServer, Caller, rows_csv
from tests.kit.command import until

pytestmark = pytest.mark.slow

DEEDS = {"r2": "missing", "r3": "fail", "r4": "review"}


@pytest.fixture(scope="module")
def job(api: ApiServer) -> str:
    return api.admin().done(rows_csv(30, **DEEDS), name="prices")


def exported(caller: Caller, job_id: str, **query: str) -> Any:
    """An export, once it is there."""
    asked = caller.post(f"/api/jobs/{job_id}/export", **query).ok(202)
    assert asked["state"] in {"QUEUED", "RUNNING"}
    path = f"/api/jobs/{job_id}/exports/{asked['id']}"
    until(lambda: state_of(caller, path)["state"] in {"DONE", "FAILED"}, what="the export")
    record = state_of(caller, path)
    assert record["state"] == "DONE", record["error"]
    return record


def state_of(caller: Caller, path: str) -> Any:
    """An export's record."""
    answer = caller.ask("GET", path, headers={"Accept": "application/json"})
    waiting = answer.json["state"] in {"QUEUED", "RUNNING"}
    return answer.ok(202 if waiting else 200)


def rows_in(form: str, content: bytes) -> list[list[Any]]:
    """The rows of a file, header first."""
    if form in {"csv", "tsv"}:
        text = io.StringIO(content.decode("utf-8-sig"))
        return [*csv.reader(text, delimiter="\t" if form == "tsv" else ",")]
    if form == "jsonl":
        found = [json.loads(line) for line in content.splitlines()]
        return [[*found[0]], *([*row.values()] for row in found)]
    if form == "parquet":
        table = pq.read_table(io.BytesIO(content))
        return [table.column_names, *([*row.values()] for row in table.to_pylist())]
    sheet = openpyxl.load_workbook(io.BytesIO(content)).active
    assert sheet is not None
    return [list(row) for row in sheet.iter_rows(values_only=True)]


@pytest.mark.parametrize("form", ["xlsx", "csv", "tsv", "jsonl", "parquet"])
def test_a_download_equals_the_database(
    api: ApiServer, admin: Caller, job: str, form: str, tmp_path: Path
):
    record = exported(admin, job, format=form)
    assert record["rows"] == 30
    assert len(record["sha256"]) == 64
    file = admin.ask("GET", record["url"])
    assert file.status == 200
    assert len(file.body) == record["size"]
    assert file.headers["X-Row-Count"] == "30"
    assert f"-results.{form}" in file.headers["Content-Disposition"]
    assert "attachment" in file.headers["Content-Disposition"]
    header, *rows = rows_in(form, file.body)
    assert header[:3] == ["id", "name", "do"]
    assert {"_status", "_error"} <= {*header}
    assert len(rows) == 30
    kept = tmp_path / f"file.{form}"
    kept.write_bytes(file.body)
    same = api.project.invoke("export", job, "--check", str(kept))
    assert same.code == 0, same.err
    kept.write_bytes(tampered(form, file.body))
    assert api.project.invoke("export", job, "--check", str(kept)).code != 0


def tampered(form: str, content: bytes) -> bytes:
    """The same file with one other value."""
    if form == "xlsx":
        book = openpyxl.load_workbook(io.BytesIO(content))
        assert book.active is not None
        book.active["B5"] = "name of another"
        out = io.BytesIO()
        book.save(out)
        return out.getvalue()
    if form == "parquet":
        table = pq.read_table(io.BytesIO(content))
        out = io.BytesIO()
        pq.write_table(table.slice(0, 29), out)
        return out.getvalue()
    assert b"name 7" in content
    return content.replace(b"name 7", b"name 8", 1)


def test_the_same_rows_have_the_same_hash_in_every_format(admin: Caller, job: str):
    hashes = {exported(admin, job, format=form)["sha256"] for form in ("csv", "jsonl", "xlsx")}
    assert len(hashes) == 1


def test_cells_that_a_spreadsheet_would_run_are_neutralised(admin: Caller):
    job_id = admin.done(b"id,name,do\n1,=cmd|' /C calc'!A0,\n2,+1,\n3,-2.5,\n4,a\0b,\n")
    content = admin.ask("GET", exported(admin, job_id, format="csv")["url"]).body
    names = [row[1] for row in rows_in("csv", content)[1:]]
    assert names == ["'=cmd|' /C calc'!A0", "+1", "-2.5", "a\0b"]
    book = admin.ask("GET", exported(admin, job_id, format="xlsx")["url"]).body
    sheet = openpyxl.load_workbook(io.BytesIO(book)).active
    assert sheet is not None
    assert sheet["B2"].data_type == "s"  # text, which is not run
    raw = admin.ask("GET", exported(admin, job_id, format="csv", formulas="raw")["url"]).body
    assert rows_in("csv", raw)[1][1].startswith("=cmd")


def test_exports_are_listed_newest_first(admin: Caller):
    job_id = admin.done(rows_csv(2))
    made = [exported(admin, job_id, format=form)["id"] for form in ("csv", "jsonl")]
    listed = admin.get(f"/api/jobs/{job_id}/exports").ok()["items"]
    assert [each["id"] for each in listed] == made[::-1]
    assert all(each["askedBy"] == "local" for each in listed)


def test_a_range_of_a_file_can_be_asked_for(admin: Caller, job: str):
    url = exported(admin, job, format="csv")["url"]
    whole = admin.ask("GET", url).body
    part = admin.ask("GET", url, headers={"Range": "bytes=5-9"})
    assert (part.status, part.body) == (206, whole[5:10])


def test_an_impossible_export_is_refused(api: ApiServer, admin: Caller, job: str):
    admin.post(f"/api/jobs/{job}/export", format="docx").refused(422, "format")
    admin.post(f"/api/jobs/{job}/export", formulas="run").refused(422, "formulas")
    asked = admin.post(f"/api/jobs/{job}/export", format="csv").ok(202)
    path = f"/api/jobs/{job}/exports/{asked['id']}"
    assert admin.get(path).status in {200, 202}
    until(lambda: state_of(admin, path)["state"] == "DONE", what="the export")
    for file in (api.data / "exports" / job).glob(f"{asked['id']}.*"):
        file.unlink()
    admin.get(path).refused(404, "export again")


def test_a_running_job_is_exported_as_it_stands(admin: Caller, tmp_path: Path):
    gate = tmp_path / "gate"
    job_id = admin.send(b"id\n1\n2\n", handler="shop.gated", config=json.dumps({"gate": str(gate)}))
    try:
        until(lambda: admin.job(job_id)["counts"]["processing"] == 2, what="work to begin")
        record = exported(admin, job_id, format="csv")
        rows = rows_in("csv", admin.ask("GET", record["url"]).body)
        at = rows[0].index("_status")
        assert [row[at] for row in rows[1:]] == ["PROCESSING", "PROCESSING"]
        assert record["report"]
    finally:
        gate.touch()
    admin.ended(job_id)
