"""Unpaywall: open locations of a work, the best first."""

from typing import Final

from headgate.handlers.download.identifier import Identifier, IdentifierKind
from headgate.handlers.download.plan import Plan, ResolverReply, ResolverRequest, Step
from headgate.handlers.download.resolvers.json_tree import (
    Tree,
    ending,
    in_path,
    link,
    located,
    not_asked,
    text,
    tree_of,
    version,
)
from headgate.handlers.download.resolvers.options import ResolverOptions
from headgate.handlers.download.resolvers.resolver import Resolver

NAME: Final = "unpaywall"


def build_request(identifier: Identifier, options: ResolverOptions) -> Step:
    """Ask for one DOI; Unpaywall requires an e-mail address."""
    if not options.email:
        return not_asked("unpaywall needs an e-mail address")
    url = f"{options.base_url}/v2/{in_path(identifier.doi)}"
    return ResolverRequest(NAME, NAME, url, params={"email": options.email})


def read_reply(identifier: Identifier, reply: ResolverReply) -> Step:  # noqa: ARG001
    """Every location with a PDF; pages where only a page is known."""
    locations = located(tree_of(reply), "best_oa_location", "oa_locations")
    pages = [link(each, "url_for_landing_page") or link(each, "url") for each in locations]
    return ending(map(_plan, locations), pages)


def _plan(location: Tree) -> Plan:
    return Plan(
        NAME,
        link(location, "url_for_pdf"),
        license=text(location, "license"),
        version=version(location, "version"),
        note=text(location, "host_type"),
    )


RESOLVER = Resolver(
    name=NAME,
    about="The best open location first, then the others.",
    kinds=frozenset({IdentifierKind.DOI, IdentifierKind.ARXIV}),
    build_request=build_request,
    read_reply=read_reply,
    base_url="https://api.unpaywall.org",
    provider=NAME,
    needs_email=True,
)
