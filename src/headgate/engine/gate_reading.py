"""Reads gates from the ledger for those who want to look at them."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from headgate.core.errors import StoreMismatch
from headgate.core.gates.config import GateLimits
from headgate.core.gates.state import GateState
from headgate.core.gates.view import GateView, view_of
from headgate.ports.limits import Exchange, LedgerEntry, Proposal

_decode = msgspec.json.Decoder(GateState).decode


class GateReading(msgspec.Struct, frozen=True):
    """What the gates were at one moment, on the ledger's clock."""

    now_s: float
    views: Sequence[GateView]


def state_in(entry: LedgerEntry) -> GateState:
    """The state that an entry holds."""
    try:
        return _decode(entry.state)
    except msgspec.MsgspecError as error:
        raise StoreMismatch(
            f"what another version of Headgate keeps of {entry.key} cannot be read ({error});"
            f" begin anew with: headgate providers forget {entry.key}"
        ) from error


class Ledger(Protocol):
    """The part of a ledger that is read."""

    async def exchange(self, proposals: Sequence[Proposal], keys: Sequence[str]) -> Exchange:
        """The state of every key named."""
        ...


async def read_gates(ledger: Ledger, configured: GateLimits, keys: Sequence[str]) -> GateReading:
    """The gates of these keys, also those that have no state yet."""
    answer = await ledger.exchange((), keys)
    return GateReading(
        answer.now_s, [_viewed(entry, configured, answer.now_s) for entry in answer.entries]
    )


def _viewed(entry: LedgerEntry, configured: GateLimits, now_s: float) -> GateView:
    state = state_in(entry) if entry.state else None
    return view_of(entry.key, state, configured.of(entry.key), now_s)
