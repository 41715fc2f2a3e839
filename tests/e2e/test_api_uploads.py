"""Uploads: every format, every kind of bad input, and nothing kept of what is refused."""

import asyncio
import io
import json
import socket
import zipfile
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from tests.kit import answers
from tests.kit.api_server import Answer, ApiServer, Caller, multipart, rows_csv
from tests.kit.command import until
from tests.kit.provider import Provider

pytestmark = pytest.mark.slow


@pytest.fixture
def ann(api: ApiServer) -> Caller:
    return api.user("ann")


def worked(caller: Caller, name: str, content: bytes, **fields: str) -> list[Any]:
    """The items of a job that must end well, each with its whole input."""
    given = {"handler": "shop.price", **fields}
    job_id = caller.upload((name, content), **given).ok(202)["jobId"]
    job = caller.ended(job_id)
    assert job["state"] == "DONE", job["lastError"]
    return [caller.get(f"/api/items/{item['id']}").ok() for item in caller.items(job_id)]


# ---- formats ------------------------------------------------------------------------------------


def workbook(*sheets: list[list[Any]], merge: str = "") -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.active)  # type: ignore[arg-type]
    for number, rows in enumerate(sheets):
        sheet = book.create_sheet(f"Sheet{number + 1}")
        for row in rows:
            sheet.append(row)
        if merge:
            sheet.merge_cells(merge)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def zipped(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def png(size: int) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (size, size), "red").save(out, "PNG")
    return out.getvalue()


def parquet(table: pa.Table) -> bytes:
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


TEXTS = {
    "plain": b"id,name\n1,caf\xc3\xa9\n2,b\n",
    "BOM": b"\xef\xbb\xbfid,name\n1,caf\xc3\xa9\n2,b\n",
    "UTF-16": "id,name\n1,café\n2,b\n".encode("utf-16"),
    "mixed line ends": b"id,name\r\n1,caf\xc3\xa9\n2,b\r\n",
    "quoted": b'id,name\n1,"caf\xc3\xa9"\n2,b\n',
}


@pytest.mark.parametrize("kind", TEXTS)
def test_text_is_read_as_it_was_meant(ann: Caller, kind: str):
    first, second = worked(ann, "r.csv", TEXTS[kind], key="id")
    assert first["input"] == {"id": "1", "name": "café"}
    assert second["key"] == "2"


def test_latin_1_is_read_when_stated_and_refused_when_not(api: ApiServer, ann: Caller):
    content = "id,name\n1,café\n".encode("latin-1")
    (item,) = worked(ann, "r.csv", content, read=json.dumps({"encoding": "latin-1"}))
    assert item["input"]["name"] == "café"
    kept = api.uploads()
    ann.upload(("r.csv", content), handler="shop.price").refused(422, "UTF-8", "encoding")
    assert api.uploads() == kept


def test_text_in_another_encoding_is_stopped_with_one_that_fits(ann: Caller):
    content = "id,name\n1,Müller\n2,plain\n3,other\n".encode("latin-1")
    looked = ann.upload(("r.csv", content), to="/api/preview").ok()
    assert (looked["misread"], looked["encoding"]) == (True, "cp1252")
    sent = ann.upload(("r.csv", content), handler="shop.price")
    sent.refused(422, "cp1252")
    assert sent.json["encoding"] == "cp1252"
    stated = ann.upload(("r.csv", content), to="/api/preview", read='{"encoding":"cp1252"}').ok()
    assert (stated["misread"], stated["encoding"]) == (False, None)
    assert stated["rows"][0] == {"id": "1", "name": "Müller"}
    kept = worked(ann, "r.csv", content, read='{"encoding":"utf-8"}', key="id")
    assert [item["status"] for item in kept] == ["ERROR", "DONE", "DONE"]
    header = "id,größe\n1,2\n".encode("latin-1")
    sent = ann.upload(("r.csv", header), to="/api/preview")
    sent.refused(422)
    assert sent.json["encoding"] == "cp1252"


def test_a_long_file_name_is_shown_whole(ann: Caller):
    name = f"{'a long name ' * 16}.csv"
    job_id = ann.upload((name, rows_csv(1)), handler="shop.price").ok(202)["jobId"]
    job = ann.ended(job_id)
    assert (job["state"], job["file"]) == ("DONE", name)


