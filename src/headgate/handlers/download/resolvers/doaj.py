"""DOAJ: articles of open access journals."""

from typing import Final

from headgate.core.provider import ProviderPolicy
from headgate.handlers.download.identifier import Identifier, IdentifierKind
from headgate.handlers.download.plan import Plan, ResolverReply, ResolverRequest, Step, Version
from headgate.handlers.download.resolvers.json_tree import (
    Tree,
    ending,
    in_path,
    is_doi,
    link,
    names_pdf,
    phrase,
    rows,
    some,
    text,
    tree_of,
    unknown,
)
from headgate.handlers.download.resolvers.options import ResolverOptions
from headgate.handlers.download.resolvers.resolver import Resolver

NAME: Final = "doaj"


def build_request(identifier: Identifier, options: ResolverOptions) -> Step:
    """Search for the DOI; the query is part of the path."""
    query = in_path(f"doi:{phrase(identifier.doi)}").replace("/", "%2F")
    return ResolverRequest(
        NAME, NAME, f"{options.base_url}/search/articles/{query}", params={"pageSize": "5"}
    )


def read_reply(identifier: Identifier, reply: ResolverReply) -> Step:
    """Full-text links: most lead to a page, some to a PDF."""
    articles = [each for each in rows(tree_of(reply), "results") if _is_it(identifier, each)]
    if not articles:
        return unknown("DOAJ")
    links = [
        each
        for article in articles
        for each in some(article, "bibjson", "link")
        if text(each, "type").lower() == "fulltext"
    ]
    plans = [
        Plan(NAME, link(each, "url"), version=Version.PUBLISHED) for each in links if _is_pdf(each)
    ]
    return ending(plans, (link(each, "url") for each in links))


def _is_it(identifier: Identifier, article: Tree) -> bool:
    return any(
        text(each, "type").lower() == "doi" and is_doi(text(each, "id"), identifier.doi)
        for each in some(article, "bibjson", "identifier")
    )


def _is_pdf(entry: Tree) -> bool:
    return "pdf" in text(entry, "content_type").lower() or names_pdf(link(entry, "url"))


RESOLVER = Resolver(
    name=NAME,
    about="Full-text links; `landing_page` searches the ones that are pages.",
    kinds=frozenset({IdentifierKind.DOI}),
    build_request=build_request,
    read_reply=read_reply,
    base_url="https://doaj.org/api",
    provider=NAME,
    # https://doaj.org/api/docs: two requests a second, with bursts of five.
    policy=ProviderPolicy(hosts=("doaj.org",), rate="2/s", burst=5),
)
