"""OpenAlex: the open locations of a work."""

from typing import Final

from headgate.handlers.download.identifier import Identifier, IdentifierKind
from headgate.handlers.download.plan import Plan, ResolverReply, ResolverRequest, Step
from headgate.handlers.download.resolvers.json_tree import (
    Tree,
    at,
    ending,
    in_path,
    link,
    located,
    text,
    tree_of,
    version,
)
from headgate.handlers.download.resolvers.options import ResolverOptions
from headgate.handlers.download.resolvers.resolver import Resolver

NAME: Final = "openalex"
_FIELDS: Final = "id,doi,best_oa_location,locations"


def build_request(identifier: Identifier, options: ResolverOptions) -> Step:
    if identifier.kind is IdentifierKind.PMCID:
        name = f"pmcid:{identifier.value}"
    else:
        name = f"doi:{in_path(identifier.doi)}"
    params = {"select": _FIELDS}
    if options.email:
        params["mailto"] = options.email
    return ResolverRequest(NAME, NAME, f"{options.base_url}/works/{name}", params=params)


def read_reply(identifier: Identifier, reply: ResolverReply) -> Step:  # noqa: ARG001
    """Open locations with a PDF, the best first."""
    locations = located(tree_of(reply), "best_oa_location", "locations")
    free = [each for each in locations if at(each, "is_oa") is True]
    return ending(map(_plan, free), (link(each, "landing_page_url") for each in free))


def _plan(location: Tree) -> Plan:
    return Plan(
        NAME,
        link(location, "pdf_url"),
        license=text(location, "license"),
        version=version(location, "version"),
        note=text(location, "source", "display_name"),
    )


RESOLVER = Resolver(
    name=NAME,
    about="Open locations with a PDF, the best first.",
    kinds=frozenset({IdentifierKind.DOI, IdentifierKind.ARXIV, IdentifierKind.PMCID}),
    build_request=build_request,
    read_reply=read_reply,
    base_url="https://api.openalex.org",
    provider=NAME,
    key_env="OPENALEX_API_KEY",
)