def test_an_unreadable_upload_is_reported_as_unreadable(ann: Caller):
    sent = ann.upload(("empty.csv", b""), to="/api/preview")
    sent.refused(422, "empty.csv is empty")
    assert sent.json["title"] == "We cannot read this file"


def test_odd_text_is_kept_as_it_is(ann: Caller):
    (item,) = worked(ann, "r.csv", b"id,id,name\n1,2,a\0b\n", key="id")
    assert item["input"] == {"id": "1", "id_2": "2", "name": "a\0b"}
    first, second = worked(ann, "r.csv", b'id,name\n1,"a\n2,b\n', key="id")
    assert (first["status"], second["status"]) == ("ERROR", "DONE")
    assert "quote" in first["lastError"]


def test_tab_separated_and_json_lines(ann: Caller):
    (row,) = worked(ann, "r.tsv", b"id\tname\n1\ta\n", key="id")
    assert row["input"] == {"id": "1", "name": "a"}
    (line,) = worked(ann, "r.jsonl", b'{"id": 7, "deep": {"x": [1, null]}}\n', key="id")
    assert line["input"] == {"id": 7, "deep": {"x": [1, None]}}


def test_workbooks_with_formulas_merged_cells_and_dates(ann: Caller):
    rows = [["id", "day", "sum"], [1, date(2026, 3, 1), "=1+1"], [2, date(2026, 3, 2), 2.5]]
    first, second = worked(ann, "r.xlsx", workbook(rows, merge="B2:B3"), key="id")
    assert first["input"]["day"].startswith("2026-03-01")
    assert "=1+1" not in str(first["input"]["sum"])  # what it showed, not what it would run
    assert second["input"]["sum"] == 2.5
    assert second["key"] == "2"


def test_the_sheet_is_chosen_by_name(ann: Caller):
    book = workbook([["id"], [1]], [["id"], [2], [3]])
    read = json.dumps({"sheet": "Sheet2"})
    assert [item["key"] for item in worked(ann, "r.xlsx", book, key="id", read=read)] == ["2", "3"]
    missing = json.dumps({"sheet": "Sheet9"})
    ann.upload(("r.xlsx", book), handler="shop.price", read=missing).refused(422, "Sheet9")


def test_parquet_with_nested_types(ann: Caller):
    nested = {"id": [1, 2], "tags": [["a"], []], "at": [{"x": 1}, None]}
    first, second = worked(ann, "r.parquet", parquet(pa.table(nested)), key="id")
    assert first["input"] == {"id": 1, "tags": ["a"], "at": {"x": 1}}
    assert second["input"]["at"] is None


@pytest.mark.parametrize("way", ["zip", "files"])
def test_images_become_items_with_a_reference_to_their_bytes(api: ApiServer, ann: Caller, way: str):
    files = {"a.png": png(3), "b.png": png(4)}
    sent = [("pics.zip", zipped(files))] if way == "zip" else list(files.items())
    job_id = ann.upload(*sent, handler="shop.price").ok(202)["jobId"]
    job = ann.ended(job_id)
    assert (job["state"], job["counts"]["done"]) == ("DONE", 2)
    item = ann.get(f"/api/items/{ann.items(job_id)[0]['id']}").ok()
    assert (item["input"]["width"], item["input"]["height"]) == (3, 3)
    assert len(json.dumps(item["input"])) < 1_000
    assert any((api.data / "blobs").rglob("*"))


def test_a_path_that_leaves_its_archive_is_not_an_item(api: ApiServer, ann: Caller):
    content = zipped({"../../evil.png": png(3), "good.png": png(4)})
    evil, good = worked(ann, "pics.zip", content)
    assert (evil["status"], evil["errorClass"]) == ("ERROR", "bad_row")
    assert (good["status"], good["input"]["width"]) == ("DONE", 4)
    assert not list(api.folder.parent.rglob("evil.png"))


# ---- preview ------------------------------------------------------------------------------------


def test_a_preview_of_a_source_obeys_what_sources_may_be(api: ApiServer, ann: Caller):
    kept = api.uploads()
    ann.post("/api/preview", {}).refused(422, "source")
    ann.post("/api/preview", []).refused(422)
    ann.post("/api/preview", {"source": "file:/etc/passwd"}).refused(422, "roots")
    ann.post("/api/preview", {"source": "http://127.0.0.1:1/r.csv"}).refused(422)
    assert api.uploads() == kept


