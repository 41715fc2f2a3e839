"""The settings of a provider are validated, and hosts find their provider."""

import msgspec
import pytest

from headgate.core.provider import (
    PRESETS,
    CredentialPolicy,
    ProviderPolicy,
    credential_refusal,
    provider_of,
)
from headgate.core.rate import Limit


def read(**values: object) -> ProviderPolicy:
    return msgspec.convert(values, ProviderPolicy)


def test_a_provider_is_read_from_settings():
    policy = read(
        hosts=["api.example.org", "*.example.net"],
        rate="10/s, 100/min",
        budget={"tokens": "90000/min"},
        hard_caps={"money": "5/day"},
        credentials={"main": {"env": "KEY", "placement": "header", "name": "X-Api-Key"}},
        refusals=[403],
        retry={"retries": 0},
        cache={"enabled": False},
    )
    assert policy.limits == (Limit(10, 1), Limit(100, 60))
    assert policy.credentials["main"].name == "X-Api-Key"
    assert policy.retry.retries == 0


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"hosts": ["http://a.example"]}, "is not a host"),
        ({"hosts": ["*.*.example"]}, "is not a host"),
        ({"rate": "fast"}, "rate: 'fast' is not a limit"),
        ({"budget": {"tokens": "many"}}, "tokens: 'many' is not a limit"),
        ({"budget": {"tokens": " "}}, "a budget needs a limit"),
        ({"hard_caps": {"money": ""}}, "a budget needs a limit"),
        ({"budget": {"to kens": "1/s"}}, "matching regex"),
        ({"burst": 0}, ">= 1"),
        ({"concurrency": -1}, ">= 1"),
        ({"refusals": [200]}, ">= 400"),
        ({"retry": {"retries": 21}}, "<= 20"),
        ({"patience_s": -1}, ">= 0"),
        ({"timeout_s": 0}, "> 0"),
        ({"user_agent": "a\nb"}, "matching regex"),
        ({"speed": 1}, "unknown field `speed`"),
        ({"credentials": {"main": {"env": "KEY"}}}, "credentials need `hosts`"),
    ],
)
def test_what_cannot_be_is_refused_with_the_reason(values: dict[str, object], problem: str):
    with pytest.raises(msgspec.ValidationError, match=problem):
        read(**values)


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({}, "either `env` or `file`"),
        ({"env": "A", "file": "b"}, "either `env` or `file`"),
        (
            {"env": "A", "name": "x"},
            "`name` is needed for a credential in a header or a query, and only there",
        ),
        (
            {"env": "A", "placement": "query"},
            "`name` is needed for a credential in a header or a query, and only there",
        ),
    ],
)
def test_a_credential_says_where_it_is_kept_and_where_it_goes(
    values: dict[str, object], problem: str
):
    with pytest.raises(msgspec.ValidationError, match=problem):
        msgspec.convert(values, CredentialPolicy)


def test_a_host_belongs_to_the_provider_that_names_it_most_exactly():
    policies = {
        "wide": ProviderPolicy(hosts=("*.example.org",)),
        "narrow": ProviderPolicy(hosts=("*.api.example.org",)),
        "exact": ProviderPolicy(hosts=("v1.api.example.org", "other.example:8443")),
        "anywhere": ProviderPolicy(),
    }
    assert provider_of("v1.api.example.org", policies) == "exact"
    assert provider_of("v2.api.example.org", policies) == "narrow"
    assert provider_of("www.example.org", policies) == "wide"
    assert provider_of("other.example:8443", policies) == "exact"


@pytest.mark.parametrize(
    "host", ["example.org", "notexample.org", "example.org.evil.example", "other.example"]
)
def test_a_host_without_a_declaration_has_no_provider(host: str):
    policies = {"wide": ProviderPolicy(hosts=("*.example.org", "other.example:8443"))}
    assert provider_of(host, policies) == ""


@pytest.mark.parametrize("given", [{"hosts": ["a.example"]}, {"concurrency": 2}])
def test_what_hosts_do_not_share_cannot_be_set_for_all_of_them(given: dict[str, object]):
    with pytest.raises(ValueError, match="give your provider another name"):
        msgspec.convert({"each_host": True, **given}, ProviderPolicy)


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_what_is_shipped_could_stand_in_a_settings_file(name: str):
    preset = PRESETS[name]
    assert msgspec.convert(msgspec.to_builtins(preset), ProviderPolicy) == preset
    assert all(provider_of(host, PRESETS) == name for host in preset.hosts)


def test_the_providers_of_the_documentation_are_shipped():
    assert set(PRESETS) == {
        "arxiv",
        "crossref",
        "files",
        "nominatim",
        "openai",
        "openalex",
        "unpaywall",
        "wikidata",
    }


def test_credentials_are_for_the_operator_unless_the_provider_says_otherwise():
    assert "for_users" in credential_refusal(ProviderPolicy(), "GET", "/")
    assert credential_refusal(read(for_users=True), "GET", "/any") == ""
    assert "DELETE" in credential_refusal(read(for_users=True), "DELETE", "/any")
    assert credential_refusal(read(for_users=True, user_methods=["POST"]), "POST", "/any") == ""


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/v1", True),
        ("/v1/", True),
        ("/v1/search", True),
        ("/find/", True),
        ("/find/x", True),
        ("/v10", False),
        ("/", False),
        ("/admin", False),
        ("/find", False),
        ("/v1/%2e%2e/admin", False),
        ("/v1/..%2Fadmin", False),
        ("/v1/%252e%252e/admin", False),
        ("/v1/..%5Cadmin", False),
        ("//v1/x", False),
        ("/v1//../admin", False),
    ],
)
def test_a_path_for_users_is_one_that_cannot_be_taken_for_another(path: str, *, allowed: bool):
    policy = read(for_users=True, user_paths=["/v1", "/find/"])
    assert (credential_refusal(policy, "GET", path) == "") is allowed


@pytest.mark.parametrize("values", [{"user_paths": ["v1"]}, {"user_methods": ["get"]}])
def test_paths_and_methods_for_users_are_checked(values: dict[str, object]):
    with pytest.raises(msgspec.ValidationError, match="regex"):
        read(**values)


def test_a_user_and_a_password_are_one_credential_with_one_placement():
    user = {"username": "ada", "password": {"env": "KEY"}}
    policy = read(hosts=["a.example"], credentials={"a": {"user": user, "placement": "basic"}})
    assert policy.credentials["a"].user is not None
    for given in ({"user": user}, {"user": user, "env": "KEY", "placement": "basic"}):
        with pytest.raises(msgspec.ValidationError, match="user"):
            read(hosts=["a.example"], credentials={"a": given})


@pytest.mark.parametrize("own", ["a", "b", "c"])
def test_of_several_providers_of_a_host_it_is_the_one_of_the_handler(own):
    policies = {name: ProviderPolicy(hosts=("api.example.org",)) for name in "abc"}
    assert provider_of("api.example.org", policies, own) == own


def test_a_provider_that_names_the_host_itself_comes_before_the_handlers_own_pattern():
    policies = {
        "own": ProviderPolicy(hosts=("*.example.org",)),
        "exact": ProviderPolicy(hosts=("api.example.org",)),
    }
    assert provider_of("api.example.org", policies, "own") == "exact"
