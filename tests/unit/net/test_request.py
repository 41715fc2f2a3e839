"""Redirects by RFC 9110, and what must stay behind."""

import pytest

from headgate.core.fault import AttemptOver, Fault, FaultClass
from headgate.core.url import BadUrl
from headgate.net.policy import NetPolicy
from headgate.net.request import RedirectHop, TooManyRedirects, next_hop
from tests.kit.answers import Answer, always, by_path, redirect
from tests.kit.http import bench
from tests.kit.provider import Provider

HERE = "https://a.example/x/y?q=1"


def hop(
    status: int, location: str, method: str = "GET", *headers: tuple[str, str], body: bytes = b""
) -> RedirectHop:
    return next_hop(RedirectHop(method, HERE, headers, body or None), HERE, status, location)


@pytest.mark.parametrize(
    ("method", "status", "then"),
    [
        ("GET", 301, "GET"),
        ("HEAD", 302, "HEAD"),
        ("HEAD", 303, "HEAD"),
        ("POST", 301, "GET"),
        ("POST", 302, "GET"),
        ("POST", 303, "GET"),
        ("PUT", 302, "PUT"),
        ("PUT", 303, "GET"),
        ("POST", 307, "POST"),
        ("POST", 308, "POST"),
        ("DELETE", 307, "DELETE"),
    ],
)
def test_the_method_changes_where_the_rfc_says_so(method: str, status: int, then: str):
    given = ("content-type", "text/plain"), ("accept", "a/b")
    onward = hop(status, "/z", method, *given, body=b"body")
    assert onward.method == then
    changed = then != method
    assert onward.body == (None if changed else b"body")
    assert onward.headers == (list(given[1:]) if changed else given)


@pytest.mark.parametrize(
    ("location", "url"),
    [
        ("/z", "https://a.example/z"),
        ("z", "https://a.example/x/z"),
        ("?q=2", "https://a.example/x/y?q=2"),
        ("//b.example/z", "https://b.example/z"),
        ("http://c.example/", "http://c.example/"),
    ],
)
def test_a_location_is_read_from_where_we_are(location: str, url: str):
    assert hop(302, location).url == url


@pytest.mark.parametrize(
    ("location", "bare"),
    [
        ("/z", False),
        ("https://a.example:443/z", False),
        ("https://A.EXAMPLE/z", False),
        ("http://a.example/z", True),
        ("https://a.example:8443/z", True),
        ("https://b.a.example/z", True),
        ("https://b.example/z", True),
    ],
)
def test_no_secret_is_sent_to_another_host(location: str, bare: bool):
    secrets = ("authorization", "Bearer s"), ("cookie", "s"), ("x-api-key", "s")
    onward = hop(307, location, "GET", ("accept", "a/b"), *secrets)
    assert onward.bare is bare
    assert list(onward.headers) == [("accept", "a/b"), *(() if bare else secrets)]


def test_a_redirected_request_has_no_credential_even_if_it_returns_to_its_host():
    away = hop(302, "https://b.example/")
    back = next_hop(away, away.url, 302, HERE)
    assert back.bare


def test_a_body_that_follows_a_redirect_keeps_its_headers():
    onward = hop(307, "https://b.example/", "POST", ("content-type", "text/plain"), body=b"x")
    assert onward.headers == [("content-type", "text/plain")]


@pytest.mark.parametrize("location", ["ftp://b.example/", "file:///etc/passwd", "http://u:p@b/"])
def test_a_redirect_to_nowhere_is_a_permanent_fault(location: str):
    with pytest.raises(BadUrl):
        hop(302, location)


async def test_redirects_are_followed_to_their_end(provider: Provider):
    provider.script = by_path(
        {
            "/a": always(redirect("/b")),
            "/b": always(redirect("/c?x=1", 307)),
            "/c": always(Answer(200, body=b"there")),
        }
    )
    async with bench() as cli:
        answer = await cli.client().get(provider.url("/a"))
        async with cli.client().stream("GET", provider.url("/a")) as streamed:
            assert await streamed.aread() == b"there"
    assert (answer.text, answer.url) == ("there", provider.url("/c?x=1"))
    assert [call.status for call in cli.calls] == [302, 307, 200] * 2


async def test_a_form_is_not_sent_on(provider: Provider):
    provider.script = by_path({"/a": always(redirect("/b", 303)), "/b": always(Answer(200))})
    async with bench() as cli:
        await cli.client().post(provider.url("/a"), data={"a": "b"})
    second = provider.seen[1].request
    assert (second.method, second.body) == ("GET", b"")
    assert "content-type" not in second.headers


async def test_redirects_end_somewhere(provider: Provider):
    provider.script = always(redirect("/again"))
    async with bench(policy=NetPolicy(redirects=3)) as cli:
        with pytest.raises(TooManyRedirects, match="stopped after 3 redirects") as caught:
            await cli.client().get(provider.url())
    assert isinstance(caught.value.ending, Fault)
    assert caught.value.ending.kind is FaultClass.PERMANENT
    assert len(provider.seen) == 4


async def test_a_redirect_need_not_be_followed(provider: Provider):
    provider.script = always(redirect("/b"))
    async with bench() as cli:
        answer = await cli.client().get(provider.url(), follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (302, "/b")


async def test_a_redirect_that_says_not_where_is_an_answer(provider: Provider):
    provider.script = always(Answer(302, body=b"somewhere"))
    async with bench() as cli:
        assert (await cli.client().get(provider.url())).text == "somewhere"


async def test_a_redirect_to_nowhere_gives_every_place_back(provider: Provider):
    provider.script = always(redirect("gopher://a/"))
    async with bench() as cli:
        with pytest.raises(AttemptOver):
            async with cli.client().stream("GET", provider.url()):
                pass
        assert cli.gates.permits[0].released
