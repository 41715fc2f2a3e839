"""The shared state of each limit, in a ledger that all processes use.

The ledger stores values that it does not interpret: `core` decides, so that there is one algorithm
and not one for each database. A process reads a gate's state, changes it by a pure function, and
writes it back if no other process was faster; else it repeats that with the newer state.
"""

from collections.abc import Sequence
from typing import Protocol

import msgspec


class LedgerEntry(msgspec.Struct, frozen=True):
    """The shared state of a gate. `version` grows with every change; 0 means that there is none."""

    key: str
    version: int
    state: str


class Proposal(msgspec.Struct, frozen=True):
    """A new state, valid only if the stored version is still the one it was made from."""

    key: str
    version: int
    state: str
    urgent: bool = False
    """Others should read it at once: the gate has closed, or an operator has changed it."""


class Exchange(msgspec.Struct, frozen=True):
    """The ledger's content after an exchange, at a time of the ledger's clock.

    Every key that was named or proposed has an entry. A gate that was forgotten continues its old
    version number when it is made again, so that no old proposal fits by chance: the next version
    always follows the one in the entry.
    """

    now_s: float
    """UTC seconds on the ledger's clock, the only clock that gates are compared by."""
    entries: Sequence[LedgerEntry]
    accepted: frozenset[str]


class LimitLedger(Protocol):
    """A shared, durable map from gate to state, with a clock and notifications."""

    async def exchange(self, proposals: Sequence[Proposal], keys: Sequence[str]) -> Exchange:
        """Accept proposals that are not outdated, all at one moment; return the state of every key.

        Each proposal is judged by itself; of two for one key, the second is outdated. Keys without
        an entry are answered with version 0 and an empty state.
        """
        ...

    async def entries(self, prefix: str = "") -> Sequence[LedgerEntry]:
        """Every gate whose key begins with `prefix`, in order of key."""
        ...

    async def forget(self, key: str) -> bool:
        """Drop the state of a gate and notify other processes; False if there was none."""
        ...

    async def wait_urgent(self, timeout_s: float) -> bool:
        """Wait for an urgent change by another process; False when the time ran out.

        Also true if a change may have been missed: on the first call, and after the server was
        away. The caller's own changes do not count. For one waiter at a time.
        """
        ...
