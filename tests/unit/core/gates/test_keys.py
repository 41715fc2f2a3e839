"""What people mean by the name of a gate."""

import pytest

from headgate.core.errors import UsageError
from headgate.core.gates.keys import find_gates, gate_kind, gate_name, provider_in
from headgate.core.provider import CredentialPolicy, ProviderPolicy

POOL = ProviderPolicy(
    hosts=("pool.example.org",),
    credentials={"a": CredentialPolicy(env="A"), "b": CredentialPolicy(env="B")},
)
PROVIDERS = {"wikidata": ProviderPolicy(hosts=("www.wikidata.org",)), "pool": POOL}
KNOWN = ("credential:pool/old", "domain:example.net", "host:example.com", "provider:shop")


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("wikidata", ["provider:wikidata"]),
        (" wikidata ", ["provider:wikidata"]),
        ("www.wikidata.org", ["provider:wikidata"]),
        ("provider:wikidata", ["provider:wikidata"]),
        ("shop", ["provider:shop"]),
        ("pool", ["credential:pool/old", "credential:pool/a", "credential:pool/b"]),
        ("pool/a", ["credential:pool/a"]),
        ("pool/old", ["credential:pool/old"]),
        ("credential:pool/b", ["credential:pool/b"]),
        ("pool.example.org", ["credential:pool/a", "credential:pool/b"]),
        ("Example.COM", ["host:example.com"]),
        ("example.com:443", ["host:example.com"]),
        ("example.net", ["domain:example.net"]),
        ("never.asked.org", ["host:never.asked.org"]),
        ("localhost:8080", ["host:localhost:8080"]),
        ("host:never.asked.org", ["host:never.asked.org"]),
        ("host:www.wikidata.org", ["host:www.wikidata.org"]),
        ("domain:asked.org", ["domain:asked.org"]),
        ("global", ["global:all"]),
        ("global:all", ["global:all"]),
    ],
)
def test_a_name_means_its_gates(name, keys):
    assert find_gates(name, KNOWN, PROVIDERS) == keys


@pytest.mark.parametrize("name", ["wikidta", "", "pool/c", "provider:", "a/b.c", "host:", "x y.z"])
def test_a_name_that_means_nothing_is_refused(name):
    with pytest.raises(UsageError):
        find_gates(name, KNOWN, PROVIDERS)


def test_an_unknown_gate_lists_the_known_ones_and_says_what_to_do():
    with pytest.raises(UsageError) as refused:
        find_gates("wikidta", KNOWN, PROVIDERS)
    said = str(refused.value)
    assert "did you mean 'wikidata'?" in said
    assert "pool/old, example.net, example.com, shop, wikidata, pool." in said
    assert "[providers.wikidta]" in said


def test_a_long_list_is_cut():
    many = [f"host:h{number}.example.org" for number in range(40)]
    with pytest.raises(UsageError, match="and 30 more"):
        find_gates("nothing", many, PROVIDERS)


def test_the_parts_of_a_key():
    assert (gate_kind("host:a.org:81"), gate_name("host:a.org:81")) == ("host", "a.org:81")
    assert (gate_kind("global:all"), gate_name("global:all")) == ("global", "global")
    assert (gate_kind("through:unpaywall"), gate_name("through:unpaywall")) == (
        "through",
        "unpaywall",
    )
    assert provider_in("credential:pool/a") == provider_in("provider:pool") == "pool"
    assert provider_in("host:pool") == ""
