"""`headgate providers` on a store with known gates."""

import msgspec
import pytest

from headgate.core.gates.shared_limiter import SharedLimiter
from headgate.core.rate import Ceilings
from headgate.ports.limits import Proposal
from headgate.ports.store import Store

TOML = """
[providers.shop]
hosts = ["shop.example.org"]
rate = "10/s, 100/min"

[providers.pool]
hosts = ["pool.example.org"]
credentials.a.env = "A"
credentials.b.env = "B"
"""


async def nothing(store: Store) -> None:
    """Only make the store."""


def learn(headgate, key: str, *statuses: int) -> None:
    """Leave behind what a worker would that got these answers, the last ones just now."""

    async def act(store: Store) -> None:
        now = (await store.limits.exchange((), [])).now_s
        share = SharedLimiter("w1", Ceilings())
        share.accepted(share.merge(None, now - 60), now - 60)
        for place, status in enumerate(statuses):
            at = now - len(statuses) + place
            share.on_send(at, 1)
            share.on_reply(at, at, 1, status, {"retry-after": "900"}, 0.25)
        share.gate(now, 1)
        text = msgspec.json.encode(share.merge(None, now)).decode()
        await store.limits.exchange([Proposal(key, 0, text)], [])

    headgate.store(act)


def gates(headgate, *words: str) -> dict[str, dict[str, object]]:
    answer = headgate("providers", *words, "--json")
    assert answer.code == 0, answer.err
    return {gate["key"]: gate for gate in answer.json["gates"]}


def test_without_gates_it_says_what_to_do(headgate):
    headgate.store(nothing)
    result = headgate("providers", "ls")
    assert (result.code, result.out) == (0, "")
    assert "headgate providers ls --all" in result.err
    assert gates(headgate, "ls") == {}


def test_reading_creates_no_store_but_an_override_does(headgate):
    assert headgate("providers", "ls").code == 5
    assert not (headgate.folder / "headgate.db").exists()
    assert headgate("providers", "set", "wikidata", "--rate", "5/s").code == 0
    assert gates(headgate, "ls")["provider:wikidata"]["now_per_s"] == 5.0


def test_declared_providers_are_listed_and_shipped_ones_on_demand(headgate):
    headgate.store(nothing)
    (headgate.folder / "headgate.toml").write_text(TOML)
    listed = gates(headgate, "ls")
    assert list(listed) == ["provider:shop", "credential:pool/a", "credential:pool/b"]
    assert listed["provider:shop"]["configured"] == "10/s, 100/min"
    assert "provider:wikidata" in gates(headgate, "ls", "--all")


def test_what_was_learned_is_listed_with_its_cause(headgate):
    learn(headgate, "host:example.org", 200, 200, 200, 429)
    lines = headgate("providers", "ls").out.splitlines()
    assert lines[0].split() == ["GATE", "NOW", "IN", "FLIGHT", "429", "LATENCY", "WHY", "UNTIL"]
    assert lines[1].split()[:2] == ["example.org", "0"]
    assert "25.0%" in lines[1]
    assert "asked to wait" in lines[1]
    gate = gates(headgate, "ls")["host:example.org"]
    assert (gate["closed"], gate["cause"], gate["refused_share"]) == (True, "retry-after", 0.25)
    assert str(gate["closed_until"]).endswith("Z")


def test_show_prints_the_evidence(headgate):
    learn(headgate, "host:example.org", 200, 429)
    text = headgate("providers", "show", "example.org").out
    assert text.startswith("host example.org\n")
    assert "the provider asked to wait" in text
    assert "2, of which 1 refused (50.00%)" in text
    assert "Evidence, newest last" in text
    assert "refused at" in text
    (line,) = gates(headgate, "show", "example.org")["host:example.org"]["evidence"]
    assert str(line["at"]).endswith("Z")
    assert line["seen"].startswith("refused at")


def test_show_of_a_provider_without_requests(headgate):
    headgate.store(nothing)
    result = headgate("providers", "show", "wikidata")
    assert "5/s, 5 at a time" in result.out
    assert "ctx.http" in result.err


