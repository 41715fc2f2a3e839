"""Errors and findings that both databases word in the same way: caps, idempotency keys, orphans."""

from collections.abc import Sequence

from headgate.core.errors import CapReached, KeyReused
from headgate.core.job import OwnerCaps
from headgate.core.words import counted
from headgate.ports.access import Usage
from headgate.ports.reads import CheckFinding


def require_room(owner: str, caps: OwnerCaps, usage: Usage) -> None:
    """Raise CapReached if the owner may not have another job now."""
    if caps.unfinished_jobs is not None and usage.unfinished_jobs >= caps.unfinished_jobs:
        raise CapReached(
            f"{owner} has {usage.unfinished_jobs:,} unfinished jobs, the most that is allowed. Wait"
            " until one is finished, or cancel one"
        )
    if caps.open_items is not None and usage.open_items >= caps.open_items:
        raise CapReached(
            f"{owner} has {usage.open_items:,} open items, and {caps.open_items:,} are allowed."
            " Wait until some are finished, or cancel a job"
        )


def require_room_for_items(owner: str, cap: int | None, usage: Usage) -> None:
    """Raise CapReached if the owner has more open items than `cap`, now that some were added."""
    if cap is not None and usage.open_items > cap:
        raise CapReached(
            f"{owner} would have {usage.open_items:,} open items, and {cap:,} are allowed."
            " Wait until some are finished, or cancel a job"
        )


def require_room_for_export(user: str, cap: int | None, unfinished: int) -> None:
    """Raise CapReached if the user may not request another export now."""
    if cap is not None and unfinished >= cap:
        raise CapReached(
            f"{user} has {unfinished:,} unfinished exports, and {cap:,} are allowed"
            " (server.unfinished_exports_per_user). Wait until one is finished"
        )


def require_same_request(key: str, digest: str, used_for: str) -> None:
    if digest != used_for:
        raise KeyReused(f"the key {key!r} was already used for another request. Use a new key")


def job_is_gone(key: str) -> KeyReused:
    return KeyReused(f"the job that was made with the key {key!r} was deleted. Use a new key")


PROBLEMS = (
    ("item", "without a job"),
    ("attempt", "without an item"),
    ("decision", "without an item"),
    ("export", "without a job"),
    ("token", "without a user"),
    ("kept result", "without an item"),
    ("row", "of a mirror without a stream"),
    ("row", "of a mirror without a body"),
    ("body text", "of a mirror without a row"),
    ("change", "of a row that is gone"),
    ("checkpoint", "without a stream"),
)
"""In the order in which the query counts them."""


def orphans(counts: Sequence[int]) -> list[CheckFinding]:
    pairs = zip(PROBLEMS, counts, strict=True)
    return [
        CheckFinding(f"{counted(n, noun)} {lack}", repairable=False)
        for (noun, lack), n in pairs
        if n
    ]
