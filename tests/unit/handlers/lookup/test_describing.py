"""A description that will not do is refused in words that name the place and say what to do."""

import copy
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.core.errors import UnknownHandler, UsageError
from headgate.core.provider import ProviderPolicy
from headgate.handlers.lookup import check_config, of_config, of_file
from headgate.handlers.registry import describe_handlers, load_all, resolve
from headgate.testing import run_handler

GOOD: dict[str, Any] = {
    "request": {"url": "https://a.org/x/{sku}", "params": {"q": "{name?}"}},
    "columns": {"price": "price"},
}
FULL: dict[str, Any] = {
    "name": "shop.price",
    "about": "Prices.",
    "request": {"method": "POST", "url": "https://a.org/", "json": {"q": "{name}", "n": [1]}},
    "columns": {"price": "price", "etag": {"header": "etag"}},
    "variants": [{"name": "a"}, {"json": {"sku": "{sku}"}}],
    "not_found": {"statuses": [404], "empty": "items"},
    "review": {"candidates": "items", "columns": {"a": "b"}},
    "normalize": {"name": ["trim"]},
    "rate": "5/s",
    "timeout": 30,
}


def changed(**words: Any) -> dict[str, Any]:
    return {"lookup": {**GOOD, **words}}


def asking(**words: Any) -> dict[str, Any]:
    return changed(request={"url": "https://a.org/", **words})


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({}, "http.lookup needs its description in the job's config, under `lookup`"),
        ({"lookup": 3}, "lookup: a lookup is an object with `request` and `columns`"),
        ({"lookup": {"columns": {}}}, "the key 'request' is missing"),
        (changed(requestt={}), "unknown key 'requestt'; did you mean 'request'?"),
        (asking(paramz={}), "request: unknown key 'paramz'; did you mean 'params'?"),
        (asking(zzz=1), "request: unknown key 'zzz'; it may have url, method, params"),
        (changed(columns={"a": {"pat": "x"}}), "columns.a: unknown key 'pat'; did you mean"),
        (changed(columns={"a": {"path": 3}}), "columns.a.path: Expected str, got int"),
        (changed(columns={"a": {}}), "columns.a: give one of `path`, `header` and `status`"),
        (changed(columns={"": "x"}), "columns: a name in it is too short or too long"),
        (changed(columns={f"c{n}": "x" for n in range(501)}), "columns: there are 501, more than"),
        (changed(columns={"_x": "x"}), "columns: '_x' is not a column name"),
        (changed(columns={"a": "x["}), "columns.a: 'x[' is not a JMESPath expression"),
        (
            changed(columns={"a": f"{'[' * 60}a{']' * 60}"}),
            "a: the expression is nested too deeply",
        ),
        (changed(columns={"a": "lengthz(x)"}), "no function lengthz(); did you mean length()?"),
        (changed(columns={"a": "zzz(x)"}), "no function zzz(); there are abs, "),
        (changed(variants=[{"ulr": "x"}]), "variants[0]: unknown key 'ulr'; did you mean"),
        (changed(variants=[{"name": "a"}] * 2), "variants: two have the name 'a'"),
        (changed(normalize={"sku": ["trimm"]}), "normalize.sku[0]: 'trimm' is not one of trim"),
        (changed(normalize={"foo": ["trim"]}), "normalize.foo: no request uses this column"),
        (changed(review={}), "review: the key 'candidates' is missing"),
        (changed(not_found={"statuses": [1]}), "not_found.statuses[0]: Expected int >= 200"),
        (changed(rate="5/parsec"), "rate: '5/parsec' is not a limit"),
        (changed(rate="5/s", provider="x"), "provider: the settings hold the limits of"),
        (changed(reply="xml"), "reply: 'xml' is not one of json, text"),
        (asking(method="get"), "request.method: 'get' is not one of GET, HEAD"),
        (asking(json={"a": 1}), "request.method: a GET carries no body, and there is `json`"),
        (asking(method="POST", json=[1], body="file"), "give json or body, not both"),
        (asking(params={"q": [1]}), "request.params.q: Expected"),
        (asking(headers={"Host": "x"}), "request.headers: host is set by the client"),
        (asking(headers={"a b": "x"}), "request.headers: 'a b' is not a valid header name"),
        (asking(headers={"X-A": "x\r\ny"}), "request.headers.x-a: a header is one line"),
        (asking(headers={"X-A": "x", "x-a": "y"}), "request.headers: a header is given twice"),
        (asking(headers={"Authorization": "Bearer x"}), "Authorization has its value in the desc"),
        (asking(params={"api_key": "x"}), "api_key has its value in the description"),
        (asking(url="https://a.org/?q=1&apikey=x"), "apikey has its value in the description"),
        (asking(method="POST", form={"password": "x"}), "password has its value in the desc"),
        (asking(method="POST", json={"secret": "x"}), "secret has its value in the description"),
        (asking(params={"k": {"env": "HOME"}}), "HOME cannot be used in a job's config"),
        (asking(url="ftp://a.org"), "request.url: a URL begins with http:// or https://"),
        (asking(url=""), "request.url: a URL begins with http:// or https://"),
        (
            asking(url="https:///x"),
            "request.url: 'https://' is not a URL to fetch: it names no host",
        ),
        (asking(url="https://me:pw@a.org/"), "it may not carry a user or a password"),
        (asking(url="https://{host}/"), "allow it: host_from_data = true"),
        (asking(url="https://a.org{path}"), "allow it: host_from_data = true"),
        (asking(url="{url}"), "allow it: host_from_data = true"),
        (asking(url="{scheme}://a.org/"), "allow it: host_from_data = true"),
        (asking(url="https://a.org:{port}/"), "allow it: host_from_data = true"),
        (asking(url="https://a.org\\@b.org/"), "'\\\\' is not allowed in a URL"),
        (asking(url="https://a.org/x y"), "' ' is not allowed in a URL; write it as %20"),
        (asking(url="https://a.org/\0"), "'\\x00' is not allowed in a URL"),
        (asking(url="https://a.org/#{x}"), "the part after # is never sent"),
        (asking(url="https://a.org/a/../{x}"), "write the path without . and .."),
        (asking(url="https://a.org/{x"), "a single {; write {column}, or {{"),
        (asking(url="https://a.org/x}"), "a single }"),
        (asking(url="https://a.org/{ }"), "{ } names no column"),
        (changed(about="x" * 200_000), "the description has 200,"),
    ],
)
def test_what_is_wrong_is_said(config: dict[str, Any], message: str):
    with pytest.raises(UsageError) as raised:
        check_config(config)
    assert message in str(raised.value)