def test_an_override_is_shown_and_ends(headgate):
    learn(headgate, "provider:shop", 200, 200)
    said = headgate("providers", "set", "shop", "--rate", "100/min", "--for", "2h").err
    assert said.startswith("shop is at 1.7/s until ")
    assert "headgate providers resume shop" in said
    gate = gates(headgate, "show", "shop")["provider:shop"]
    assert gate["override"]["rate_per_s"] == pytest.approx(100 / 60)
    assert gate["override"]["until"]
    assert headgate("providers", "pause", "shop").err.startswith("shop is paused until resumed\n")
    assert gates(headgate, "ls")["provider:shop"]["cause"] == "paused"
    assert "paused until resumed" in headgate("providers", "show", "shop").out
    assert headgate("providers", "resume", "shop").err.startswith("shop continues as learned")
    gate = gates(headgate, "show", "shop")["provider:shop"]
    assert (gate["override"], gate["replies"]) == (None, 2)
    assert "nothing was changed" in headgate("providers", "resume", "shop").err


def test_the_tightest_of_several_rates_is_set(headgate):
    gate = gates(headgate, "set", "wikidata", "--rate", "10/s, 60/min")["provider:wikidata"]
    assert gate["now_per_s"] == 1.0


def test_a_pool_is_one_name_for_all_its_gates(headgate):
    (headgate.folder / "headgate.toml").write_text(TOML)
    assert list(gates(headgate, "pause", "pool")) == ["credential:pool/a", "credential:pool/b"]
    assert list(gates(headgate, "resume", "pool/a")) == ["credential:pool/a"]
    listed = gates(headgate, "ls")
    assert [listed[f"credential:pool/{each}"]["closed"] for each in "ab"] == [False, True]


def test_forgetting_asks_first(headgate):
    learn(headgate, "provider:shop", 200)
    refused = headgate("providers", "forget", "shop")
    assert refused.code == 2
    assert "--yes" in refused.err
    assert "would forget" in headgate("providers", "forget", "shop", "--dry-run").err
    assert list(gates(headgate, "ls")) == ["provider:shop"]
    answer = headgate("providers", "forget", "shop", "--yes", "--json").json
    assert answer == {"found": ["provider:shop"], "forgotten": ["provider:shop"]}
    assert gates(headgate, "ls") == {}


def test_forgetting_a_provider_without_a_record(headgate):
    headgate.store(nothing)
    result = headgate("providers", "forget", "wikidata")
    assert (result.code, result.err) == (0, "nothing was learned about wikidata yet\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("show", "wikidta"), "did you mean 'wikidata'?"),
        (("set", "wikidta", "--rate", "5/s"), "did you mean 'wikidata'?"),
        (("set", "wikidata", "--rate", "fast"), "write it as 5/s"),
        (("set", "wikidata", "--rate", ""), "write it as 5/s"),
        (("set", "wikidata", "--rate", "5/s", "--for", "2 weeks"), "as 90s, 5m, 2h, 30d or 2w"),
        (("pause", "wikidata", "--for", "0s"), "as 90s, 5m, 2h, 30d or 2w"),
    ],
)
def test_an_invalid_value_is_refused_in_one_line(headgate, words, said):
    headgate.store(nothing)
    result = headgate("providers", *words)
    assert result.code == 2
    assert said in result.err
    assert gates(headgate, "ls") == {}


def test_a_job_and_its_items_name_what_they_wait_for(headgate):
    headgate("providers", "pause", "wikidata")
    job_id = headgate.job()
    assert headgate("jobs", "show", job_id, "--json").json["limited_by"]["kind"] == "worker"
    waiting = headgate("items", "show", 1, "--json").json["waiting"]
    assert waiting["kind"] == "worker"
    assert "waiting   no worker is running" in headgate("items", "show", 1).out
    headgate("jobs", "pause", job_id)
    assert headgate("items", "show", 1, "--json").json["waiting"]["kind"] == "paused"
    assert headgate("items", "show", 1, "--json").json["waiting"]["until"] is None


def test_a_finished_job_waits_for_nothing(headgate):
    headgate.finished_job()
    assert headgate("items", "show", 1, "--json").json["waiting"] is None
    assert headgate("jobs", "show", 1, "--json").json["limited_by"] is None
