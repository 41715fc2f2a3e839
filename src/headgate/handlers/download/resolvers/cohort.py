"""Whom to ask first: some identifiers tell by themselves who knows them best."""

from collections.abc import Iterable
from typing import Final

from headgate.handlers.download.identifier import Identifier, Kind
from headgate.handlers.download.resolvers.resolver import Resolver

_OF_KIND: Final = {Kind.ARXIV: ("arxiv",), Kind.PMCID: ("europe_pmc",)}
_BEHIND_WALLS: Final = ("unpaywall", "core", "doaj")
"""Where copies outside the publisher's own site are known."""
_WALLED: Final = (
    "10.1002/",  # Wiley
    "10.1007/",  # Springer
    "10.1016/",  # Elsevier
    "10.1021/",  # American Chemical Society
    "10.1038/",  # Nature
    "10.1080/",  # Taylor & Francis
    "10.1109/",  # IEEE
    "10.1111/",  # Wiley
    "10.1177/",  # SAGE
)
"""Publishers most of whose own links ask for a subscription."""


def likeliest_first(identifier: Identifier, resolvers: Iterable[Resolver]) -> list[Resolver]:
    """The same resolvers, those first that are likeliest to know this one."""
    first = _first(identifier)

    def rank(resolver: Resolver) -> int:
        if is_home(identifier, resolver):
            return -1
        return first.index(resolver.name) if resolver.name in first else len(first)

    return sorted(resolvers, key=rank)


def is_home(identifier: Identifier, resolver: Resolver) -> bool:
    """Whether a DOI was given out by the very service."""
    return identifier.kind is Kind.DOI and any(mark in identifier.value for mark in resolver.home)


def _first(identifier: Identifier) -> tuple[str, ...]:
    if identifier.kind is Kind.DOI:
        return _BEHIND_WALLS if identifier.value.startswith(_WALLED) else ()
    return _OF_KIND.get(identifier.kind, ())
