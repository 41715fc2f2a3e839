"""OpenAIRE: the copies of a work in European repositories and journals."""

from typing import Final

from headgate.core.provider import CredentialPolicy, ProviderPolicy
from headgate.handlers.download.identifier import Identifier, IdentifierKind
from headgate.handlers.download.plan import Plan, ResolverReply, ResolverRequest, Step
from headgate.handlers.download.resolvers.json_tree import (
    Tree,
    at,
    ending,
    links_within,
    names_doi,
    names_pdf,
    rows,
    some,
    text,
    tree_of,
    unknown,
)
from headgate.handlers.download.resolvers.options import ResolverOptions
from headgate.handlers.download.resolvers.resolver import Resolver

NAME: Final = "openaire"
KEY: Final = "OPENAIRE_ACCESS_TOKEN"
_CLOSED: Final = frozenset({"CLOSED", "RESTRICTED", "EMBARGO"})


def build_request(identifier: Identifier, options: ResolverOptions) -> Step:
    url = f"{options.base_url}/graph/v2/researchProducts"
    return ResolverRequest(NAME, NAME, url, params={"pid": identifier.doi, "pageSize": "5"})


def read_reply(identifier: Identifier, reply: ResolverReply) -> Step:
    """Every PDF that an open copy names, anywhere in its record."""
    products = [each for each in rows(tree_of(reply), "results") if _is_it(identifier, each)]
    if not products:
        return unknown("OpenAIRE")
    copies = [copy for each in products for copy in _copies(each) if _is_open(copy)]
    found = [(copy, url) for copy in copies for url in links_within(_places(copy))]
    plans = [
        Plan(NAME, url, license=text(copy, "license")) for copy, url in found if names_pdf(url)
    ]
    return ending(plans, (url for _, url in found))


def _is_it(identifier: Identifier, product: Tree) -> bool:
    return names_doi([at(product, "pids"), at(product, "instances")], identifier.doi)


def _copies(product: Tree) -> list[Tree]:
    return some(product, "instances") or some(product, "instance")


def _is_open(copy: Tree) -> bool:
    return text(copy, "accessRight", "label").upper() not in _CLOSED


def _places(copy: Tree) -> Tree:
    """Drop the licence, which links to an unrelated page."""
    return {name: value for name, value in copy.items() if name not in {"license", "accessRight"}}


RESOLVER = Resolver(
    name=NAME,
    about="Every PDF that an open copy of the work names.",
    kinds=frozenset({IdentifierKind.DOI, IdentifierKind.ARXIV}),
    build_request=build_request,
    read_reply=read_reply,
    base_url="https://api.openaire.eu",
    provider=NAME,
    # https://graph.openaire.eu/docs/apis/authenticated-requests: 60 an hour for everybody, 7,200
    # with a token. The first would delay every other resolver, so it is off by default.
    policy=ProviderPolicy(
        hosts=("api.openaire.eu",),
        rate="60/hour",
        credentials={"default": CredentialPolicy(env=KEY, optional=True)},
    ),
    key_env=KEY,
    on=False,
)
