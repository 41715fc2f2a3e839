"""An item, as handlers, engine and ingest see it."""

from collections.abc import Mapping
from typing import Any

import msgspec


class Item(msgspec.Struct, frozen=True):
    """An item as a handler gets it."""

    id: int
    key: str
    input: Mapping[str, Any]
    normalized: Mapping[str, Any] | None = None


class ClaimedItem(msgspec.Struct, frozen=True, gc=False):
    """A leased row as the engine gets it; `input` and `normalized` are JSON text."""

    id: int
    job_id: int
    key: str
    input: str
    normalized: str | None
    epoch: int
    attempts: int
    failures: int
    crashes: int
    strategy: int
    suspect: bool
    throttled_us: int
    """Microseconds that the item has been throttled without a break, at the time of the claim."""
    gate: str = ""
    """Its own gate, from its handler's `gate_of` or from the gate that refused it."""
    elsewhere: bool = False
    """Leased out of turn, as a trial of a host with a row from another place in the input."""


class NewItem(msgspec.Struct, frozen=True, gc=False):
    """A row to be stored; a `problem` makes it an ERROR item of class `bad_row` at once."""

    key: str
    input: str
    line: int = 0
    gate: str = ""
    summary: str = ""
    problem: str | None = None
    duplicate: bool = False
    """The only problem is an earlier row with the same key: the item is SKIPPED instead."""
