"""No value that a client can send makes the server fail: every parameter is tried."""

import base64
import http.client
import json
from collections.abc import Iterator
from typing import Any, Self
from urllib.parse import quote, urlencode, urlsplit

import pytest

from headgate.app.api.application import document
from tests.kit.api_server import ApiServer, Caller, rows_csv

STORES = ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]
TEXTS = [
    "\0",
    str(2**70),
    "9999-12-31T23:59:59-23:59",
    "0001-01-01T00:00:00+23:59",
    "-1",
    "x" * 5_000,
    "'\"\\%",
    "a\r\nb",
]
VALUES = [
    '"\\u0000"',
    str(2**70),
    '{"\\u0000": "\\ud800"}',
    '"\\ud800"',
    json.dumps("x" * 5_000),
    '"2026-99-99"',
    "1e308",
    "9" * 5_000,
    "null",
    "[" * 2_000 + "]" * 2_000,
]
FOR_STORES = 3
"""The first few of both are what stores differ in; one store is enough for the others."""
JOB = {"handler": "shop.price", "items": [{"id": "1"}]}
BODIES: dict[str, dict[str, Any]] = {
    "/api/jobs": JOB,
    "/api/jobs/{jobId}/priority": {"priority": 1},
    "/api/jobs/{jobId}/reprocess": {"dryRun": True},
    "/api/pending/reprocess": {"statuses": ["ERROR"], "dryRun": True},
    "/api/dead-letters/replay": {"dryRun": True},
    "/api/items/{itemId}/accept": {"candidateId": "x"},
    "/api/queues/{name}/items": {"items": [{"id": "1"}], "handler": "shop.price"},
    "/api/preview": {"source": "file:rows.csv"},
    "/api/providers/{name}": {"rate": "5/s"},
    "/api/users": {"name": "zoe"},
    "/api/tokens": {"label": "x"},
    "/api/login": {"token": "x"},
}
SKIPPED = {("get", "/api/events")}
"""It has no end."""


@pytest.fixture(scope="module", params=STORES)
def api(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ApiServer]:
    url, server = "", None
    if request.param == "postgres":
        server = request.getfixturevalue("postgres_server")
        database = server.create_database()
        url = server.url(database)
    with ApiServer(tmp_path_factory.mktemp("hostile"), url) as running:
        yield running
    if server is not None:
        server.drop_database(database)


class Sweep:
    """One connection over which everything is tried; what fails is kept."""

    def __init__(self, caller: Caller, most: int) -> None:
        self.most = most
        where = urlsplit(caller.url)
        self._connection = http.client.HTTPConnection(where.hostname, where.port, timeout=60)
        self._headers = caller.headers
        self.failed: list[str] = []
        self.asked = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._connection.close()

    def ask(self, method: str, path: str, body: str | None = None) -> bytes:
        kind = {"Content-Type": "application/json"} if body is not None else {}
        self._connection.request(
            method.upper(), path, None if body is None else body.encode(), self._headers | kind
        )
        reply = self._connection.getresponse()
        content = reply.read()
        self.asked += 1
        if reply.status >= 500 and not path.startswith(("/healthz", "/readyz")):
            shown = f"{method} {path[:150]} {(body or '')[:150]}"
            self.failed.append(f"{reply.status} {shown}: {content[:200]!r}")
        return content


@pytest.fixture
def sweep(api: ApiServer) -> Iterator[Sweep]:
    is_postgres = api.project.url.startswith("postgres")
    with Sweep(api.admin(), FOR_STORES if is_postgres else len(TEXTS + VALUES)) as made:
        yield made


@pytest.fixture(scope="module")
def known(api: ApiServer) -> dict[str, str]:
    """Things that exist, so that a hostile value beside them is looked at."""
    admin = api.admin()
    job_id = admin.done(rows_csv(4, r1="review", r2="fail", r3="fail"))
    item = admin.items(job_id)[0]["id"]
    return {"jobId": job_id, "itemId": item, "name": "someone", "exportId": "1"}


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in document()["paths"].items():
        for method, operation in methods.items():
            if (method, path) not in SKIPPED:
                yield method, path, operation


def named(path: str, known: dict[str, str], **other: str) -> str:
    for name in ("jobId", "itemId", "exportId", "name", "workerId", "tokenId"):
        text = other.get(name) or known.get(name, "none")
        path = path.replace(f"{{{name}}}", quote(text, safe=""))
    return path


def fields_of(document: dict[str, Any], operation: dict[str, Any]) -> list[str]:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    schema = content.get("schema", {})
    for option in [schema, *schema.get("anyOf", [])]:
        if "$ref" in option:
            schema = document["components"]["schemas"][option["$ref"].rpartition("/")[2]]
    return list(schema.get("properties", {}))


def test_no_parameter_of_a_path_or_query_makes_the_server_fail(sweep: Sweep, known: dict[str, str]):
    for method, path, operation in operations():
        for parameter in operation.get("parameters", []):
            name = parameter["name"]
            for text in TEXTS[: sweep.most]:
                if parameter["in"] == "path":
                    sweep.ask(method, named(path, known, **{name: text}))
                elif parameter["in"] == "query" and method == "get":
                    sweep.ask(method, f"{named(path, known)}?{urlencode({name: text})}")
    assert sweep.failed == []
    assert sweep.asked > 50 * min(sweep.most, len(TEXTS))


def test_no_field_of_a_body_makes_the_server_fail(sweep: Sweep, known: dict[str, str]):
    whole = document()
    for method, path, operation in operations():
        for field in fields_of(whole, operation):
            for value in VALUES[: sweep.most]:
                others = {k: v for k, v in BODIES.get(path, {}).items() if k != field}
                rest = "".join(f", {json.dumps(k)}: {json.dumps(v)}" for k, v in others.items())
                sweep.ask(method, named(path, known), f"{{{json.dumps(field)}: {value}{rest}}}")
    assert sweep.failed == []
    assert sweep.asked > 30 * min(sweep.most, len(VALUES))


def test_no_cursor_makes_the_server_fail(sweep: Sweep, known: dict[str, str]):
    tried = 0
    for method, path, operation in operations():
        if "after" not in {each["name"] for each in operation.get("parameters", [])}:
            continue
        place = f"{named(path, known)}?pageSize=1"
        following = json.loads(sweep.ask(method, place)).get("next")
        if following is None:
            continue
        tried += 1
        for number in (2**70, -(2**70), 2**63, -1):
            sweep.ask(method, f"{place}&after={quote(changed(following, number))}")
            sweep.ask(method, f"{place}&after={number}")
    assert sweep.failed == []
    assert tried >= 3


def changed(cursor: str, number: int) -> str:
    """The same cursor with other numbers in it."""
    try:
        parts = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except ValueError:
        return str(number)
    other = [number if isinstance(part, int) else part for part in parts]
    return base64.urlsafe_b64encode(json.dumps(other).encode()).decode().rstrip("=")