def test_a_preview_names_the_sheets_of_a_workbook(ann: Caller):
    shown = ann.upload(("r.csv", rows_csv(1)), to="/api/preview").ok()
    assert shown["sheets"] == []
    book = workbook([["id"], [1]], [["id"], [2]])
    assert ann.upload(("r.xlsx", book), to="/api/preview").ok()["sheets"] == ["Sheet1", "Sheet2"]


def test_a_preview_shows_rows_and_keeps_nothing(api: ApiServer, ann: Caller):
    kept = api.uploads()
    fields = {"handler": "shop.price", "columns": json.dumps({"name": "title"})}
    shown = ann.upload(("r.csv", rows_csv(50)), to="/api/preview", **fields).ok()
    assert shown["columns"] == ["id", "title", "do"]
    assert shown["rows"][0] == {"id": "1", "title": "name 1", "do": ""}
    assert len(shown["rows"]) == 20
    assert (shown["format"], shown["missing"], shown["problems"]) == ("csv", [], [])
    assert api.uploads() == kept
    assert ann.pages("/api/jobs", q="preview") == []


def test_a_preview_points_at_bad_rows(ann: Caller):
    shown = ann.upload(("r.csv", b"id,name\n1,a\n2\n3,c,d\n"), to="/api/preview").ok()
    assert [problem["row"] for problem in shown["problems"]] == [3, 4]


def test_columns_are_mapped_before_the_job_is_made(ann: Caller):
    columns = json.dumps({"ISBN": "id"})
    (item,) = worked(ann, "r.csv", b"ISBN,x\n9,y\n", key="id", columns=columns)
    assert (item["key"], item["input"]) == ("9", {"id": "9", "x": "y"})


# ---- what is found before the answer ------------------------------------------------------------


def bomb(depth_mb: int = 40) -> bytes:
    return zipped({"a.png": bytes(depth_mb * 1_048_576)})


def wide(columns: int) -> bytes:
    names = ",".join(f"c{n}" for n in range(columns))
    return f"{names}\n{','.join('x' * columns)}\n".encode()


def xlsx_bomb() -> bytes:
    """A workbook whose sheet is far larger than it looks."""
    source = zipfile.ZipFile(io.BytesIO(workbook([["id"], [1]])))
    members = {name: source.read(name) for name in source.namelist()}
    sheet = next(name for name in members if name.endswith("sheet1.xml"))
    members[sheet] = members[sheet].replace(b"</sheetData>", b" " * 60_000_000 + b"</sheetData>")
    return zipped(members)


# A password wraps the workbook into a file of the old kind, which names its parts in UTF-16.
OLD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
ENCRYPTED = OLD + bytes(1_000) + "EncryptedPackage".encode("utf-16-le") + bytes(1_000)

BAD: dict[str, tuple[str, Callable[[], bytes], tuple[str, ...]]] = {
    "empty": ("r.csv", lambda: b"", ("empty",)),
    "blank": ("r.csv", lambda: b"\n\n\n", ("r.csv",)),
    "header only": ("r.csv", lambda: b"id,name\n", ("row",)),
    "10,000 columns": ("r.csv", lambda: wide(10_000), ("columns",)),
    "quote never closed": ("r.csv", lambda: b'id,name\n1,"a', ("quote",)),
    "no known format": ("r.docx", lambda: b"hello", ("r.docx", ".csv")),
    "no name": ("", lambda: b"id\n1\n", (".csv",)),
    "JSON lines that are none": ("r.jsonl", lambda: b"id,name\n1,a\n", ("JSON",)),
    "JSON lines of lists": ("r.jsonl", lambda: b"[1]\n", ("object",)),
    "no workbook": ("r.xlsx", lambda: b"PK\x03\x04rubbish", ("r.xlsx",)),
    "workbook with a password": ("r.xlsx", lambda: ENCRYPTED, ("password",)),
    "workbook cut short": ("r.xlsx", lambda: workbook([["id"], [1]])[:-50], ("r.xlsx",)),
    "workbook bomb": ("r.xlsx", xlsx_bomb, ()),
    "zip cut short": ("r.zip", lambda: zipped({"a.png": png(3)})[:-20], ("r.zip",)),
    "zip with ../": ("r.zip", lambda: zipped({"../../evil.png": png(3)}), ()),
    "zip with /": ("r.zip", lambda: zipped({"/etc/evil.png": png(3)}), ()),
    "zip bomb": ("r.zip", bomb, ()),
    "zip in a zip": ("r.zip", lambda: zipped({"a.zip": zipped({"b.png": png(3)})}), ()),
    "zip without an image": ("r.zip", lambda: zipped({"a.txt": b"x"}), ()),
    "no Parquet": ("r.parquet", lambda: b"PAR1 no", ("arquet",)),
}


