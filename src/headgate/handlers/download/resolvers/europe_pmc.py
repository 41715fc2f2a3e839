"""Europe PMC: full texts of the life sciences."""

from typing import Final

from headgate.core.provider import ProviderPolicy
from headgate.handlers.download.identifier import Identifier, IdentifierKind
from headgate.handlers.download.plan import Plan, ResolverReply, ResolverRequest, Step
from headgate.handlers.download.resolvers.json_tree import (
    Tree,
    ending,
    is_doi,
    link,
    phrase,
    rows,
    some,
    text,
    tree_of,
    unknown,
)
from headgate.handlers.download.resolvers.options import ResolverOptions
from headgate.handlers.download.resolvers.resolver import Resolver

NAME: Final = "europe_pmc"
_OPEN: Final = ("OA", "F")
"""Availability codes: open access, and free to read; others are for subscribers."""


def build_request(identifier: Identifier, options: ResolverOptions) -> Step:
    if identifier.kind is IdentifierKind.PMCID:
        query = f"PMCID:{identifier.value}"
    else:
        query = f"DOI:{phrase(identifier.doi)}"
    params = {"query": query, "format": "json", "resultType": "core", "pageSize": "5"}
    return ResolverRequest(NAME, NAME, f"{options.base_url}/search", params=params)


def read_reply(identifier: Identifier, reply: ResolverReply) -> Step:
    """Full texts of the style `pdf` that are not for subscribers, open access first."""
    found = [
        each for each in rows(tree_of(reply), "resultList", "result") if _is_it(identifier, each)
    ]
    if not found:
        return unknown("Europe PMC")
    places = [
        (_OPEN.index(code), _plan(each, place))
        for each in found
        for place in some(each, "fullTextUrlList", "fullTextUrl")
        if (code := text(place, "availabilityCode")) in _OPEN
        and text(place, "documentStyle") == "pdf"
    ]
    return ending(plan for _, plan in sorted(places, key=lambda place: place[0]))


def _is_it(identifier: Identifier, result: Tree) -> bool:
    if identifier.kind is IdentifierKind.PMCID:
        return text(result, "pmcid").upper() == identifier.value
    return is_doi(text(result, "doi"), identifier.doi)


def _plan(result: Tree, place: Tree) -> Plan:
    url = link(place, "url")
    return Plan(NAME, url, license=text(result, "license"), note=text(place, "site"))


RESOLVER = Resolver(
    name=NAME,
    about="Full texts of the style `pdf` that are open or free.",
    kinds=frozenset({IdentifierKind.DOI, IdentifierKind.PMCID}),
    build_request=build_request,
    read_reply=read_reply,
    base_url="https://www.ebi.ac.uk/europepmc/webservices/rest",
    provider=NAME,
    # No limit is published for single look-ups; this rate is our own caution.
    policy=ProviderPolicy(hosts=("www.ebi.ac.uk",), rate="10/s"),
)
