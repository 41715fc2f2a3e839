"""Rows that have lost what they belong to, in words."""

from collections.abc import Sequence

from headgate.ports.reads import Finding

PROBLEMS = (
    "{} items belong to no job",
    "{} attempts belong to no item",
    "{} decisions belong to no item",
    "{} exports belong to no job",
    "{} tokens belong to no user",
    "{} results to be recalled are no item's",
)
"""In the order in which the query counts them."""


def orphans(counts: Sequence[int]) -> list[Finding]:
    """What there is to say about the orphans that were counted."""
    pairs = zip(PROBLEMS, counts, strict=True)
    return [Finding(problem.format(n), repairable=False) for problem, n in pairs if n]
