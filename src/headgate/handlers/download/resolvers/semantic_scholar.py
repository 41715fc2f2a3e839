"""Semantic Scholar: the open PDF of a paper, if one is known."""

from typing import Final

from headgate.core.provider import CredentialPolicy, Placement, ProviderPolicy
from headgate.handlers.download.identifier import Identifier, IdentifierKind
from headgate.handlers.download.plan import Plan, ResolverReply, ResolverRequest, Step
from headgate.handlers.download.resolvers.json_tree import (
    UnreadableReply,
    ending,
    in_path,
    link,
    text,
    tree_of,
)
from headgate.handlers.download.resolvers.options import ResolverOptions
from headgate.handlers.download.resolvers.resolver import Resolver

NAME: Final = "semantic_scholar"
KEY: Final = "SEMANTIC_SCHOLAR_API_KEY"
_RESOLVING: Final = ("https://doi.org/", "http://doi.org/", "https://dx.doi.org/")


def build_request(identifier: Identifier, options: ResolverOptions) -> Step:
    url = f"{options.base_url}/graph/v1/paper/{_name(identifier)}"
    return ResolverRequest(
        NAME, NAME, url, params={"fields": "externalIds,isOpenAccess,openAccessPdf"}
    )


def read_reply(identifier: Identifier, reply: ResolverReply) -> Step:  # noqa: ARG001
    """The one link; a DOI link leads to a page."""
    tree = tree_of(reply)
    if "paperId" not in tree and "openAccessPdf" not in tree:
        raise UnreadableReply("the reply is not a paper")
    url = link(tree, "openAccessPdf", "url")
    if url.startswith(_RESOLVING):
        return ending((), [url])
    return ending([Plan(NAME, url, license=text(tree, "openAccessPdf", "license"))])


def _name(identifier: Identifier) -> str:
    if identifier.kind is IdentifierKind.ARXIV:
        return f"ARXIV:{identifier.unversioned}"
    if identifier.kind is IdentifierKind.PMCID:
        return f"PMCID:{identifier.value.removeprefix('PMC')}"
    return f"DOI:{in_path(identifier.value)}"


RESOLVER = Resolver(
    name=NAME,
    about="The open PDF of the paper, if it knows one.",
    kinds=frozenset({IdentifierKind.DOI, IdentifierKind.ARXIV, IdentifierKind.PMCID}),
    build_request=build_request,
    read_reply=read_reply,
    base_url="https://api.semanticscholar.org",
    provider=NAME,
    # https://www.semanticscholar.org/product/api: one per second with a key; without a key, a share
    # of the common rate of all users without one.
    policy=ProviderPolicy(
        hosts=("api.semanticscholar.org",),
        rate="1/s",
        credentials={
            "default": CredentialPolicy(
                env=KEY, placement=Placement.HEADER, name="x-api-key", optional=True
            )
        },
    ),
    key_env=KEY,
)
