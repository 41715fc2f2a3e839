"""Whom a job asks, in which order, with what."""

import pytest
from msgspec import ValidationError, convert

from headgate.core.errors import UsageError
from headgate.core.provider import PRESETS, CredentialPolicy, ProviderPolicy
from headgate.handlers.download.identifier import read_identifier
from headgate.handlers.download.resolvers.options import ResolverPolicy
from headgate.handlers.download.resolvers.registry import RESOLVERS
from headgate.handlers.download.resolvers.selection import ResolverSelection

EMAIL = ResolverPolicy(email="me@example.org")
KEYS = {"CORE_API_KEY": "k"}


def names(selection, text):
    return [each.name for each in selection.of(read_identifier(text))]


def policy(**words):
    return convert({"email": "me@example.org", **words}, ResolverPolicy)


def test_a_doi_is_asked_of_everybody_who_knows_dois():
    assert names(ResolverSelection(EMAIL, environment=KEYS), "10.5555/a") == [
        "unpaywall",
        "crossref",
        "europe_pmc",
        "core",
        "doaj",
        "semantic_scholar",
        "openalex",
        "hal",
        "landing_page",
    ]


def test_each_kind_begins_with_who_knows_it_best():
    selection = ResolverSelection(EMAIL, environment=KEYS)
    assert names(selection, "2101.00001")[0] == "arxiv"
    assert names(selection, "PMC5555") == ["europe_pmc", "semantic_scholar", "openalex"]
    assert names(selection, "10.5281/zenodo.5555")[0] == "zenodo"
    assert names(selection, "10.6084/m9.figshare.5555.v1")[0] == "figshare"
    # Each community and each university there gives out DOIs with a beginning of its own.
    assert names(selection, "10.31234/osf.io/abcde")[0] == "osf"
    assert names(selection, "10.31223/osf.io/abcde")[0] == "osf"
    assert names(selection, "10.5522/04/ucl.figshare.5555")[0] == "figshare"
    assert "zenodo" not in names(selection, "10.5555/a")


def test_works_behind_a_wall_are_looked_for_outside_it_first():
    assert names(ResolverSelection(EMAIL, environment=KEYS), "10.1016/j.a.1")[:4] == [
        "unpaywall",
        "core",
        "doaj",
        "crossref",
    ]


def test_a_url_is_fetched_without_asking_a_resolver():
    assert names(ResolverSelection(EMAIL), "https://example.org/a.pdf") == ["direct"]


def test_a_url_is_fetched_also_where_others_are_named():
    selection = ResolverSelection(EMAIL, ["crossref", "landing_page"])
    assert names(selection, "https://example.org/a.pdf") == ["direct", "landing_page"]


def test_only_the_named_resolvers_are_asked_in_that_order():
    selection = ResolverSelection(EMAIL, ["zenodo", "crossref", "unpaywall", "crossref"])
    assert names(selection, "10.1016/j.a.1") == ["zenodo", "crossref", "unpaywall"]
    ordered = ResolverSelection(policy(order=["crossref", "arxiv"]))
    assert names(ordered, "10.1016/j.a.1") == ["crossref"]
    assert names(ResolverSelection(policy(order=["crossref"]), ["hal"]), "10.5555/a") == ["hal"]


def test_settings_turn_resolvers_on_and_off():
    selection = ResolverSelection(
        policy(resolvers={"openaire": {"enabled": True}, "hal": {"enabled": False}})
    )
    assert "openaire" in selection.names
    assert selection.left_out["hal"] == "is off"
    assert "hal" in ResolverSelection(policy(resolvers={"hal": {"enabled": False}}), ["hal"]).names


def test_who_lacks_something_is_left_out_with_the_reason():
    selection = ResolverSelection(ResolverPolicy())
    assert selection.left_out == {
        "unpaywall": "needs an e-mail address: give --email",
        "core": "needs a key: set CORE_API_KEY",
        "openaire": "is off",
        "wayback": "is off",
    }
    assert "unpaywall" not in names(selection, "10.5555/a")


def test_who_is_named_and_lacks_something_stops_the_command():
    with pytest.raises(UsageError, match="unpaywall needs an e-mail address: give --email"):
        ResolverSelection(ResolverPolicy(), ["unpaywall"])
    mine = policy(resolvers={"core": {"key_env": "MY_KEY"}})
    with pytest.raises(UsageError, match="core needs a key: set MY_KEY"):
        ResolverSelection(mine, ["core"], KEYS)
    assert ResolverSelection(mine, ["core"], {"MY_KEY": "k"}).names == ("direct", "core")


@pytest.mark.parametrize("named", [["crosref"], ["nobody"]])
def test_an_unknown_name_is_refused_with_a_hint(named):
    with pytest.raises(UsageError, match=r"did you mean crossref\?|use one of direct, unpaywall"):
        ResolverSelection(EMAIL, named)
    with pytest.raises(UsageError):
        ResolverSelection(policy(resolvers={named[0]: {}}))


def test_the_archive_is_only_asked_about_dead_links():
    selection = ResolverSelection(EMAIL, ["direct", "wayback"])
    assert names(selection, "https://example.org/a.pdf") == ["direct"]
    assert [each.name for each in selection.rescuers()] == ["wayback"]
    assert ResolverSelection(EMAIL).rescuers() == ()


def test_a_base_url_is_where_a_service_is_asked_and_where_its_key_goes():
    mine = policy(resolvers={"core": {"base_url": "http://127.0.0.1:8080/v3/", "key_env": "MINE"}})
    selection = ResolverSelection(mine, environment={"MINE": "k"})
    assert selection.options(RESOLVERS["core"]).base_url == "http://127.0.0.1:8080/v3"
    found = selection.providers()
    assert found["core"].hosts == ("127.0.0.1:8080",)
    assert found["core"].credentials["default"].env == "MINE"
    assert found["crossref"] == PRESETS["crossref"]
    assert found["hal"].hosts == ("api.archives-ouvertes.fr",)
    assert "" not in found


def test_what_a_user_says_of_a_provider_stands_and_the_rest_is_ours():
    said = {
        **PRESETS,
        "core": ProviderPolicy(rate="50/min"),
        "crossref": ProviderPolicy(rate="1/s"),
    }
    found = ResolverSelection(EMAIL, environment=KEYS, providers=said).providers()
    assert (found["core"].rate, found["core"].hosts) == ("50/min", ("api.core.ac.uk",))
    assert found["core"].credentials["default"].env == "CORE_API_KEY"
    assert found["crossref"].rate == "1/s"


def test_a_key_may_also_be_kept_as_the_provider_says():
    kept = ProviderPolicy(
        hosts=("api.core.ac.uk",), credentials={"a": CredentialPolicy(file="~/k")}
    )
    assert "core" in ResolverSelection(EMAIL, providers={"core": kept}).names


def test_every_resolver_that_asks_a_service_has_its_manners():
    for resolver in RESOLVERS.values():
        if resolver.provider:
            known = PRESETS.get(resolver.provider)
            assert (known is None) != (resolver.policy is None), resolver.name
            manners = known or resolver.policy
            assert manners.rate, resolver.name
            host = resolver.base_url.split("/")[2]
            assert host in manners.hosts, resolver.name


@pytest.mark.parametrize(
    "words",
    [
        {"email": "nobody"},
        {"resolvers": {"core": {"base_url": "ftp://example.org"}}},
        {"resolvers": {"core": {"key": "secret"}}},
    ],
)
def test_settings_that_cannot_be_are_refused(words):
    with pytest.raises(ValidationError):
        policy(**words)
