"""What a handler may say about an item."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec


class Done(msgspec.Struct, frozen=True):
    """The item is finished with this result."""

    result: Mapping[str, Any] = {}


class NotFound(msgspec.Struct, frozen=True):
    """The service answered: nothing there. Not an error."""

    reason: str = "not found"
    result: Mapping[str, Any] = {}
    """What is worth keeping of the search all the same."""


class Skipped(msgspec.Struct, frozen=True):
    """The item was left alone on purpose."""

    reason: str = "skipped"
    result: Mapping[str, Any] = {}
    """What is known of it without having worked on it."""


class Review(msgspec.Struct, frozen=True):
    """A person must choose between candidates: `{id, name, score, result}` each."""

    candidates: Sequence[Mapping[str, Any]]
    reason: str = "needs a decision"


class RetryLater(msgspec.Struct, frozen=True):
    """The service asked us to wait: try again in `after` seconds. Costs no attempt."""

    after: float = 30.0
    reason: str = "asked to wait"


class GiveUp(msgspec.Struct, frozen=True):
    """The item can never succeed: no retry."""

    reason: str = "gave up"
    result: Mapping[str, Any] = {}
    """What is worth keeping of the attempt all the same."""


Outcome = Done | NotFound | Skipped | Review | RetryLater | GiveUp
