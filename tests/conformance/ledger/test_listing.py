import pytest

from headgate.ports.limits import LedgerEntry, Proposal
from tests.kit.ledgers import look

KEYS = [
    "",
    "%",
    "%a",
    "*",
    "*a",
    "?",
    "A",
    "Wikidata",
    "[a]",
    "[ab]",
    "_",
    "_a",
    "a",
    "a%b",
    "a*b",
    "a_b",
    "ab",
    "axb",
    "host:example.org",
    "host:example.org:8080",
    "provider:wikidata",
    "provider:wikidata/key-1",
    "wikidata",
    "é",
    "日本",
    "日本語",
    "\uffee",
    "🙂",
    "🙂a",
]


@pytest.fixture
async def filled(ledger):
    proposals = [Proposal(key, 0, f"state of {key}") for key in KEYS]
    assert len((await ledger.exchange(proposals, [])).accepted) == len(KEYS)
    return ledger


async def test_all_are_listed_in_order_of_code_points(filled):
    listed = await filled.entries()
    assert listed == [LedgerEntry(key, 1, f"state of {key}") for key in sorted(KEYS)]


async def test_a_prefix_is_taken_literally(filled):
    for prefix in [*KEYS, "host:", "provider:wikidata/", "nobody", "ax%", "\\"]:
        listed = [entry.key for entry in await filled.entries(prefix)]
        assert listed == sorted(key for key in KEYS if key.startswith(prefix)), prefix


async def test_more_than_a_page_is_listed_whole(ledger):
    keys = [f"host:{number:04}" for number in range(1_100)]
    await ledger.exchange([Proposal(key, 0, "x") for key in keys], [])
    assert [entry.key for entry in await ledger.entries("host:")] == keys


async def test_a_forgotten_gate_is_gone_from_answers_and_lists(filled, other):
    assert await other.forget("wikidata")
    assert not await other.forget("wikidata")
    assert await look(filled, "wikidata") == LedgerEntry("wikidata", 0, "")
    assert "wikidata" not in [entry.key for entry in await filled.entries()]
    assert "Wikidata" in [entry.key for entry in await filled.entries()]


async def test_a_forgotten_gate_can_be_learned_again(filled):
    await filled.forget("a")
    exchange = await filled.exchange([Proposal("a", 0, "fresh")], [])
    assert exchange.accepted == {"a"}
    (entry,) = exchange.entries
    assert entry.state == "fresh"
    assert (await filled.exchange([Proposal("a", entry.version, "next")], [])).accepted == {"a"}
    assert [entry.state for entry in await filled.entries("a") if entry.key == "a"] == ["next"]


async def test_a_proposal_from_before_the_forgetting_never_fits_what_was_learned_since(
    filled, other
):
    old = await look(other, "a")
    await filled.forget("a")
    late = Proposal("a", old.version, "from a forgotten state")
    assert (await other.exchange([late], [])).accepted == frozenset()
    await filled.exchange([Proposal("a", 0, "fresh")], [])
    assert (await other.exchange([late], [])).accepted == frozenset()
    assert (await look(filled, "a")).state == "fresh"