def test_bodies_are_not_nested_forever():
    deep: Any = "x"
    for _ in range(30):
        deep = [deep]
    with pytest.raises(UsageError, match=r"request\.json: it is nested more than 20 deep"):
        check_config(asking(method="POST", json=deep))
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(UsageError, match="cannot be read"):
        check_config(asking(method="POST", json=deep))


def test_good_ones_pass():
    check_config({"lookup": GOOD})
    check_config({"lookup": FULL})
    check_config(asking(params={"api_key": "{key}"}))  # a program that has the rows has the keys
    check_config(changed(host_from_data=True, request={"url": "{url}"}))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 999) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)


def places(tree: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    steps = (
        tree.items()
        if isinstance(tree, dict)
        else enumerate(tree)
        if isinstance(tree, list)
        else ()
    )
    return [path, *(found for step, inner in steps for found in places(inner, (*path, step)))]


@given(st.sampled_from(places(FULL)), JSON, st.booleans())
def test_a_damaged_description_is_refused_or_taken_and_never_crashes(place, value, add):
    tree: Any = {"lookup": copy.deepcopy(FULL)}
    *way, last = ("lookup", *place)
    inner = tree
    for step in way:
        inner = inner[step]
    if add and isinstance(inner[last], dict):
        inner[last]["added"] = value
    else:
        inner[last] = value
    with suppress(UsageError):
        check_config(tree)


def test_the_handler_of_a_job_has_what_the_description_says():
    spec = of_config({"lookup": FULL})
    assert (spec.name, spec.reference, spec.guarded) == ("http.lookup", "http.lookup", True)
    assert spec.strategies == ("a", "variant 2")
    assert spec.timeout_s == 30
    assert spec.limits == ProviderPolicy(rate="5/s")
    faster = of_config({"lookup": {**FULL, "rate": "50/s"}})
    assert (spec.provider or "").startswith("lookup-")
    assert spec.provider != faster.provider  # each job's limits are its own


def test_rows_that_name_their_host_wait_for_it_alone():
    assert of_config({"lookup": GOOD}).gate_of is None
    gate_of = of_config(changed(host_from_data=True, request={"url": "{url}"})).gate_of
    assert gate_of is not None
    rows = ["https://B.org:443/x", "http://b.org:81/", "no url", "", "\ud800", "http://b .org/"]
    assert [gate_of({"url": url}) for url in rows] == ["b.org", "b.org:81", "", "", "", ""]
    assert gate_of({}) == ""


def test_the_version_is_that_of_the_description():
    version = of_config({"lookup": GOOD}).version
    assert version == of_config({"lookup": dict(reversed(GOOD.items()))}).version
    assert version != of_config(changed(columns={"price": "cost"})).version


def test_how_fast_a_service_is_asked_is_not_a_part_of_the_version():
    version = of_config({"lookup": GOOD}).version
    for pace in ({"rate": "5/s"}, {"burst": 3}, {"concurrency": 2}, {"timeout": 9}, {"about": "x"}):
        assert of_config(changed(**pace)).version == version


def test_columns_that_every_variant_needs_are_needed():
    assert of_config({"lookup": GOOD}).needs == ("sku",)
    both = [{"params": {"a": "{a}"}}, {"params": {"b": "{b}", "a": "{a?}"}}]
    assert of_config(changed(variants=both)).needs == ("sku",)


# ---- files -------------------------------------------------------------------------------------


def written(folder: Path, text: str, name: str = "prices.toml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


TOML = """
about = "What a thing costs."
rate = "5/s"

[request]
url = "https://a.org/{sku}"

[columns]
price = "price"
"""


def test_a_file_is_a_handler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    written(tmp_path, TOML)
    monkeypatch.chdir(tmp_path)
    spec = resolve("prices.toml")
    assert (spec.name, spec.about) == ("prices", "What a thing costs.")
    assert spec.reference == str(tmp_path / "prices.toml")
    assert (spec.provider, spec.limits) == ("prices", ProviderPolicy(rate="5/s"))
    assert spec.needs == ("sku",)


def test_a_file_in_a_set_is_known_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    written(tmp_path, 'name = "shop.price"\n' + TOML)
    monkeypatch.chdir(tmp_path)
    assert resolve("shop.price", ["prices.toml"]).reference == "shop.price"
    infos = {info.name: info for info in describe_handlers(["prices.toml"])}
    assert set(infos) == {"download", "extract", "http.lookup", "sample.words", "shop.price"}
    schema = infos["http.lookup"].config_schema
    assert schema is not None
    assert schema["required"] == ["lookup"]
    assert json.dumps(schema)
    written(tmp_path, 'name = "shop.price"\n' + TOML, "again.toml")
    with pytest.raises(UnknownHandler, match=r"one of prices\.toml, one of again\.toml"):
        load_all(["prices.toml", "again.toml"])
    written(tmp_path, 'name = "http.lookup"\n' + TOML)
    with pytest.raises(UnknownHandler, match=r"one of Headgate itself, one of prices\.toml"):
        load_all(["prices.toml"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "the file cannot be read: No such file"),
        ("a = ", "the file is not valid TOML: "),
        ("x = '" + "x" * 200_000 + "'", "the file has more than 100,000 bytes"),
        ("a = " + "[" * 50_000, "the file is not valid TOML: "),
        ("columnz = {}", "unknown key 'columnz'; did you mean 'columns'?"),
        ("name = 'a b'\n" + TOML, "name: "),
        ("name = 3\n" + TOML, "name: "),
    ],
)
def test_what_is_wrong_with_a_file_is_said(tmp_path: Path, text: str | None, message: str):
    path = tmp_path / "prices.toml" if text is None else written(tmp_path, text)
    with pytest.raises(UnknownHandler) as raised:
        of_file(path)
    assert str(raised.value).startswith(f"{path}: ")
    assert message in str(raised.value)


def test_a_file_without_a_valid_name_needs_one(tmp_path: Path):
    with pytest.raises(UnknownHandler, match="name: 'my prices' is not a valid name"):
        of_file(written(tmp_path, TOML, "my prices.toml"))


def test_a_secret_that_is_not_there_is_found_before_rows_are_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    text = TOML.replace(
        "[columns]", 'headers = { Authorization = { env = "LOOKUP_KEY" } }\n[columns]'
    )
    spec = of_file(written(tmp_path, text))
    monkeypatch.delenv("LOOKUP_KEY", raising=False)
    with pytest.raises(UsageError, match="the environment variable LOOKUP_KEY is not set"):
        spec.configured({})
    monkeypatch.setenv("LOOKUP_KEY", "two\nlines")
    with pytest.raises(UsageError, match="not one line of plain text"):
        spec.configured({})
    monkeypatch.setenv("LOOKUP_KEY", "value")
    assert spec.configured({}).name == "prices"


def test_http_lookup_by_itself_is_not_run():
    spec = resolve("http.lookup")
    with pytest.raises(UsageError, match="needs its description"):
        run_handler(spec, {})
