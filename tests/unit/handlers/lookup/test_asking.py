"""What a lookup asks: every value quoted for its place, and nothing that leads elsewhere."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import parse_qsl, unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.core.fault import Fault, FaultClass
from headgate.core.outcome import Done, NotFound
from headgate.handlers.lookup import of_file
from headgate.handlers.words.request_url import request_url
from headgate.handlers.words.template import Unasked, parse_template
from tests.kit.answers import Answer
from tests.kit.lookups import Asking, asking, described, sent
from tests.kit.provider import Provider

NASTY = "a/b?c=d&e#f %2e+ü{}\"'\\\0\r\n"


@pytest.fixture
async def ask(provider: Provider) -> AsyncIterator[Asking]:
    provider.script = lambda _: Answer(200, body=b'{"price": 3}')
    async with asking() as found:
        yield found


def url_for(template: str, row: dict[str, object], *, host_from_data: bool = False) -> str:
    parsed = parse_template(template, "request.url")
    return request_url(parsed, host_from_data=host_from_data).url(row)


async def test_a_value_in_the_path_stays_one_segment(ask: Asking, provider: Provider):
    await ask(described(provider, "/things/{sku}/price"), {"sku": NASTY})
    first, things, segment, last = sent(provider)[0].target.split("/")
    assert (first, things, last) == ("", "things", "price")
    assert unquote(segment) == NASTY


async def test_a_value_in_the_query_or_in_params_stays_one_value(ask: Asking, provider: Provider):
    request = {"params": {"exact": "{x}", "n": 5, "yes": True, "mixed": "a {x} b"}}
    await ask(described(provider, "/find?q={x}&r=1", request=request), {"x": NASTY})
    query = sent(provider)[0].target.partition("?")[2]
    assert parse_qsl(query, keep_blank_values=True) == [
        ("q", NASTY),
        ("r", "1"),
        ("exact", NASTY),
        ("n", "5"),
        ("yes", "true"),
        ("mixed", f"a {NASTY} b"),
    ]


async def test_a_json_body_keeps_types_and_quotes_texts(ask: Asking, provider: Provider):
    body = {"name": "{x}", "n": "{n}", "list": ["{x}", 1, None], "tags": "{tags}", "s": "n={n}"}
    request = {"method": "POST", "json": {**body, "{{": "}}"}}
    await ask(described(provider, request=request), {"x": NASTY, "n": 12.5, "tags": ["a"]})
    (asked,) = sent(provider)
    assert asked.headers["content-type"] == "application/json"
    assert json.loads(asked.body) == {
        "name": NASTY,
        "n": 12.5,
        "list": [NASTY, 1, None],
        "tags": ["a"],
        "s": "n=12.5",
        "{{": "}",
    }


@pytest.mark.parametrize(
    ("value", "text"),
    [(12.0, "12"), (12.5, "12.5"), (True, "true"), (-3, "-3"), (1e300, "1e300"), (0.1, "0.1")],
)
def test_numbers_are_written_as_people_write_them(value: object, text: str):
    assert url_for("https://a.org/{n}", {"n": value}) == f"https://a.org/{text}"


async def test_a_form_is_a_form(ask: Asking, provider: Provider):
    request = {"method": "POST", "form": {"q": "{x}", "n": 1}}
    await ask(described(provider, request=request), {"x": NASTY})
    (asked,) = sent(provider)
    assert asked.headers["content-type"] == "application/x-www-form-urlencoded"
    assert parse_qsl(asked.body.decode()) == [("q", NASTY), ("n", "1")]


async def test_what_may_be_empty_is_left_out(ask: Asking, provider: Provider):
    request = {
        "method": "POST",
        "params": {"a": "{a?}", "b": "{b?}", "c": "{c?}", "d": "-{c?}"},
        "headers": {"X-A": "{a?}", "X-B": "{b?}"},
        "json": {"a": "{a?}", "b": "{b?}", "none": None, "list": ["{b?}", "{a?}"]},
    }
    await ask(described(provider, request=request), {"a": "A", "b": " "})
    (asked,) = sent(provider)
    assert asked.target == "/?a=A&d=-"
    assert (asked.headers["x-a"], "x-b" in asked.headers) == ("A", False)
    assert json.loads(asked.body) == {"a": "A", "none": None, "list": ["A"]}


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"SKU": "A"}, "request.url: the row has no column 'sku'; did you mean 'SKU'?"),
        ({"price": "A"}, "request.url: the row has no column 'sku'; it has price"),
        ({}, "request.url: the row has no column 'sku'; it has none"),
        ({"sku": ""}, "request.url: the column 'sku' is empty"),
        ({"sku": None}, "request.url: the column 'sku' is empty"),
        ({"sku": ["A"]}, "request.url: the column 'sku' holds a list or an object, not a text"),
        ({"sku": "\ud800"}, "the row contains an unpaired surrogate and cannot be encoded"),
    ],
)
async def test_a_row_that_cannot_be_asked_about_is_a_permanent_error(
    ask: Asking, provider: Provider, row: dict[str, object], reason: str
):
    ended = await ask(described(provider, "/{sku}"), row)
    assert ended == Fault(FaultClass.PERMANENT, reason)
    assert provider.connections == 0


@pytest.mark.parametrize(
    "value", ["a\r\nX-Evil: 1", "a\nb", "a\0b", "tab\there", "ünicode", "a\x7f"]
)
async def test_a_header_takes_one_line_of_plain_characters(
    ask: Asking, provider: Provider, value: str
):
    ended = await ask(described(provider, request={"headers": {"X-Name": "{v}"}}), {"v": value})
    assert isinstance(ended, Fault)
    assert "request.headers.x-name: the row gives a value that is not one line" in ended.reason
    assert provider.connections == 0


@pytest.mark.parametrize("value", ["..", ".", "../../admin", "a/../b", "..\\x", "./a", "a/."])
def test_no_value_leads_to_another_path(value: str):
    with pytest.raises(Unasked, match="would lead to another path"):
        url_for("https://a.org/things/{sku}", {"sku": value})


def test_values_that_make_dots_together_lead_nowhere_either():
    with pytest.raises(Unasked, match="would lead to another path"):
        url_for("https://a.org/x/{a?}.{b?}/", {"a": "", "b": "."} | {"a": None, "b": None})
    with pytest.raises(Unasked, match="would lead to another path"):
        url_for("https://a.org/x/%2e{a?}/", {})
    assert url_for("https://a.org/x/{a}", {"a": "1.5..2"}) == "https://a.org/x/1.5..2"


def test_braces_may_stand_for_themselves():
    assert parse_template("{{{x}}} }}{{", "here").text({"x": "1"}) == "{1} }{"


@given(st.text(min_size=1).filter(str.strip))
def test_whatever_a_row_says_host_and_path_stay(value: str):
    try:
        url = url_for("https://a.org/x/{v}/y?q={v}", {"v": value})
    except (Unasked, UnicodeEncodeError):
        return
    assert url.startswith("https://a.org/x/")
    path, _, query = url.removeprefix("https://a.org").partition("?")
    assert path.count("/") == 3
    assert path.endswith("/y")
    assert query.count("&") == 0
    assert unquote(query.removeprefix("q=")) == value


def test_a_host_comes_from_rows_only_where_that_is_said():
    assert (
        url_for("{url}", {"url": "https://b.org/x?y"}, host_from_data=True) == "https://b.org/x?y"
    )
    assert (
        url_for("https://{host}/x/{v}", {"host": "b.org:81", "v": "a b"}, host_from_data=True)
        == "https://b.org:81/x/a%20b"
    )
    assert url_for("{base}/{v}", {"base": "http://b.org/a/", "v": "1"}, host_from_data=True) == (
        "http://b.org/a/1"
    )


@pytest.mark.parametrize(
    ("template", "row"),
    [
        ("https://{host}/x", {"host": "b.org/evil"}),
        ("https://{host}/x", {"host": "me@b.org"}),
        ("https://{host}.a.org/x", {"host": "b.org?"}),
        ("https://{host}.a.org/x", {"host": "b.org#"}),
        ("{base}/x", {"base": "https://b.org/?q="}),
        ("{base}/x", {"base": "https://b.org/#"}),
    ],
)
def test_a_host_from_a_row_is_a_host_and_no_more(template: str, row: dict[str, object]):
    with pytest.raises(Unasked):
        url_for(template, row, host_from_data=True)


# ---- variants ----------------------------------------------------------------------------------


async def test_a_variant_replaces_what_it_says(ask: Asking, provider: Provider):
    lookup = described(
        provider,
        "/by-name",
        request={"params": {"q": "{name}", "n": 1}},
        variants=[
            {"name": "as it is"},
            {"url": provider.url("/by-sku"), "params": {"sku": "{sku}"}},
        ],
    )
    row = {"name": "Ada", "sku": "A1"}
    await ask(lookup, row)
    await ask(lookup, row, "variant 2")
    targets = [request.target for request in sent(provider, 2)]
    assert targets == ["/by-name?q=Ada&n=1", "/by-sku?sku=A1"]


async def test_a_variant_that_lacks_its_value_makes_way_for_the_next(
    ask: Asking, provider: Provider
):
    lookup = described(
        provider, variants=[{"params": {"isbn": "{isbn}"}}, {"params": {"t": "{t}"}}]
    )
    for row in ({"isbn": "", "t": "x"}, {"t": "x"}):
        ended = await ask(lookup, row)
        assert isinstance(ended, NotFound)
        assert "isbn" in ended.reason
    assert provider.connections == 0


# ---- normal forms ------------------------------------------------------------------------------


async def test_values_are_asked_with_in_their_normal_form(ask: Asking, provider: Provider):
    lookup = described(
        provider,
        request={
            "method": "POST",
            "json": {"name": "{name}", "year": "{year}", "x": "{x?}", "n": "{n}"},
        },
        normalize={"name": ["collapse", "lower", "nfc"], "*": ["trim", "number"]},
    )
    await ask(lookup, {"name": " U\u0308BER  x ", "year": " 1999 ", "x": "", "n": 7, "other": 1})
    assert json.loads(sent(provider)[0].body) == {"name": "über x", "year": 1999, "n": 7}


async def test_an_invalid_number_is_reported(ask: Asking, provider: Provider):
    lookup = described(provider, "/{year}", normalize={"year": ["number"]})
    assert await ask(lookup, {"year": "MCMXCIX"}) == Fault(
        FaultClass.PERMANENT, "normalize.year: 'MCMXCIX' is not a number"
    )


# ---- secrets -----------------------------------------------------------------------------------


async def test_a_secret_comes_from_the_environment_of_the_worker(
    ask: Asking, provider: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    file = tmp_path / "secret.toml"
    file.write_text(
        f"""
        columns = {{ price = "price" }}
        [request]
        url = "{provider.url("/x")}"
        params = {{ key = {{ env = "LOOKUP_KEY" }} }}
        headers = {{ Authorization = {{ env = "LOOKUP_KEY", prefix = "Bearer " }} }}
        """
    )
    monkeypatch.setenv("LOOKUP_KEY", " s3cret\n")
    assert await ask(of_file(file), {}) == Done({"price": 3})
    (asked,) = sent(provider)
    assert asked.target == "/x?key=s3cret"
    assert asked.headers["authorization"] == "Bearer s3cret"


# ---- files -------------------------------------------------------------------------------------


async def test_a_stored_file_is_sent_as_it_is(provider: Provider, tmp_path: Path):
    image = tmp_path / "image"
    image.write_bytes(bytes(range(256)) * 100)
    provider.script = lambda request: Answer(200, body=b'{"size": %d}' % len(request.body))
    request = {"method": "POST", "body": "file", "headers": {"Content-Type": "image/{format}"}}
    lookup = described(provider, request=request, columns={"size": "size"})
    async with asking(lambda name: tmp_path / name) as ask:
        assert await ask(lookup, {"ref": "image", "format": "png"}) == Done({"size": 25_600})
        small = {**lookup, "request": {**lookup["request"], "file_bytes": 1_000}}
        ended = await ask(small, {"ref": "image", "format": "png"})
    assert isinstance(ended, Fault)
    assert "more than 1,000 bytes; raise `request.file_bytes`" in ended.reason
    (request_sent,) = sent(provider)
    assert request_sent.headers["content-type"] == "image/png"
    assert request_sent.body == image.read_bytes()


async def test_a_file_of_unknown_type_is_sent_as_octet_stream(provider: Provider, tmp_path: Path):
    (tmp_path / "image").write_bytes(b"x")
    request = {"method": "PUT", "body": "file", "file_column": "picture"}
    async with asking(lambda name: tmp_path / name) as ask:
        await ask(described(provider, request=request), {"picture": "image"})
    assert sent(provider)[0].headers["content-type"] == "application/octet-stream"
