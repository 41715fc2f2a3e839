"""The client as handlers use it."""

import gzip
from collections.abc import Mapping
from typing import Any

import pytest

from headgate.core.errors import UsageError
from headgate.core.fault import AttemptOver, Fault, FaultClass
from headgate.core.outcome import NotFound
from headgate.core.provider import ProviderPolicy
from headgate.core.url import BadUrl
from headgate.net.policy import NetPolicy
from headgate.net.response import BadStatus, BodyTooLarge
from headgate.ports.gate import Feedback
from tests.kit.answers import Answer, always
from tests.kit.http import bench
from tests.kit.provider import Provider


async def sent(provider: Provider, method: str = "POST", **options: Any) -> Mapping[str, str]:
    """What arrives: the headers, and the rest beside them."""
    async with bench() as cli:
        await cli.client().request(method, provider.url("/a?x=1"), **options)
    request = provider.seen[-1].request
    return {**request.headers, ":target": request.target, ":body": request.body.decode()}


@pytest.mark.parametrize(
    ("params", "target"),
    [
        ({"q": "a b&c"}, "/a?x=1&q=a%20b%26c"),
        ({"q": True, "n": 3, "f": 0.5, "none": None}, "/a?x=1&q=true&n=3&f=0.5"),
        ({"none": None}, "/a?x=1"),
        ({"q": "ü/?"}, "/a?x=1&q=%C3%BC%2F%3F"),
    ],
)
async def test_parameters_stand_behind_those_of_the_url(
    provider: Provider, params: dict[str, Any], target: str
):
    assert (await sent(provider, params=params))[":target"] == target


async def test_a_value_is_sent_as_json(provider: Provider):
    told = await sent(provider, json={"a": [1, None]})
    assert (told[":body"], told["content-type"]) == ('{"a":[1,null]}', "application/json")


async def test_a_form_is_sent_as_a_form(provider: Provider):
    told = await sent(provider, data={"a": "b c", "d": "ü"})
    assert told[":body"] == "a=b+c&d=%C3%BC"
    assert told["content-type"] == "application/x-www-form-urlencoded"


async def test_content_is_sent_as_it_is(provider: Provider):
    told = await sent(provider, content="häh")
    assert told[":body"] == "häh"
    assert "content-type" not in told
    told = await sent(provider, content=b"<a/>", headers={"Content-Type": "text/xml"})
    assert (told[":body"], told["content-type"]) == ("<a/>", "text/xml")


async def test_a_request_has_one_body(provider: Provider):
    async with bench() as cli:
        with pytest.raises(UsageError, match="give json or data, not both"):
            await cli.client().post(provider.url(), json=1, data={"a": "b"})


@pytest.mark.parametrize("method", ["get", "head", "post", "put", "patch", "delete"])
async def test_there_is_a_method_for_each_method(provider: Provider, method: str):
    async with bench() as cli:
        answer = await getattr(cli.client(), method)(provider.url())
    assert provider.seen[0].request.method == method.upper()
    assert answer.content == (b"" if method == "head" else b"hello")


async def test_we_introduce_ourselves(provider: Provider):
    policy = NetPolicy(user_agent="headgate/1.0", contact="me@example.org")
    ours = ProviderPolicy(user_agent="mine/2 (mailto:x@example.org)", contact="x@example.org")
    async with bench({"other": ours}, policy=policy) as cli:
        await cli.client().get(provider.url())
        await cli.client("other").get(provider.url())
        await cli.client().get(provider.url(), headers={"User-Agent": "handler/3"})
    agents = [seen.request.headers["user-agent"] for seen in provider.seen]
    assert agents == ["headgate/1.0 (me@example.org)", "mine/2 (mailto:x@example.org)", "handler/3"]


