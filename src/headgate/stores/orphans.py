"""Rows that have lost what they belong to, in words."""

from collections.abc import Sequence

from headgate.core.words import counted
from headgate.ports.reads import Finding

PROBLEMS = (
    ("item", "without a job"),
    ("attempt", "without an item"),
    ("decision", "without an item"),
    ("export", "without a job"),
    ("token", "without a user"),
    ("kept result", "without an item"),
)
"""In the order in which the query counts them."""


def orphans(counts: Sequence[int]) -> list[Finding]:
    """What there is to say about the orphans that were counted."""
    pairs = zip(PROBLEMS, counts, strict=True)
    return [
        Finding(f"{counted(n, noun)} {lack}", repairable=False) for (noun, lack), n in pairs if n
    ]