@pytest.mark.parametrize("kind", BAD)
def test_an_upload_with_a_bad_beginning_is_refused(api: ApiServer, ann: Caller, kind: str):
    name, content, words = BAD[kind]
    kept = api.uploads()
    detail = ann.upload((name, content()), handler="shop.price").refused(422, *words)
    assert str(api.data) not in detail
    assert api.uploads() == kept
    assert ann.upload((name, content()), to="/api/preview").status in {200, 422}
    assert api.uploads() == kept
    assert "request failed" not in api.talk


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"handler": "shop.price", "key": "isbn"}, "isbn"),
        ({"handler": "shop.price", "colour": "red"}, "colour"),
        ({"handler": "shop.price", "config": "{"}, "config"),
        ({"handler": "shop.price", "config": "[1]"}, "config"),
        ({"handler": "shop.price", "priority": "high"}, "priority"),
        ({"handler": "shop.price", "priority": "99"}, "priority"),
        ({"handler": "shop.price", "eager": "maybe"}, "eager"),
        ({"handler": "shop.price", "read": '{"delimiter": "ab"}'}, "delimiter"),
        ({"handler": "shop.price", "read": '{"encoding": "klingon"}'}, "klingon"),
        ({"handler": "shop.price", "columns": '{"id": "name"}'}, "columns"),
        ({"handler": "no.such"}, "no.such"),
        ({}, "handler"),
        ({"handler": "shop.price", "name": "x" * 201}, "name"),
    ],
)
def test_fields_that_cannot_be_are_refused(
    api: ApiServer, ann: Caller, fields: dict[str, str], word: str
):
    kept = api.uploads()
    ann.upload(("r.csv", rows_csv(2)), **fields).refused(422, word)
    assert api.uploads() == kept


def test_an_upload_without_a_file_is_refused(api: ApiServer, ann: Caller):
    kept = api.uploads()
    ann.upload(handler="shop.price").refused(422, "file")
    body, kind = multipart([("r.csv", rows_csv(1))], {"handler": "shop.price"})
    other = body.replace(b'name="file"', b'name="data"')
    headers = {"Content-Type": kind}
    ann.ask("POST", "/api/jobs", body=other, headers=headers).refused(422, "file", "data")
    ann.ask("POST", "/api/jobs", body=body[:-20], headers=headers).refused(400)
    ann.ask("POST", "/api/jobs", body=b"rubbish", headers=headers).refused(400)
    assert api.uploads() == kept


@pytest.mark.parametrize(
    "name",
    [
        "../../evil.csv",
        "/etc/evil.csv",
        "..\\..\\evil.csv",
        "%2e%2e%2fevil.csv",
        "a\tb.csv",
        ".hid.csv",
    ],
)
def test_an_upload_is_stored_under_a_safe_name(api: ApiServer, ann: Caller, name: str):
    before = set(api.data.rglob("*"))
    job_id = ann.upload((name, rows_csv(1)), handler="shop.price").ok(202)["jobId"]
    added = [path for path in set(api.data.rglob("*")) - before if path.is_file()]
    uploads = [path for path in added if "uploads" in path.parts]
    assert len(uploads) == 1
    assert uploads[0].parent.parent == api.data / "uploads"
    assert "/" not in ann.ended(job_id)["file"]
    assert not list(api.folder.rglob("../evil.csv"))


