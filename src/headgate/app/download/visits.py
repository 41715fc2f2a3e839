"""The attempts at an item, visit by visit: a visit ends with an outcome that stands."""

from collections.abc import Sequence

from headgate.ports.reads import AttemptRow

STANDS = frozenset({"done", "not_found", "skipped", "review", "error", "cancelled", "reused"})
"""What an attempt may end with after which nothing follows, unless the item is brought back."""


def last_visit(attempts: Sequence[AttemptRow]) -> Sequence[AttemptRow]:
    """The attempts since the item was last brought back."""
    begin = 0
    for number, attempt in enumerate(attempts[:-1], 1):
        if attempt.outcome in STANDS:
            begin = number
    return attempts[begin:]


def started_us(attempt: AttemptRow) -> int:
    """When the handler was called."""
    return attempt.leased_at + attempt.waited_us
