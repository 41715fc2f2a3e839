"""HAL: the open archive of France."""

from typing import Final

from headgate.core.provider import ProviderPolicy
from headgate.handlers.download.identifier import Identifier, IdentifierKind
from headgate.handlers.download.plan import Plan, ResolverReply, ResolverRequest, Step
from headgate.handlers.download.resolvers.json_tree import (
    Tree,
    ending,
    is_doi,
    link,
    names_pdf,
    phrase,
    rows,
    text,
    texts,
    tree_of,
    unknown,
)
from headgate.handlers.download.resolvers.options import ResolverOptions
from headgate.handlers.download.resolvers.resolver import Resolver

NAME: Final = "hal"
_FIELDS: Final = "halId_s,doiId_s,fileMain_s,files_s,uri_s,licence_s"


def build_request(identifier: Identifier, options: ResolverOptions) -> Step:
    params = {
        "q": f"doiId_s:{phrase(identifier.doi)}",
        "fl": _FIELDS,
        "wt": "json",
        "rows": "5",
    }
    return ResolverRequest(NAME, NAME, f"{options.base_url}/search/", params=params)


def read_reply(identifier: Identifier, reply: ResolverReply) -> Step:
    """The main file of a deposit, then its other PDFs."""
    documents = [
        each
        for each in rows(tree_of(reply), "response", "docs")
        if is_doi(text(each, "doiId_s"), identifier.doi)
    ]
    if not documents:
        return unknown("HAL")
    plans = [plan for each in documents for plan in _plans(each)]
    return ending(plans, (link(each, "uri_s") for each in documents))


def _plans(document: Tree) -> list[Plan]:
    main = link(document, "fileMain_s")
    others = [url for url in map(link, texts(document, "files_s")) if names_pdf(url)]
    license_ = text(document, "licence_s")
    return [
        Plan(NAME, url, license=license_, note=text(document, "halId_s")) for url in [main, *others]
    ]


RESOLVER = Resolver(
    name=NAME,
    about="The main file of the deposit, then its other PDFs.",
    kinds=frozenset({IdentifierKind.DOI}),
    build_request=build_request,
    read_reply=read_reply,
    base_url="https://api.archives-ouvertes.fr",
    provider=NAME,
    # No limit is published; this rate is our own caution.
    policy=ProviderPolicy(hosts=("api.archives-ouvertes.fr",), rate="5/s"),
)