def test_an_upload_that_is_too_large_is_refused_while_it_comes(tmp_path: Path):
    with ApiServer(tmp_path, server__upload_mb=1) as server:
        admin = server.admin()
        admin.upload(("r.csv", rows_csv(4)), handler="shop.price").ok(202)
        kept = server.uploads()
        large = rows_csv(1_500_000)  # 30 MB
        admin.upload(("r.csv", large), handler="shop.price").refused(413, "upload_mb")
        assert server.uploads() == kept


def test_a_cell_that_is_too_large_is_a_bad_row(tmp_path: Path):
    with ApiServer(tmp_path, limits__max_cell_bytes=1_000, limits__max_rows=100) as server:
        admin = server.admin()
        content = b"id,name\n1,a\n2," + b"x" * 1_001 + b"\n"
        job = admin.ended(admin.upload(("r.csv", content), handler="shop.price").ok(202)["jobId"])
        assert (job["counts"]["done"], job["counts"]["error"]) == (1, 1)
        failed = admin.ended(admin.send(rows_csv(101)))
        assert failed["state"] == "FAILED"
        assert "100" in failed["lastError"]


# ---- what is found later ------------------------------------------------------------------------


def late(count: int = 50_000) -> bytes:
    return rows_csv(count) + b"one,two,three,four\n"


def test_a_bad_row_far_down_fails_the_job_and_leaves_nothing(
    api: ApiServer, ann: Caller, tmp_path: Path
):
    log = tmp_path / "log"
    job_id = ann.send(late(), onBadRow="fail", config=json.dumps({"log": str(log)}))
    job = ann.ended(job_id)
    assert job["state"] == "FAILED"
    assert "50002" in job["lastError"].replace(",", "")
    assert str(api.data) not in job["lastError"]
    until(lambda: ann.job(job_id)["counts"]["total"] == 0, what="its items to be removed")
    assert ann.items(job_id) == []
    assert not log.exists()  # nothing was run
    ann.post(f"/api/jobs/{job_id}/resume").refused(409)


ONE_BAD = b"id,name,do\n1,a,\n2\n3,c,\n"


@pytest.mark.parametrize(("policy", "errors"), [("item-error", 1), ("skip", 0)])
def test_single_bad_rows_follow_the_policy(ann: Caller, policy: str, errors: int):
    job = ann.ended(ann.send(ONE_BAD, onBadRow=policy))
    assert (job["state"], job["counts"]["done"]) == ("DONE", 2)
    assert job["counts"]["error"] == errors


def test_a_bad_row_near_the_top_is_refused_at_once_where_none_may_be(api: ApiServer, ann: Caller):
    kept = api.uploads()
    fields = {"handler": "shop.price", "onBadRow": "fail"}
    ann.upload(("r.csv", ONE_BAD), **fields).refused(422, "line 3")
    ann.upload(("r.csv", b'id,name\n1,a\n2,"b\n3,c\n'), **fields).refused(422, "line 3", "quote")
    assert api.uploads() == kept


