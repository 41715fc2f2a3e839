"""Items as handlers, engine and ingest see them, and decisions of a user on items in REVIEW."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from headgate.core.errors import IllegalMove, UsageError
from headgate.core.status import ItemMove


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
    checkpoint: str = ""
    """The checkpoint that stays open until the item has ended; empty: none."""


DECISIONS = frozenset({ItemMove.ACCEPT, ItemMove.REJECT, ItemMove.PASS_OVER})
_SHOWN = 10
_WORDS = {
    ItemMove.ACCEPT: "accepted",
    ItemMove.REJECT: "rejected every candidate",
    ItemMove.PASS_OVER: "passed over",
}


class _Stored(msgspec.Struct, frozen=True):
    candidates: Sequence[Any] = ()


def require_decision(move: ItemMove, candidate: str | None) -> None:
    """Raise unless `move` is a user's, and names a candidate if and only if it accepts one."""
    if move not in DECISIONS:
        raise IllegalMove(f"{move} is not a decision: accept, reject or pass over")
    if (move is ItemMove.ACCEPT) != (candidate is not None):
        raise UsageError("name the candidate to accept, and name one only to accept it")


def chosen_result(stored: str, candidate: str) -> Mapping[str, Any]:
    """The result of one of the candidates in an item's stored text, or UsageError."""
    candidates = candidates_in(stored)
    found = [each for each in candidates if str(each["id"]) == candidate]
    if not found:
        known = [str(each["id"]) for each in candidates]
        raise UsageError(f"the item has no candidate {candidate!r}; {_choice(known)}")
    if len(found) > 1:
        raise UsageError(f"{len(found)} candidates have the id {candidate!r}: none can be chosen")
    result = found[0].get("result", {})
    if not isinstance(result, Mapping):
        raise UsageError(f"candidate {candidate!r} has no result that could be stored")
    return result


def candidates_in(stored: str) -> list[Mapping[str, Any]]:
    """The candidates in an item's stored text, without entries that have no id."""
    try:
        candidates = msgspec.json.decode(stored, type=_Stored).candidates
    except msgspec.DecodeError:
        return []
    return [each for each in candidates if isinstance(each, Mapping) and "id" in each]


def decision_text(move: ItemMove, candidate: str | None, by: str, reason: str = "") -> str:
    """A decision in words, for the record of decisions."""
    what = f"accepted candidate {candidate}" if candidate is not None else _WORDS[move]
    return f"{what}, decided by {by}" + (f": {reason}" if reason else "")


def _choice(known: Sequence[str]) -> str:
    if not known:
        return "the item has none: reject it or pass it over"
    more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
    return f"the item has {', '.join(known[:_SHOWN])}{more}"
