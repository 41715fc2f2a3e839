"""What all processes know of each limit, kept where all of them can see it.

The ledger keeps values it does not understand: deciding is the business of `core`, so that there
is one algorithm and not one for each database. A process reads a gate's state, changes it by a
pure function, and puts it back if nobody was faster; else it does the same with the newer state.
"""

from collections.abc import Sequence
from typing import Protocol

import msgspec


class LedgerEntry(msgspec.Struct, frozen=True):
    """One gate's shared state. `version` grows with every change; 0 means that there is none."""

    key: str
    version: int
    state: str


class Proposal(msgspec.Struct, frozen=True):
    """A new state, valid only if the stored version still is the one it was made from."""

    key: str
    version: int
    state: str
    urgent: bool = False
    """Others should look at once: the gate has closed, or an operator has spoken."""


class Exchange(msgspec.Struct, frozen=True):
    """What the ledger holds after an exchange, on its own clock.

    Every key that was named or proposed for has an entry. A gate that was forgotten goes on
    counting where it stood when it is made anew, so that no old proposal fits it by chance: the
    version to go on from is always the one in its entry.
    """

    now_s: float
    """UTC seconds on the ledger's clock, which is the only one that gates are compared by."""
    entries: Sequence[LedgerEntry]
    accepted: frozenset[str]
    """The keys of the proposals that were kept."""


class LimitLedger(Protocol):
    """A shared, durable map from gate to state, with a clock and a bell."""

    async def exchange(self, proposals: Sequence[Proposal], keys: Sequence[str]) -> Exchange:
        """Accept what is not outdated, all at one moment; then tell the state of every key named.

        Each proposal is judged by itself; of two for one key, the second is outdated. Keys without
        an entry are answered with version 0 and an empty state.
        """
        ...

    async def entries(self, prefix: str = "") -> Sequence[LedgerEntry]:
        """Every gate whose key begins so, in order of key."""
        ...

    async def forget(self, key: str) -> bool:
        """Drop what is known of a gate; whether there was anything. Others hear of it at once."""
        ...

    async def wait_urgent(self, timeout_s: float) -> bool:
        """Return early when another process made an urgent change; whether one did.

        Also true where one may have been missed: on the first call, and after the server was away.
        One's own changes do not count. For one waiter at a time.
        """
        ...
