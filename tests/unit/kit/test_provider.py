import http.client
import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.kit import answers
from tests.kit.answers import Answer, Bucket, Request, always, by_path, in_turn, redirect, refusal
from tests.kit.ports import LOOPBACK
from tests.kit.provider import Provider, wait_until


@pytest.fixture
def provider():
    with Provider() as serving:
        yield serving


def ask(provider, path="/", method="GET", timeout=10.0, **headers):
    """Status, headers and body."""
    connection = http.client.HTTPConnection(LOOPBACK, provider.port, timeout=timeout)
    try:
        connection.request(method, path, headers=headers)
        reply = connection.getresponse()
        return reply.status, dict(reply.getheaders()), reply.read()
    finally:
        connection.close()


def test_what_was_asked_is_remembered(provider):
    provider.script = always(Answer(418, [("X-Mood", "short")], b"teapot"))
    connection = http.client.HTTPConnection(LOOPBACK, provider.port)
    for number in range(2):
        connection.request("POST", f"/a?n={number}", b"body", {"X-Who": "me", "Host": "Wiki.org"})
        reply = connection.getresponse()
        assert (reply.status, reply.headers["X-Mood"], reply.read()) == (418, "short", b"teapot")
    connection.close()
    wait_until(lambda: len(provider.seen) == 2)
    first, second = provider.seen
    assert first.request[:2] == ("POST", "/a?n=0")
    assert (first.request.path, first.request.host, first.request.body) == (
        "/a",
        "wiki.org",
        b"body",
    )
    assert first.request.headers["x-who"] == "me"
    assert first.arrived_s <= first.ended_s <= second.arrived_s
    assert (second.status, second.complete) == (418, True)
    assert provider.connections == 1


def test_the_script_may_change_while_it_runs(provider):
    provider.script = in_turn(refusal("soon"), refusal(), Answer(body=b"fine"))
    replies = [ask(provider) for _ in range(4)]
    assert [status for status, *_ in replies] == [429, 429, 200, 200]
    assert [headers.get("Retry-After") for _, headers, _ in replies] == ["soon", None, None, None]
    provider.script = by_path({"/old": always(redirect("/new"))})
    assert ask(provider, "/old?x")[1]["Location"] == "/new"
    assert ask(provider, "/new")[0] == 404


def test_overlap_is_measured_for_each_host_until_the_end_of_the_body(provider):
    provider.script = always(Answer(body=b"dripping", drip_s=0.05))
    with ThreadPoolExecutor(5) as threads:
        asked = [threads.submit(ask, provider, Host="a") for _ in range(3)]
        asked += [threads.submit(ask, provider, Host="b") for _ in range(2)]
        wait_until(lambda: provider.under_way() == 5)
        assert provider.under_way("a") == 3
        assert all(each.result()[2] == b"dripping" for each in asked)
    wait_until(lambda: provider.under_way() == 0)
    assert (provider.overlap("a"), provider.overlap("b"), provider.overlap("c")) == (3, 2, 0)
    assert all(seen.ended_s - seen.arrived_s > 0.3 for seen in provider.seen)
    ask(provider, Host="a")
    assert provider.overlap("a") == 3


def test_a_body_may_be_cut(provider):
    provider.script = always(Answer(body=b"0123456789", cut_at=4))
    with pytest.raises(http.client.IncompleteRead) as cut:
        ask(provider)
    assert cut.value.partial == b"0123"
    wait_until(lambda: provider.seen)
    assert [(seen.status, seen.complete) for seen in provider.seen] == [(200, False)]


def test_a_length_may_be_a_lie(provider):
    provider.script = always(Answer(headers=[("Content-Length", "3")], body=b"0123456789"))
    assert ask(provider)[2] == b"012"


def test_silence_lasts_until_the_client_goes(provider):
    provider.script = always(Answer(silent=True))
    with pytest.raises(TimeoutError):
        ask(provider, timeout=0.1)
    wait_until(lambda: provider.seen)
    assert [(seen.status, seen.complete) for seen in provider.seen] == [(0, False)]


def test_it_may_hang_up_silently(provider):
    provider.script = always(Answer(hang_up=True))
    with pytest.raises(http.client.RemoteDisconnected):
        ask(provider)


def test_while_it_is_down_it_refuses_and_its_port_stays(provider):
    provider.script = always(Answer(silent=True))
    with socket.create_connection((LOOPBACK, provider.port)) as cut:
        cut.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        wait_until(lambda: provider.under_way("a") == 1)
        port = provider.port
        provider.stop()
        assert cut.recv(1) == b""
        with pytest.raises(ConnectionRefusedError):
            ask(provider)
    provider.script = always(Answer())
    provider.start()
    assert provider.port == port
    assert ask(provider)[0] == 200


def test_a_client_that_has_the_body_gets_304(provider):
    provider.script = answers.tagged(b"page", "max-age=5")
    status, headers, body = ask(provider)
    assert (status, body, headers["Cache-Control"]) == (200, b"page", "max-age=5")
    status, _, body = ask(provider, **{"If-None-Match": f'"other", {headers["ETag"]}'})
    assert (status, body) == (304, b"")
    assert ask(provider, **{"If-None-Match": '"other"'})[0] == 200


def test_a_bucket_refuses_what_is_too_much_and_may_change_its_mind():
    now = [100.0]
    bucket = Bucket(2.0, burst=3, refused=refusal("1", status=503), time_s=lambda: now[0])
    request = Request("GET", "/", {})
    assert [bucket(request).status for _ in range(5)] == [200, 200, 200, 503, 503]
    now[0] += 0.5
    assert [bucket(request).status for _ in range(2)] == [200, 503]
    bucket.per_s = 8.0
    now[0] += 0.25
    assert [bucket(request).status for _ in range(3)] == [200, 200, 503]


def test_one_request_after_the_other_is_not_an_overlap_on_whatever_connection(provider):
    provider.script = always(Answer(body=b"x" * 3_000_000))
    for _ in range(50):
        ask(provider, Host="a")
    assert provider.overlap("a") == 1


def test_a_head_has_no_body(provider):
    provider.script = always(Answer(body=b"page"))
    status, headers, body = ask(provider, method="HEAD")
    assert (status, headers["Content-Length"], body) == (200, "4", b"")
