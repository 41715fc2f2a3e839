"""An item, as the parts that work on it see it."""

from collections.abc import Mapping
from typing import Any

import msgspec


class Item(msgspec.Struct, frozen=True):
    """What a handler gets."""

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
    """How long the item has been throttled without a break, at the time of the claim."""
    gate: str = ""
    """The gate of its own, from its handler's `gate_of` or from where it was sent back."""
    elsewhere: bool = False
    """It was not leased in its turn, but to try out a host with a row from another place."""


class NewItem(msgspec.Struct, frozen=True, gc=False):
    """A row on its way in; a `problem` makes it an ERROR item of class `bad_row` at once."""

    key: str
    input: str
    line: int = 0
    gate: str = ""
    summary: str = ""
    problem: str | None = None
    duplicate: bool = False
    """The problem is only that an earlier row asks for the same: the item is SKIPPED instead."""
