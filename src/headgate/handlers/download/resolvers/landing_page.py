"""The landing page of a work, and the file that it links to."""

from typing import Final

from headgate.handlers.download.identifier import Identifier, IdentifierKind
from headgate.handlers.download.plan import PDF, Plan, ResolverReply, ResolverRequest, Step
from headgate.handlers.download.resolvers.html import files_on
from headgate.handlers.download.resolvers.json_tree import UnreadableReply, ending, in_path
from headgate.handlers.download.resolvers.options import ResolverOptions
from headgate.handlers.download.resolvers.resolver import Resolver

NAME: Final = "landing_page"
_PAGES: Final = frozenset({"", "text/html", "application/xhtml+xml"})


def build_request(identifier: Identifier, options: ResolverOptions) -> Step:
    """Fetch the page, to which a DOI redirects. This counts as a transfer from its host."""
    if identifier.kind is IdentifierKind.URL:
        url = identifier.value
    else:
        url = f"{options.base_url}/{in_path(identifier.doi)}"
    accept = {"accept": "text/html, application/xhtml+xml;q=0.9, application/pdf;q=0.5"}
    return ResolverRequest(NAME, "", url, headers=accept, light=False)


def read_reply(identifier: Identifier, reply: ResolverReply) -> Step:  # noqa: ARG001
    """Files in the page's metadata first, then its visible links."""
    if reply.content_type == PDF:
        return ending([Plan(NAME, reply.final_url, note="the page is the file")])
    if reply.content_type not in _PAGES:
        raise UnreadableReply(f"the page is {reply.content_type}")
    page = reply.final_url
    found = files_on(reply.text, page)
    return ending(Plan(NAME, url, referer=page, note=where) for where, url in found)


RESOLVER = Resolver(
    name=NAME,
    about="The PDF that the page of the work names: for programs first, then for readers.",
    kinds=frozenset({IdentifierKind.DOI, IdentifierKind.URL}),
    build_request=build_request,
    read_reply=read_reply,
    base_url="https://doi.org",
)
