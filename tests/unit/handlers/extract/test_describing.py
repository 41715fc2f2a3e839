"""A description is checked before anything is fetched, and what is wrong is said."""

import asyncio
import re
from typing import Any

import pytest
import structlog

from headgate.core.config_schema import require_config
from headgate.core.errors import BadConfig, UsageError
from headgate.core.item import Item
from headgate.core.provider import Placement
from headgate.handlers.extract import (
    bound_source,
    parse_source,
    shipped_names,
    shipped_source,
    source_digest,
)
from headgate.handlers.extract.pages import BadPage
from headgate.handlers.registry import resolve
from headgate.ports.handler import Context, JobView
from headgate.testing_http import FakeHttp
from tests.kit.passes import source_of

OFFSET = {"type": "offset"}


def problem(tree: Any, **values: str) -> str:
    with pytest.raises(UsageError) as caught:
        bound_source(tree, values, {})
    return str(caught.value)


def stream(**resource: Any) -> dict[str, Any]:
    return source_of(resource)


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        ([], "a source is an object with `client` and `resources`"),
        ({"client": {"base_url": "https://x"}}, "the key 'resources' is missing"),
        ({**stream(), "recources": []}, "unknown key 'recources'; did you mean 'resources'?"),
        (stream(primary_keys="id"), "resources[0]: unknown key 'primary_keys'; did you mean"),
        (stream(endpoint={"pth": "/x"}), "resources[0].endpoint: unknown key 'pth'; did you mean"),
        (stream(endpoint={"paginator": {"type": "offest"}}), "'offest' is not one of single_page"),
        (
            stream(endpoint={"paginator": {**OFFSET, "limits": 5}}),
            "resources[0].endpoint.paginator: unknown key 'limits'; did you mean 'limit'?",
        ),
        (stream(endpoint={"paginator": "auto"}), "extract detect"),
        (stream(endpoint={"data_selector": "a[?"}), "is not a JMESPath expression"),
        (stream(endpoint={"data_selector": "$..a"}), "is JSONPath, and we read JMESPath"),
        (stream(deleted="delted("), "is not a JMESPath expression"),
        (stream(order={"compare": "numeric"}), "'numeric' is not one of number, text, time, equal"),
        (stream(endpoint={"path": "/{owner}"}), "{owner} has no value; give --set owner=…"),
        (stream(endpoint={"path": "/{env.NOPE}"}), "environment variable NOPE is not set"),
        (stream(endpoint={"params": {"key": {"env": "NOPE"}}}), "variable NOPE is not set"),
        (stream(endpoint={"path": "https://other.example/x"}), "add it to client.hosts"),
        (stream(endpoint={"path": "/{resources.no.id}"}), "needs 'no', which is not among"),
        (stream(endpoint={"path": "/{resources.things.id}"}), "its parents lead in a circle"),
        (source_of({}, base_url="api.example"), "client.base_url"),
        (source_of({}, rate="fast"), "'fast' is not a limit"),
        (
            source_of({}, auth={"type": "bearer", "token": "abc"}),
            'write token = { env = "NAME" }',
        ),
        (
            source_of({}, auth={"type": "bearer", "token": {"env": "NOPE"}}),
            "the environment variable NOPE is not set",
        ),
        ({**stream(), "full_every": "often"}, "is not a span of time"),
        ("lookr", "there is no shipped source 'lookr'; there are datasette"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_fetched(tree, words):
    assert words in problem(tree)


def test_two_streams_of_one_name_are_refused():
    tree = {"client": {"base_url": "https://x.example"}, "resources": ["a", "a"]}
    assert "two have the name 'a'" in problem(tree)


def test_defaults_are_merged_into_each_stream():
    tree = {
        "client": {"base_url": "https://x.example", "paginator": "single_page"},
        "resource_defaults": {
            "primary_key": "key",
            "order": {"key": "key"},
            "data_selector": "data",
            "endpoint": {"params": {"a": 1, "b": 2}},
        },
        "resources": ["one", {"name": "two", "order": False, "endpoint": {"params": {"b": 3}}}],
    }
    one, two = parse_source(tree).resources
    assert (one.endpoint.path, dict(one.endpoint.params)) == ("one", {"a": 1, "b": 2})
    assert (two.primary_key, two.order, dict(two.endpoint.params)) == (
        *("key", False),
        {"a": 1, "b": 3},
    )
    assert one.endpoint.data_selector == two.endpoint.data_selector == "data"


@pytest.mark.parametrize("path", ["$.a.b", "a.b[*]", "$.a.b[*]", "a.b"])
def test_simple_paths_of_jsonpath_are_read(path):
    source = bound_source(stream(endpoint={"data_selector": path}), {}, {})
    assert source.streams["things"].reader._selector.text == "a.b"


SECRETS = (
    "LOOKERSDK_CLIENT_ID",
    "LOOKERSDK_CLIENT_SECRET",
    "GITHUB_TOKEN",
    "STRIPE_KEY",
    "KINTO_USER",
    "KINTO_PASSWORD",
)
ENVIRONMENT = {
    **dict.fromkeys(SECRETS, "secret"),
    "LOOKERSDK_BASE_URL": "https://looker.example:19999",
}
VALUES = {"owner": "o", "repo": "r", "url": "http://127.0.0.1:8001/db"}


@pytest.mark.parametrize("name", shipped_names())
def test_every_shipped_source_is_a_good_description(name):
    source = bound_source(name, VALUES, ENVIRONMENT)
    assert source.description.name == name
    assert source.description.about


def test_the_names_of_shipped_sources():
    assert shipped_names() == [
        *("datasette", "github", "kinto", "looker", "odata", "stripe", "wordpress"),
    ]
    assert len(shipped_source("looker")["resources"]) == 12


def test_a_login_becomes_a_credential_of_the_sources_provider():
    policy = bound_source("looker", {}, ENVIRONMENT).policy
    credential = policy.credentials["source"]
    assert policy.hosts == ("looker.example:19999",)
    assert (credential.placement, credential.name, credential.prefix) == (
        *(Placement.HEADER, "Authorization"),
        "token ",
    )
    assert credential.login.url == "https://looker.example:19999/api/4.0/login"
    assert not policy.cache.enabled


@pytest.mark.parametrize(
    ("auth", "placement", "name"),
    [
        ({"type": "bearer", "token": "{env.GITHUB_TOKEN}"}, "bearer", ""),
        ({"type": "api_key", "api_key": {"env": "STRIPE_KEY"}, "name": "X"}, "header", "X"),
        (
            {"type": "api_key", "api_key": {"env": "STRIPE_KEY"}, "location": "query"}
            | {"name": "key"},
            *("query", "key"),
        ),
        (
            {"type": "http_basic", "username": "me", "password": {"env": "STRIPE_KEY"}},
            *("basic", ""),
        ),
    ],
)
def test_static_secrets_are_credentials_and_never_values(auth, placement, name):
    source = bound_source(source_of({}, auth=auth), {}, ENVIRONMENT)
    credential = source.policy.credentials["source"]
    assert (credential.placement, credential.name) == (placement, name)
    assert "secret" not in repr(source.client)


def test_oauth_grants_are_logins():
    token = {"access_token_url": "https://api.example/token", "client_id": "me"}
    secret = {"env": "STRIPE_KEY"}
    credentials = {"type": "oauth2_client_credentials", "client_secret": secret, **token}
    refresh = {"type": "oauth2_refresh_token", "refresh_token": secret, **token}
    for auth, grant in ((credentials, "client_credentials"), (refresh, "refresh_token")):
        policy = bound_source(source_of({}, auth=auth), {}, ENVIRONMENT).policy
        assert policy.credentials["source"].login.form["grant_type"] == grant


def test_the_digest_changes_with_what_decides_the_rows_and_not_with_the_pace():
    def digest(tree: Any, **values: str) -> str:
        return source_digest(parse_source(tree), values)

    usual = digest(stream())
    assert digest(source_of({}, rate="5/s", concurrency=3)) == usual
    assert digest({**stream(), "about": "other", "full_every": "7d"}) == usual
    assert digest(stream(endpoint={"params": {"state": "all"}})) != usual
    assert digest(stream(), owner="x") != usual


def test_a_job_finds_the_handler_by_its_config():
    spec = resolve("extract").configured({"source": stream(), "set": {}})
    assert spec.name == "extract"
    assert spec.provider == "extract-api.example"
    with pytest.raises(UsageError, match="extract needs its source"):
        resolve("extract").configured({})
    with pytest.raises(UsageError, match="set: it is an object of texts"):
        resolve("extract").configured({"source": stream(), "set": {"a": 1}})


def provider_of(**client: Any) -> str:
    return bound_source(source_of({}, **client), {}, ENVIRONMENT).provider


def test_sources_of_one_host_share_a_provider():
    other = {"headers": {"Accept": "text/json"}, "timeout": 3}
    assert provider_of() == provider_of(**other) == "extract-api.example"


def test_limits_that_a_user_sets_hold_for_that_source_alone():
    assert len({provider_of(), provider_of(rate="1/s"), provider_of(rate="2/s")}) == 3
    assert bound_source(source_of({}, rate="1/s"), {}, {}).policy.hosts == ()


def test_a_credential_keeps_its_provider_under_another_rate():
    auth = {"type": "bearer", "token": {"env": "STRIPE_KEY"}}
    other = {"type": "bearer", "token": {"env": "GITHUB_TOKEN"}}
    assert provider_of(auth=auth) == provider_of(auth=auth, rate="1/s") != provider_of(auth=other)
    assert bound_source(source_of({}, auth=auth), {}, ENVIRONMENT).policy.hosts == ("api.example",)


def test_a_source_may_name_a_provider_of_the_settings_and_leaves_its_limits_to_them():
    bound = bound_source(source_of({}, provider="shop"), {}, {})
    assert (bound.provider, bound.policy) == ("shop", None)
    with pytest.raises(UsageError, match="leave out rate, or the provider"):
        bound_source(source_of({}, provider="shop", rate="1/s"), {}, {})


def test_the_schema_of_the_config_refuses_what_is_not_a_source():
    schema = resolve("extract").config_schema
    require_config(schema, {"source": "kinto", "set": {"url": "http://127.0.0.1"}})
    require_config(schema, {"source": stream()})
    for config in ({}, {"source": "nothing"}, {"source": {"client": {}}}, {"source": 1}):
        with pytest.raises(BadConfig):
            require_config(schema, config)


@pytest.mark.parametrize(
    ("resource", "message"),
    [
        ({"endpoint": {"auth": {"type": "bearer"}}}, "things.endpoint.auth: a source has one auth"),
        (
            {"endpoint": {"incremental": {"cursor_path": "at", "end_param": "until"}}},
            "things.endpoint.incremental.end_param: a pass always lists to the end",
        ),
        ({"write_disposition": "merge"}, "always kept by their primary_key"),
        (
            {"endpoint": {"paginator": {"type": "offset", "stop_after_empty_page": False}}},
            "nothing ends the listing",
        ),
        ({"endpoint": {"incremental": {"start_param": "since"}}}, "cursor_path is missing"),
    ],
)
def test_a_word_of_dlt_that_would_mean_something_else_is_refused(resource, message):
    with pytest.raises(UsageError, match=re.escape(message)):
        parse_source(source_of(resource))


def test_a_parameter_that_is_called_like_one_of_our_words_decides_the_rows():
    def digest(**params: Any) -> str:
        return source_digest(parse_source(stream(endpoint={"params": params})), {})

    assert digest(rate="a") != digest(rate="b")
    assert digest(per_page=10) == digest(per_page=20)


@pytest.mark.parametrize(("owner", "allowed"), [("local", True), ("ada", False)])
def test_the_source_of_a_user_may_not_read_the_workers_environment(owner, allowed, monkeypatch):
    monkeypatch.setenv("STRIPE_KEY", "secret")
    source = stream(endpoint={"paginator": "single_page", "params": {"k": {"env": "STRIPE_KEY"}}})
    spec = resolve("extract").configured({"source": source})
    http = FakeHttp({"*": []})
    context = Context(JobView(1, "pass", owner, {}), 1, None, structlog.get_logger(), _http=http)
    call = spec.call(Item(1, "things/first", {"stream": "things", "kind": "first"}), context)
    if allowed:
        assert asyncio.run(call).result["begins"]
    else:
        with pytest.raises(BadPage, match="may not read the environment"):
            asyncio.run(call)
    assert len(http.requests) == allowed
