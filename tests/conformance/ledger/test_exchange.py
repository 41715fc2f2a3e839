import asyncio
import time

import pytest

from headgate.ports.limits import LedgerEntry, Proposal
from tests.kit.ledgers import look

AWKWARD = [
    "",
    " ",
    "%",
    "_",
    "*",
    "?",
    "[a]",
    "back\\slash",
    "it's",
    '"quoted"',
    "{braces,and:colons}",
    "new\nline\ttab\r",
    "żółć",
    "日本語",
    "🙂",
    "a\u0301",
    "\ufffd",
    "NULL",
]


async def propose(ledger, *proposals, keys=()):
    """The keys accepted, and the entries by key."""
    exchange = await ledger.exchange(list(proposals), list(keys))
    return exchange.accepted, {entry.key: entry for entry in exchange.entries}


async def test_an_unknown_gate_has_version_zero_and_no_state(ledger):
    exchange = await ledger.exchange([], ["new"])
    assert exchange.entries == [LedgerEntry("new", 0, "")]
    assert exchange.accepted == frozenset()


async def test_versions_begin_at_one_and_grow_by_one(ledger, other):
    for version in range(5):
        proposing = (ledger, other)[version % 2]
        accepted, entries = await propose(proposing, Proposal("a", version, f"state {version}"))
        assert accepted == {"a"}
        assert entries == {"a": LedgerEntry("a", version + 1, f"state {version}")}
    assert await look(other, "a") == LedgerEntry("a", 5, "state 4")


@pytest.mark.parametrize("version", [0, 1, 3, 4, 10**12])
async def test_a_proposal_made_from_another_version_is_refused_and_leaves_no_trace(
    ledger, other, version
):
    await propose(ledger, Proposal("a", 0, "one"))
    await propose(ledger, Proposal("a", 1, "two"))
    accepted, entries = await propose(other, Proposal("a", version, "three", urgent=True))
    assert accepted == frozenset()
    assert entries == {"a": LedgerEntry("a", 2, "two")}
    assert await ledger.entries() == [LedgerEntry("a", 2, "two")]


async def test_a_change_of_an_unknown_gate_is_refused_and_stores_nothing(ledger):
    accepted, entries = await propose(ledger, Proposal("a", 7, "one"))
    assert accepted == frozenset()
    assert entries == {"a": LedgerEntry("a", 0, "")}
    assert await ledger.entries() == []
    assert not await ledger.forget("a")


async def test_each_proposal_is_judged_by_itself(ledger):
    await propose(ledger, *(Proposal(key, 0, "one") for key in "abc"))
    accepted, entries = await propose(
        ledger,
        Proposal("d", 0, "new"),
        Proposal("c", 1, "two"),
        Proposal("b", 0, "late"),
        Proposal("a", 1, "two"),
        Proposal("e", 1, "early"),
    )
    assert accepted == {"a", "c", "d"}
    assert entries == {
        "a": LedgerEntry("a", 2, "two"),
        "b": LedgerEntry("b", 1, "one"),
        "c": LedgerEntry("c", 2, "two"),
        "d": LedgerEntry("d", 1, "new"),
        "e": LedgerEntry("e", 0, ""),
    }


async def test_of_two_proposals_for_one_key_the_second_is_outdated(ledger):
    accepted, entries = await propose(ledger, Proposal("a", 0, "first"), Proposal("a", 0, "second"))
    assert (accepted, entries) == ({"a"}, {"a": LedgerEntry("a", 1, "first")})
    accepted, entries = await propose(ledger, Proposal("a", 1, "third"), Proposal("a", 2, "fourth"))
    assert (accepted, entries) == ({"a"}, {"a": LedgerEntry("a", 2, "third")})


async def test_every_key_is_answered_once_whether_named_or_proposed_for(ledger):
    exchange = await ledger.exchange([Proposal("b", 0, "x")], ["a", "b", "a", "c"])
    assert sorted(entry.key for entry in exchange.entries) == ["a", "b", "c"]


async def test_a_state_may_be_empty_and_is_still_known(ledger):
    await propose(ledger, Proposal("a", 0, ""))
    assert await look(ledger, "a") == LedgerEntry("a", 1, "")
    assert await ledger.entries() == [LedgerEntry("a", 1, "")]


async def test_every_text_is_kept_as_it_was(ledger, other):
    accepted, _ = await propose(ledger, *(Proposal(text, 0, text) for text in AWKWARD))
    assert accepted == set(AWKWARD)
    exchange = await other.exchange([], AWKWARD)
    assert exchange.entries == [LedgerEntry(text, 1, text) for text in AWKWARD]


async def test_a_large_state_is_kept_whole(ledger, other):
    large = "0123456789é" * 10_000
    await propose(ledger, Proposal("a", 0, large))
    assert await look(other, "a") == LedgerEntry("a", 1, large)


async def test_hundreds_of_gates_may_be_changed_at_one_moment(ledger, other):
    keys = [f"host-{number}" for number in range(400)]
    accepted, _ = await propose(ledger, *(Proposal(key, 0, key) for key in keys))
    assert accepted == set(keys)
    accepted, _ = await propose(other, *(Proposal(key, 1, "two") for key in reversed(keys)))
    assert accepted == set(keys)


async def test_what_was_changed_together_is_seen_together(ledger, other):
    over = asyncio.Event()

    async def change():
        for version in range(100):
            pair = [Proposal(key, version, str(version)) for key in ("a", "b")]
            assert (await ledger.exchange(pair, [])).accepted == {"a", "b"}
        over.set()

    async def watch():
        while not over.is_set():
            first, second = (await other.exchange([], ["a", "b"])).entries
            assert first.state == second.state

    await asyncio.gather(change(), watch())


async def test_crossing_proposals_for_many_gates_do_not_block_each_other(ledger, other):
    keys = [f"gate-{number}" for number in range(20)]

    async def change(who, order):
        won = 0
        for _ in range(30):
            known = (await who.exchange([], order)).entries
            proposals = [Proposal(each.key, each.version, "x") for each in known]
            won += len((await who.exchange(proposals, [])).accepted)
        return won

    won = await asyncio.gather(change(ledger, keys), change(other, keys[::-1]))
    assert sum(won) == sum(entry.version for entry in await ledger.entries())


async def test_the_time_is_utc_and_moves_forward_for_every_process(ledger, other):
    before = time.time_ns() / 1e9
    times = []
    for version in range(20):
        who = (ledger, other)[version % 2]
        times.append((await who.exchange([], [])).now_s)
        times.append((await who.exchange([Proposal("a", version, "x")], [])).now_s)
        times.append((await who.exchange([Proposal("a", version, "late")], [])).now_s)
    assert times == sorted(times)
    assert times[0] < times[-1]
    assert abs(times[0] - before) < 60


async def test_an_exchange_that_was_given_up_mixes_up_no_answers(ledger):
    await ledger.exchange([Proposal(str(number), 0, str(number)) for number in range(40)], [])
    for number in range(40):
        exchanging = asyncio.create_task(ledger.exchange([], [str(number)]))
        for _ in range(number % 10):
            await asyncio.sleep(0)  # noqa: TID251  lets it begin
        exchanging.cancel()
        await asyncio.wait([exchanging])
    for number in range(40):
        assert await look(ledger, str(number)) == LedgerEntry(str(number), 1, str(number))
