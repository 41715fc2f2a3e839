"""Bodies are bounded while they arrive, before identity and validation cost anything."""

import contextlib
import json
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import psutil
import pytest

from tests.kit.api_server import Answer, ApiServer, Caller

KIND = {"Content-Type": "application/json"}
MB = 1_048_576
PATIENCE_S = 30.0


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    """A server that does not wait for long."""
    settings = {"server__head_s": 1, "server__body_s": 1, "server__connections": 40}
    with ApiServer(tmp_path_factory.mktemp("bodies"), **settings) as server:
        yield server


def opened(api: ApiServer) -> socket.socket:
    parts = urlsplit(api.url)
    return socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE_S)


def head(path: str, length: int, *more: str) -> bytes:
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", *more, f"Content-Length: {length}"]
    return "\r\n".join([*lines, "Content-Type: application/json", "", ""]).encode()


def answer_on(connection: socket.socket) -> bytes:
    """Everything until the server closes."""
    found = b""
    with contextlib.suppress(ConnectionResetError):
        while piece := connection.recv(65_536):
            found += piece
    return found


def first_line(connection: socket.socket) -> bytes:
    return answer_on(connection).partition(b"\r\n")[0]


def sent(caller: Caller, path: str, body: bytes) -> Answer:
    return caller.ask("POST", path, body=body, headers=KIND)


# ---- SH1: limits --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "limit", "shown"),
    [
        ("/api/login", 4_096, "4 kB"),
        ("/api/users", MB, "1 MB"),
        ("/api/tokens", MB, "1 MB"),
        ("/api/dead-letters/replay", MB, "1 MB"),
        ("/api/pending/reprocess", MB, "1 MB"),
        ("/api/jobs", 16 * MB, "16 MB"),
        ("/api/queues/q/items", 16 * MB, "16 MB"),
    ],
)
def test_a_body_over_its_limit_is_413_and_says_the_limit(
    admin: Caller, path: str, limit: int, shown: str
):
    sent(admin, path, b" " * (limit + 1)).refused(413, shown)
    assert sent(admin, path, b" " * min(limit, MB)).status != 413


def test_a_body_without_a_stated_length_is_counted_as_it_comes(api: ApiServer):
    with opened(api) as connection:
        lines = ["POST /api/login HTTP/1.1", "Host: localhost", "Transfer-Encoding: chunked"]
        connection.sendall("\r\n".join([*lines, "", ""]).encode())
        with contextlib.suppress(OSError):
            for _ in range(100):
                connection.sendall(b"1000\r\n" + b" " * 4_096 + b"\r\n")
        assert b" 413 " in first_line(connection)


CHUNKED = b"POST /api/login HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"


def test_a_body_in_tiny_chunks_is_refused_in_words(api: ApiServer):
    with opened(api) as connection:
        connection.sendall(CHUNKED + b"Content-Type: application/json\r\n\r\n")
        with contextlib.suppress(OSError):
            connection.sendall(b"1\r\n \r\n" * 1_500)
        answer = answer_on(connection)
    assert b" 400 " in answer.partition(b"\r\n")[0]
    assert b"the chunks of the body are too small" in answer
    assert answer.count(b"HTTP/1.1") == 1


def test_a_body_in_many_chunks_arrives_whole_and_the_next_request_too(api: ApiServer):
    body = json.dumps({"name": "unknown", "password": "p" * 700}).encode()
    pieces = b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n"
    after = b"GET /api/session HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    with opened(api) as connection:
        connection.sendall(CHUNKED + b"Content-Type: application/json\r\n\r\n" + pieces + after)
        answer = answer_on(connection)
    assert answer.startswith(b"HTTP/1.1 401")
    assert b"HTTP/1.1 200" in answer


def test_a_large_body_is_refused_after_its_head_and_not_buffered(api: ApiServer):
    process = psutil.Process(api.command.pid)
    before = process.memory_info().rss
    with contextlib.ExitStack() as stack:
        for _ in range(10):
            connection = stack.enter_context(opened(api))
            with contextlib.suppress(OSError):
                connection.sendall(head("/api/login", 500 * MB))
                for _ in range(80):
                    connection.sendall(b"[" * MB)
        assert process.memory_info().rss - before < 60 * MB


@pytest.mark.parametrize(
    "path", ["/api/users", "/api/jobs", "/api/preview", "/api/queues/q/items", "/api/tokens"]
)
def test_without_a_token_the_answer_comes_before_the_body_is_read(api: ApiServer, path: str):
    with opened(api) as connection:
        connection.sendall(head(path, 500_000))  # and not a byte of it
        answer = answer_on(connection)
    assert b" 401 " in answer.partition(b"\r\n")[0]
    assert b"connection: close" in answer.lower()


def test_an_unread_body_closes_its_connection(api: ApiServer):
    with opened(api) as connection:
        connection.sendall(head("/api/nothing", 500 * MB))
        answer = answer_on(connection)
    assert b" 404 " in answer.partition(b"\r\n")[0]
    assert b"connection: close" in answer.lower()


# ---- SM8: deadlines -----------------------------------------------------------------------


def test_a_head_that_does_not_end_is_408(api: ApiServer):
    with opened(api) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: local")
        assert b" 408 " in first_line(connection)


def test_a_connection_without_a_request_is_closed_silently(api: ApiServer):
    with opened(api) as connection:
        assert answer_on(connection) == b""


