"""Crossref: the links that the publisher registered with the DOI."""

from typing import Final

from headgate.handlers.download.identifier import Identifier, IdentifierKind
from headgate.handlers.download.plan import PDF, Plan, ResolverReply, ResolverRequest, Step, Version
from headgate.handlers.download.resolvers.json_tree import (
    Tree,
    UnreadableReply,
    at,
    ending,
    in_path,
    link,
    names_pdf,
    some,
    text,
    tree_of,
    version,
)
from headgate.handlers.download.resolvers.options import ResolverOptions
from headgate.handlers.download.resolvers.resolver import Resolver

NAME: Final = "crossref"
_VAGUE: Final = frozenset({"", "unspecified", "application/octet-stream"})


def build_request(identifier: Identifier, options: ResolverOptions) -> Step:
    """Ask for one DOI, with a contact if there is one: that selects Crossref's polite pool."""
    params = {"mailto": options.email} if options.email else {}
    return ResolverRequest(
        NAME, NAME, f"{options.base_url}/works/{in_path(identifier.doi)}", params=params
    )


def read_reply(identifier: Identifier, reply: ResolverReply) -> Step:  # noqa: ARG001
    """PDF links, the version of record first; links for plagiarism checks last."""
    message = at(tree_of(reply), "message")
    if not isinstance(message, dict):
        raise UnreadableReply("the reply has no message")
    licenses = {
        version(each, "content-version"): link(each, "URL") for each in some(message, "license")
    }
    links = sorted(filter(_is_pdf, some(message, "link")), key=_rank)
    return ending(_plan(each, licenses) for each in links)


def _is_pdf(entry: Tree) -> bool:
    kind = text(entry, "content-type").lower()
    return kind == PDF or (kind in _VAGUE and names_pdf(link(entry, "URL")))


def _rank(entry: Tree) -> tuple[bool, bool]:
    checked = text(entry, "intended-application") == "similarity-checking"
    return checked, version(entry, "content-version") is not Version.PUBLISHED


def _plan(entry: Tree, licenses: dict[Version, str]) -> Plan:
    kind = version(entry, "content-version")
    return Plan(
        NAME,
        link(entry, "URL"),
        license=licenses.get(kind, ""),
        version=kind,
        note=text(entry, "intended-application"),
    )


RESOLVER = Resolver(
    name=NAME,
    about="Links of type PDF, the version of record first.",
    kinds=frozenset({IdentifierKind.DOI}),
    build_request=build_request,
    read_reply=read_reply,
    base_url="https://api.crossref.org",
    provider=NAME,
)
