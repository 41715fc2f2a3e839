"""Zenodo: deposits with their files."""

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

NAME: Final = "zenodo"


def build_request(identifier: Identifier, options: ResolverOptions) -> Step:
    """Search for the DOI of a deposit, or of all its versions together."""
    doi = phrase(identifier.doi)
    params = {"q": f"doi:{doi} OR conceptdoi:{doi}", "size": "5", "all_versions": "true"}
    return ResolverRequest(NAME, NAME, f"{options.base_url}/api/records", params=params)


def read_reply(identifier: Identifier, reply: ResolverReply) -> Step:
    records = [each for each in rows(tree_of(reply), "hits", "hits") if _is_it(identifier, each)]
    if not records:
        return unknown("Zenodo")
    return ending(
        _plan(record, file)
        for record in records
        for file in some(record, "files")
        if text(file, "key").lower().endswith(".pdf")
    )


def _is_it(identifier: Identifier, record: Tree) -> bool:
    return any(is_doi(text(record, name), identifier.doi) for name in ("doi", "conceptdoi"))


def _plan(record: Tree, file: Tree) -> Plan:
    return Plan(
        NAME,
        link(file, "links", "self") or link(file, "links", "download"),
        license=text(record, "metadata", "license", "id"),
        checksum=text(file, "checksum"),
        note=text(file, "key"),
    )


RESOLVER = Resolver(
    name=NAME,
    about="The PDFs of the deposit, with their checksums.",
    kinds=frozenset({IdentifierKind.DOI}),
    build_request=build_request,
    read_reply=read_reply,
    base_url="https://zenodo.org",
    provider=NAME,
    # https://developers.zenodo.org/#rate-limiting: 30 searches a minute, as X-RateLimit-* says.
    policy=ProviderPolicy(hosts=("zenodo.org",), rate="30/min"),
    home=("/zenodo.",),
)
