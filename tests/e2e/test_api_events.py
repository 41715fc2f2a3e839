"""Server-sent events: counters, changes and decisions, resumable without loss."""

import http.client
import json
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest

from headgate.app.server_policy import ServerPolicy
from tests.kit.api_server import ApiServer, Caller, rows_csv
from tests.kit.command import until

pytestmark = pytest.mark.slow


class Message(NamedTuple):
    kind: str
    id: str | None
    data: Any


class Listener:
    """Reads messages one after the other."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self._response = response

    def next(self) -> Message:
        fields: dict[str, str] = {}
        while True:
            line = self._response.fp.readline().decode()
            assert line, "the stream ended"
            line = line.rstrip("\r\n")
            if not line and "data" in fields:
                data = json.loads(fields["data"])
                return Message(fields["event"], fields.get("id"), data)
            name, _, value = line.partition(": ")
            if name:
                fields[name] = value

    def until(self, kind: str, **facts: object) -> list[Message]:
        """All messages up to one of that kind with those facts."""
        heard: list[Message] = []
        while True:
            message = self.next()
            heard.append(message)
            known = {name: message.data.get(name) for name in facts}
            if message.kind == kind and known == facts:
                return heard


@contextmanager
def listening(
    caller: Caller, path: str = "/api/events", after: str | None = None
) -> Iterator[Listener]:
    parts = urlsplit(caller.url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=120)
    headers = {**caller.headers, **({"Last-Event-ID": after} if after is not None else {})}
    try:
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        assert response.status == 200
        assert response.headers["Content-Type"].startswith("text/event-stream")
        yield Listener(response)
    finally:
        connection.close()


def test_counters_and_changes_are_sent(admin: Caller):
    with listening(admin) as heard:
        assert heard.next().kind == "hello"
        job_id = admin.done(rows_csv(5, r1="fail"))
        told = heard.until("counters", jobId=job_id, state="DONE")
        last = told[-1].data
        assert last["counts"]["done"] == 4
        assert last["counts"]["error"] == 1
        assert last.keys() >= {"jobId", "state", "counts", "ingest", "rate", "eta"}
        changed = heard.until("changed", jobId=job_id)[-1].data
        # "Changed since": the cursor is one that the list of items takes.
        path = f"/api/jobs/{job_id}/items"
        assert len(admin.pages(path, order="updated", after=changed["after"])) == 5


def test_a_user_has_a_limited_number_of_streams(api: ApiServer):
    ann, bob = api.user("ann"), api.user("bob")
    most = ServerPolicy().streams_per_user
    with ExitStack() as opened:
        for _ in range(most):
            assert opened.enter_context(listening(ann)).next().kind == "hello"
        ann.get("/api/events").refused(429, f"{most} event streams")
        opened.enter_context(listening(bob))
    until(lambda: _can_listen(ann), what="a place that another stream has left")


def _can_listen(caller: Caller) -> bool:
    try:
        with listening(caller) as listener:
            return listener.next().kind == "hello"
    except AssertionError:
        return False


def test_decisions_carry_their_id_and_nothing_is_lost_on_the_way(admin: Caller):
    job_id = admin.done(rows_csv(2))
    logged = admin.get("/api/events/log", jobId=job_id, pageSize=1000).ok()["items"][::-1]
    assert len(logged) >= 4
    heard: list[Message] = []
    after = "0"
    # One message a connection: a client that resumes gets each event once.
    path = f"/api/events?jobId={job_id}"
    while len(heard) < len(logged):
        with listening(admin, path, after) as listener:
            heard.append(listener.until("event")[-1])
        after = heard[-1].id or ""
    assert [message.id for message in heard] == [event["id"] for event in logged]
    assert [message.data["kind"] for message in heard] == [event["kind"] for event in logged]


def test_counters_of_a_job_are_sent_at_most_four_times_a_second(admin: Caller):
    job_id = admin.send(rows_csv(6_000), handler="shop.plain")
    began_s = time.monotonic()
    with listening(admin, f"/api/events?jobId={job_id}") as listener:
        told = listener.until("counters", state="DONE")
    counters = [message for message in told if message.kind == "counters"]
    # Whatever delays us makes the time longer, and the bound only wider.
    assert 2 <= len(counters) <= 2 + 4 * (time.monotonic() - began_s)


def test_a_stream_that_is_invalid_is_refused(api: ApiServer, admin: Caller):
    for wrong in ("x", "-1", "1e9", "9" * 30):
        admin.ask("GET", "/api/events", headers={"Last-Event-ID": wrong}).refused(400)
    admin.get("/api/events", jobId="999999").refused(404)
    admin.get("/api/events", jobId="x").refused(404)
    api.nobody().get("/api/events").refused(401)
    admin.get("/api/events/log", after="x").refused(400)


def test_the_log_is_paged(admin: Caller):
    job_id = admin.done(rows_csv(1))
    whole = admin.get("/api/events/log", jobId=job_id, pageSize=1000).ok()["items"]
    assert [event["id"] for event in admin.pages("/api/events/log", jobId=job_id, pageSize=2)] == [
        event["id"] for event in whole
    ]
    assert whole[0].keys() == {"id", "at", "jobId", "itemId", "kind", "message"}