async def test_a_provider_gets_the_contact_where_it_wants_it(provider: Provider):
    policy = ProviderPolicy(contact="me@example.org", contact_parameter="mailto")
    async with bench({"polite": policy}) as cli:
        answer = await cli.client("polite").get(provider.url("/a?b=c"))
        await cli.client("polite").get(provider.url("/a?mailto=you"))
    targets = [seen.request.target for seen in provider.seen]
    assert targets == ["/a?b=c&mailto=me%40example.org", "/a?mailto=you"]
    assert answer.url == provider.url("/a?b=c")


async def test_an_answer_is_read_in_every_way(provider: Provider):
    headers = [("Content-Type", "application/json"), ("X-A", "1"), ("x-a", "2")]
    provider.script = always(Answer(200, headers, b'{"a": "\xc3\xbc"}'))
    async with bench() as cli:
        answer = await cli.client().get(provider.url("/a#b"))
    assert answer.status_code == 200
    assert answer.is_success
    assert answer.raise_for_status() is answer
    assert answer.json() == {"a": "ü"}
    assert answer.text == '{"a": "ü"}'
    assert answer.content == b'{"a": "\xc3\xbc"}'
    assert answer.headers["X-A"] == answer.headers["x-a"] == "1, 2"
    assert "content-TYPE" in answer.headers
    assert answer.headers.get("absent") is None
    assert set(answer.headers) == {"content-type", "x-a", "content-length"}
    assert len(answer.headers) == 3
    assert "'x-a': '1, 2'" in repr(answer.headers)
    assert answer.url == provider.url("/a")
    assert not answer.from_cache


@pytest.mark.parametrize(
    ("kind", "body", "text"),
    [
        ("text/plain; charset=latin-1", b"\xfc", "ü"),
        ('text/plain; charset="utf-16"', "ü".encode("utf-16"), "ü"),
        ("text/plain", b"\xc3\xbc", "ü"),
        ("text/plain; charset=klingon", b"\xc3\xbc", "ü"),
        ("", b"\xff", "\ufffd"),
    ],
)
async def test_text_is_decoded_as_its_headers_say(
    provider: Provider, kind: str, body: bytes, text: str
):
    provider.script = always(Answer(200, [("Content-Type", kind)], body))
    async with bench() as cli:
        assert (await cli.client().get(provider.url())).text == text


@pytest.mark.parametrize(
    ("body", "value"),
    [(b"[1e400, NaN]", None), (b'\xef\xbb\xbf{"a":1}', {"a": 1}), ('"ü"'.encode("utf-16"), "ü")],
)
async def test_json_is_read_as_leniently_as_elsewhere(provider: Provider, body: bytes, value: Any):
    provider.script = always(Answer(200, body=body))
    async with bench() as cli:
        read = (await cli.client().get(provider.url())).json()
    assert value is None or read == value


@pytest.mark.parametrize("body", [b"", b"<html>", b'{"a": ', b"\xff\xfe\xff"])
async def test_a_reply_that_is_not_json_is_retried(provider: Provider, body: bytes):
    provider.script = always(Answer(200, body=body))
    async with bench() as cli:
        answer = await cli.client().get(provider.url())
        with pytest.raises(AttemptOver, match="a body that is not JSON") as caught:
            answer.json()
    assert isinstance(caught.value.ending, Fault)
    assert caught.value.ending.kind is FaultClass.TRANSIENT


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (404, None),
        (410, None),
        (400, FaultClass.PERMANENT),
        (401, FaultClass.PERMANENT),
        (403, FaultClass.PERMANENT),
        (422, FaultClass.PERMANENT),
        (304, FaultClass.PERMANENT),
        (408, FaultClass.TRANSIENT),
        (425, FaultClass.TRANSIENT),
        (500, FaultClass.TRANSIENT),
        (599, FaultClass.TRANSIENT),
    ],
)
async def test_a_status_ends_the_attempt_as_it_should(
    provider: Provider, status: int, kind: FaultClass | None
):
    provider.script = always(Answer(status))
    async with bench() as cli:
        # POST, so that nothing is repeated.
        answer = await cli.client().post(provider.url("/a?key=secret"))
        assert not answer.is_success
        with pytest.raises(BadStatus) as caught:
            answer.raise_for_status()
    reason = f"{provider.url('/a')} answered {status}"
    assert caught.value.ending == (NotFound(reason) if kind is None else Fault(kind, reason))
    assert caught.value.response is answer


