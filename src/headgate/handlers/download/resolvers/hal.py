"""HAL: the open archive of France."""

from typing import Final

from headgate.core.provider import ProviderPolicy
from headgate.handlers.download.identifier import Identifier, Kind
from headgate.handlers.download.plan import Ask, Plan, Reply, Step
from headgate.handlers.download.resolvers.ending import ending, unknown
from headgate.handlers.download.resolvers.options import ResolverOptions
from headgate.handlers.download.resolvers.resolver import Resolver
from headgate.handlers.download.resolvers.shape import (
    Tree,
    is_doi,
    link,
    names_pdf,
    phrase,
    rows,
    text,
    texts,
    tree_of,
)

NAME: Final = "hal"
_FIELDS: Final = "halId_s,doiId_s,fileMain_s,files_s,uri_s,licence_s"


def build_request(identifier: Identifier, options: ResolverOptions) -> Step:
    """Search for the DOI."""
    params = {
        "q": f"doiId_s:{phrase(identifier.doi)}",
        "fl": _FIELDS,
        "wt": "json",
        "rows": "5",
    }
    return Ask(NAME, NAME, f"{options.base_url}/search/", params=params)


def read_reply(identifier: Identifier, reply: Reply) -> Step:
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
    kinds=frozenset({Kind.DOI}),
    build_request=build_request,
    read_reply=read_reply,
    base_url="https://api.archives-ouvertes.fr",
    provider=NAME,
    # No limit is published; this is a caution of ours.
    policy=ProviderPolicy(hosts=("api.archives-ouvertes.fr",), rate="5/s"),
)