def test_a_remote_source_that_vanishes_fails_the_job(tmp_path: Path):
    content = rows_csv(10_000)
    half = answers.Answer(200, body=content, cut_at=len(content) // 2)
    with (
        Provider(answers.always(half)) as far,
        ApiServer(tmp_path, places__allow_private="true") as server,
    ):
        admin = server.admin()
        made = admin.post("/api/jobs", {"handler": "shop.price", "source": far.url("/far.csv")}).ok(
            202
        )
        job = admin.ended(made["jobId"])
        assert job["state"] == "FAILED"
        assert job["lastError"]
        assert str(server.data) not in job["lastError"]
        assert job["counts"]["total"] == 0
        assert not [path for path in (server.data / "copies").rglob("*") if path.is_file()]


# ---- connections --------------------------------------------------------------------------------


def test_nothing_is_kept_of_an_upload_that_breaks_off(api: ApiServer, ann: Caller):
    kept = api.uploads()
    body, kind = multipart([("r.csv", rows_csv(20_000))], {"handler": "shop.price"})
    parts = urlsplit(api.url)
    head = (
        f"POST /api/jobs HTTP/1.1\r\nHost: {parts.netloc}\r\nAuthorization: Bearer {ann.token}\r\n"
        f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection((parts.hostname or "", parts.port or 0)) as connection:
        connection.sendall(head.encode() + body[: len(body) // 2])
        until(lambda: len(api.uploads()) == len(kept) + 1, what="the upload to begin")
    until(lambda: api.uploads() == kept, what="its folder to go")
    assert ann.pages("/api/jobs", states="INGESTING") == []


def test_two_hundred_uploads_at_once_are_all_taken(api: ApiServer):
    many = api.user("many")

    async def upload(session: aiohttp.ClientSession, number: int) -> Answer | int:
        body, kind = multipart([(f"{number}.csv", rows_csv(3))], {"handler": "shop.price"})
        headers = {**many.headers, "Content-Type": kind}
        async with session.post(f"{api.url}/api/jobs", data=body, headers=headers) as reply:
            await reply.read()
            return reply.status

    async def storm() -> list[Answer | int]:
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(connector=connector) as session:
            return await asyncio.gather(*(upload(session, number) for number in range(200)))

    statuses = asyncio.run(storm())
    assert set(statuses) <= {202, 429}
    taken = statuses.count(202)
    assert taken >= 100  # what one user may have unfinished
    jobs = many.pages("/api/jobs")
    assert len(jobs) == taken
    for job in jobs:
        assert many.ended(job["id"])["counts"]["done"] == 3
    assert "request failed" not in api.talk


# ---- idempotency --------------------------------------------------------------------------------


def test_the_same_key_and_request_make_one_job(api: ApiServer, ann: Caller):
    before = len(api.uploads())
    made = [
        ann.upload(("r.csv", rows_csv(2)), handler="shop.price", once="twice").ok(202)["jobId"]
        for _ in range(3)
    ]
    assert len(set(made)) == 1
    assert len(api.uploads()) == before + 1
    value = {"handler": "shop.price", "items": [{"id": 1}]}
    key = {"Idempotency-Key": "inline"}
    inline = [ann.post("/api/jobs", value, key).ok(202)["jobId"] for _ in range(2)]
    assert len(set(inline)) == 1
    assert len(api.uploads()) == before + 2


@pytest.mark.parametrize(
    "other", [{"rows": 3}, {"name": "else"}, {"key": "id"}, {"file": "other.csv"}]
)
def test_the_same_key_with_another_request_is_refused(
    api: ApiServer, ann: Caller, other: dict[str, Any]
):
    key = f"reused {next(iter(other))}"
    ann.upload(("r.csv", rows_csv(2)), handler="shop.price", once=key).ok(202)
    kept = api.uploads()
    file = (other.pop("file", "r.csv"), rows_csv(other.pop("rows", 2)))
    ann.upload(file, handler="shop.price", once=key, **other).refused(422, "key")
    assert api.uploads() == kept


def test_concurrent_duplicates_make_one_job(api: ApiServer, ann: Caller):
    before = len(api.uploads())

    async def upload(session: aiohttp.ClientSession) -> tuple[int, str]:
        body, kind = multipart([("r.csv", rows_csv(2))], {"handler": "shop.price"})
        headers = {**ann.headers, "Content-Type": kind, "Idempotency-Key": "storm"}
        async with session.post(f"{api.url}/api/jobs", data=body, headers=headers) as reply:
            return reply.status, (await reply.json())["jobId"]

    async def storm() -> list[tuple[int, str]]:
        async with aiohttp.ClientSession() as session:
            return await asyncio.gather(*(upload(session) for _ in range(40)))

    answers = asyncio.run(storm())
    assert {status for status, _ in answers} == {202}
    assert len({job_id for _, job_id in answers}) == 1
    assert len(api.uploads()) == before + 1


def test_a_config_that_the_handler_does_not_declare_is_refused_with_the_limit(ann: Caller) -> None:
    config = json.dumps({"service": "http://shop.test", "max_age_days": 99_999})
    sent = ann.upload(("a.csv", rows_csv(2)), handler="shop.ask", config=config)
    assert "`max_age_days` must be at most 365" in sent.refused(422)
    assert sent.json["errors"] == [
        {"field": "config.max_age_days", "problem": "must be at most 365, not 99999"}
    ]
    items = {"handler": "shop.ask", "items": [{"id": 1}], "config": {"service": 3}}
    sent = ann.post("/api/jobs", items)
    sent.refused(422)
    assert sent.json["errors"] == [{"field": "config.service", "problem": "must be text, not 3"}]