async def test_a_refusal_that_the_gates_let_through_costs_no_attempt(provider: Provider):
    provider.script = always(Answer(429))
    async with bench() as cli:
        cli.gates.judge = lambda _status, _headers: Feedback(refused=False)
        answer = await cli.client().get(provider.url())
        with pytest.raises(BadStatus) as caught:
            answer.raise_for_status()
    assert isinstance(caught.value.ending, Fault)
    assert caught.value.ending.kind is FaultClass.THROTTLED


async def test_a_body_that_is_too_large_says_what_to_do(provider: Provider):
    provider.script = always(Answer(200, body=b"x" * 1_001))
    async with bench(policy=NetPolicy(body_bytes=1_000)) as cli:
        with pytest.raises(BodyTooLarge, match=r"more than 1,000 bytes.*stream.*net\.body_bytes"):
            await cli.client().get(provider.url())
        async with cli.client().stream("GET", provider.url()) as answer:
            assert len(await answer.aread()) == 1_001


@pytest.mark.parametrize("of_all", [500, 10_000])
async def test_a_request_may_bound_its_answer_below_the_bound_of_all(
    provider: Provider, of_all: int
):
    provider.script = always(Answer(200, body=b"x" * 1_000))
    async with bench(policy=NetPolicy(body_bytes=of_all)) as cli:
        with pytest.raises(BodyTooLarge, match=f"more than {min(of_all, 999)} bytes"):
            await cli.client().get(provider.url(), max_bytes=999)


async def test_a_small_body_that_unpacks_to_a_huge_one_is_too_large(provider: Provider):
    bomb = gzip.compress(b"\0" * 10_000_000)
    provider.script = always(Answer(200, [("Content-Encoding", "gzip")], bomb))
    async with bench(policy=NetPolicy(body_bytes=1_000_000)) as cli:
        with pytest.raises(BodyTooLarge):
            await cli.client().get(provider.url())


async def test_an_answer_is_read_piece_by_piece(provider: Provider):
    provider.script = always(Answer(200, [("X-A", "1")], b"abc", drip_s=0.02))
    async with bench() as cli:
        async with cli.client().stream("GET", provider.url()) as answer:
            assert answer.raise_for_status() is answer
            assert answer.headers["X-A"] == "1"
            assert answer.url == provider.url()
            assert [piece async for piece in answer.aiter_bytes()] == [b"a", b"b", b"c"]
        [call] = cli.calls
    assert call.bytes == 3


@pytest.mark.parametrize("url", ["ftp://a/b", "http://user:secret@a/", "no url", ""])
async def test_a_bad_url_is_a_permanent_fault(url: str):
    async with bench() as cli:
        with pytest.raises(BadUrl) as caught:
            await cli.client().get(url)
        assert cli.gates.permits == []
    assert isinstance(caught.value.ending, Fault)
    assert caught.value.ending.kind is FaultClass.PERMANENT


async def test_a_url_with_spaces_around_and_inside_is_repaired(provider: Provider):
    async with bench() as cli:
        answer = await cli.client().get(f" {provider.url('/a b/ü')} ")
    assert answer.url == provider.url("/a%20b/%C3%BC")
    assert provider.seen[0].request.target == "/a%20b/%C3%BC"


async def test_time_for_one_exchange_can_be_given(provider: Provider):
    provider.script = always(Answer(silent=True))
    async with bench() as cli:
        with pytest.raises(AttemptOver, match=r"took longer than 0\.1 s"):
            await cli.client().post(provider.url(), timeout=0.1)
