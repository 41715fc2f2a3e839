"""Registrable domains by the public suffix list that is installed with us; never downloaded."""

from functools import cache

from publicsuffixlist import PublicSuffixList

from headgate.core.url import UrlOrigin, registrable_domain


@cache
def suffixes() -> PublicSuffixList:
    """The list, read once for each process, when the first host is met."""
    return PublicSuffixList()


def domain_of(origin: UrlOrigin) -> str:
    """The registrable domain of a place."""
    # An address needs no list, and reading one takes a while.
    return origin.host if origin.is_address else registrable_domain(origin, suffixes())
