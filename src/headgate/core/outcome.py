"""The outcomes that a handler may return for an item."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from headgate.core.mirror import Closing, FollowUp, MirrorRow


class Done(msgspec.Struct, frozen=True):
    """The item is finished with this result. What else it brings is committed with it."""

    result: Mapping[str, Any] = {}
    rows: Sequence[MirrorRow] = ()
    """Rows to keep in the job's mirror."""
    items: Sequence[FollowUp] = ()
    """Further items of the same job."""
    closing: Closing | None = None
    total: int | None = None
    """The number of rows that the source says the stream has."""


class NotFound(msgspec.Struct, frozen=True):
    """The service answered that it has no match. Not an error."""

    reason: str = "not found"
    result: Mapping[str, Any] = {}
    """The part of the search that is worth storing."""
    rows: Sequence[MirrorRow] = ()
    items: Sequence[FollowUp] = ()


class Skipped(msgspec.Struct, frozen=True):
    """The item was not processed, on purpose."""

    reason: str = "skipped"
    result: Mapping[str, Any] = {}


class Review(msgspec.Struct, frozen=True):
    """A user must choose between candidates: `{id, name, score, result}` each."""

    candidates: Sequence[Mapping[str, Any]]
    reason: str = "needs a decision"
    rows: Sequence[MirrorRow] = ()
    items: Sequence[FollowUp] = ()


class RetryLater(msgspec.Struct, frozen=True):
    """The service asked us to wait: try again in `after` seconds. Costs no attempt."""

    after: float = 30.0
    reason: str = "asked to wait"


class GiveUp(msgspec.Struct, frozen=True):
    """The item can never succeed: no retry."""

    reason: str = "gave up"
    result: Mapping[str, Any] = {}
    """The part of the attempt that is worth storing."""


Outcome = Done | NotFound | Skipped | Review | RetryLater | GiveUp