def test_half_requests_displace_only_half_requests(api: ApiServer, admin: Caller):
    with contextlib.ExitStack() as stack:
        for number in range(200):
            connection = stack.enter_context(opened(api))
            connection.sendall(b"GET / HTTP/1.1\r\nHost: local")
            if number % 50 == 49:
                admin.get("/api/jobs").ok()
        assert len(psutil.Process(api.command.pid).net_connections("tcp")) < 100


def test_a_second_head_on_the_same_connection_has_the_same_deadline(api: ApiServer):
    with opened(api) as connection:
        connection.sendall(b"GET /api/session HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert connection.recv(65_536).startswith(b"HTTP/1.1 200")
        connection.sendall(b"GET / HT")
        assert b"408" in answer_on(connection)


def test_a_body_that_does_not_come_is_408(api: ApiServer):
    with opened(api) as connection:
        connection.sendall(head("/api/login", 100) + b"{")
        answer = answer_on(connection)
    assert b" 408 " in answer.partition(b"\r\n")[0]
    assert b"16 kB per second" in answer


# ---- SH2: what is said of a job -----------------------------------------------------------

LONG = {"a": ["x"] * 20_000}
JOB = {"handler": "shop.price", "items": [{"id": 1}]}


@pytest.mark.parametrize(
    "more",
    [
        {"config": LONG},
        {"read": {"encoding": "x" * 70_000}},
        {"columns": {"a": "x" * 70_000}},
        {"key": ["x" * 70_000]},
    ],
    ids=["config", "read", "columns", "key"],
)
def test_options_of_a_job_have_at_most_64_kb(admin: Caller, more: dict[str, object]):
    name = next(iter(more))
    admin.post("/api/jobs", JOB | more).refused(413, name, "64 kB")
    text = json.dumps(more[name])
    assert admin.upload(("r.csv", b"id\n1\n"), handler="shop.price", **{name: text}).status == 413


def test_far_too_many_values_are_refused_before_they_are_checked(admin: Caller):
    body = b'{"scope":"items","itemIds":[' + b"1," * 30_000 + b"1]}"
    sent(admin, "/api/dead-letters/replay", body).refused(413, "25,000 values")


def test_far_too_many_items_are_refused_before_they_are_made(admin: Caller):
    body = b'{"handler":"shop.price","items":[' + b"{}," * 1_500_000 + b"{}]}"
    sent(admin, "/api/jobs", body).refused(413, "values")
    body = b'{"handler":"shop.price","items":[' + b"{}," * 10_000 + b"{}]}"
    sent(admin, "/api/jobs", body).refused(422, "10,000 items")
    sent(admin, "/api/queues/q/items", body).refused(422, "10,000 items")


def test_a_list_of_jobs_holds_no_configs(admin: Caller):
    config = {"long": "x" * 60_000}
    made = admin.post("/api/jobs", JOB | {"config": config}).ok(202)["jobId"]
    assert admin.job(made)["config"] == config
    assert len(admin.get("/api/jobs").body) < 60_000


# ---- SL4: odd values in what is read -------------------------------------------------------


@pytest.mark.parametrize(
    "read",
    [
        {"encoding": name}
        for name in ("base64_codec", "bz2", "hex", "idna", "punycode", "undefined", "a\0b", "rot13")
    ]
    + [{"delimiter": "\0"}, {"format": "\0"}, {"sheet": "\0"}],
    ids=repr,
)
def test_no_way_to_read_a_file_makes_the_server_fail(api: ApiServer, read: dict[str, str]):
    answer = api.admin().upload(
        ("rows.csv", b"id,name\n1,xn--\xff\n"), to="/api/preview", read=json.dumps(read)
    )
    assert answer.status in {200, 422}, answer.body


@pytest.mark.parametrize(
    "source",
    [
        "ftp://a%0d%0ab@localhost/x.csv",
        "ftp://a:b%0d%0ac@localhost/x.csv",
        "sftp://a%00b@localhost/x.csv",
        "http://a%0d%0ab@localhost/x.csv",
        "file:%00",
        "s3://\ud7ff/" + "x" * 1_900,
        "http://[::1",
        "http://localhost:99999/",
    ],
)
def test_no_source_makes_the_server_fail(api: ApiServer, source: str):
    admin = api.admin()
    assert admin.post("/api/preview", {"source": source}).status in {403, 422}
    asked = admin.post("/api/jobs", {"handler": "shop.price", "source": source})
    assert asked.status in {202, 403, 422}, asked.body


@pytest.mark.parametrize("name", ["x" * 5_000 + ".js", "%00.js", "..%2f..%2fx.js", "%ff.css"])
def test_no_name_of_an_asset_makes_the_server_fail(api: ApiServer, name: str):
    assert api.nobody().get(f"/assets/{name}").status in {404, 422}


def test_no_name_of_an_uploaded_file_makes_the_server_fail(api: ApiServer):
    for name in ("a\0b.csv", "\udcff.csv", "x" * 5_000 + ".csv", "../x.csv", ".csv", ""):
        body = name.encode("utf-8", "surrogateescape")
        part = b'--b\r\nContent-Disposition: form-data; name="file"; filename="' + body
        whole = part + b'"\r\n\r\nid\n1\n\r\n--b--\r\n'
        kind = {"Content-Type": "multipart/form-data; boundary=b"}
        answer = api.admin().ask("POST", "/api/preview", body=whole, headers=kind)
        assert answer.status in {200, 400, 422}, (name[:20], answer.body)
