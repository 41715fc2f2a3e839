"""The common parts of the ledgers of all databases.

Every exchange has its own ticket, and a change carries it. So a process whose connection was cut
may ask again: if it finds its ticket, the first try was committed.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from headgate.ports.limits import Exchange, LedgerEntry, Proposal

MICROSECONDS = 1_000_000
BEFORE_EVER = 0
"""The version of a gate that was never stored, or was forgotten."""


class KeptEntry(NamedTuple):
    key: str
    version: int
    state: str
    ticket: str


def tickets(sender: str) -> Iterator[str]:
    return (f"{sender}-{number}" for number in itertools.count(1))


def in_order(proposals: Iterable[Proposal]) -> list[Proposal]:
    """By key, which is the order of locks. Only the first proposal for a key counts."""
    first = {proposal.key: proposal for proposal in reversed(list(proposals))}
    return [first[key] for key in sorted(first)]


def keys_named(proposals: Sequence[Proposal], keys: Sequence[str]) -> list[str]:
    return list(dict.fromkeys([*(proposal.key for proposal in proposals), *keys]))


def exchange_of(
    now_us: int, keys: Sequence[str], kept: Iterable[KeptEntry], ticket: str
) -> Exchange:
    """The answer of an exchange: every key named, and the keys that it changed."""
    found: Mapping[str, KeptEntry] = {each.key: each for each in kept}
    entries = [
        LedgerEntry(key, found[key].version, found[key].state)
        if key in found
        else LedgerEntry(key, BEFORE_EVER, "")
        for key in keys
    ]
    accepted = frozenset(key for key, each in found.items() if each.ticket == ticket)
    return Exchange(now_us / MICROSECONDS, entries, accepted)
