"""The landing page of a work, and the files that it links to.

The page is not trusted: any bytes count as a page.
"""

import contextlib
import re
from html.parser import HTMLParser
from typing import Final
from urllib.parse import urljoin

from headgate.core.url import BadUrl, normalize
from headgate.handlers.download.identifier import Identifier, IdentifierKind
from headgate.handlers.download.plan import PDF, Plan, ResolverReply, ResolverRequest, Step
from headgate.handlers.download.resolvers.json_tree import (
    UnreadableReply,
    ending,
    in_path,
    names_pdf,
)
from headgate.handlers.download.resolvers.options import ResolverOptions
from headgate.handlers.download.resolvers.resolver import Resolver

PAGE_CHARS: Final = 512 * 1024
"""Most characters of a page that are read: metadata is near the beginning."""
MOST_ANCHORS: Final = 3
_CITED: Final = frozenset({"citation_pdf_url", "bepress_citation_pdf_url", "wkhealth_pdf_url"})
_IN_PATH: Final = re.compile(r"/(?:pdf|epdf|pdfdirect)(?:/|$)", re.IGNORECASE)
Attributes = list[tuple[str, str | None]]


def files_on(page: str, url: str) -> list[tuple[str, str]]:
    """Return the kind of link (`meta`, `link` or `anchor`) and the URL, the surest first."""
    reader = _Reader(url)
    # The parser raises this for a broken declaration; the links before it count.
    with contextlib.suppress(AssertionError):
        # The parser is never closed: the unfinished end has no links, and is slow to repair.
        reader.feed(page[:PAGE_CHARS])
    anchors = reader.named + reader.vague
    return [
        *(("meta", each) for each in reader.cited),
        *(("link", each) for each in reader.linked),
        *(("anchor", each) for each in anchors[:MOST_ANCHORS]),
    ]


class _Reader(HTMLParser):
    def __init__(self, url: str) -> None:
        super().__init__(convert_charrefs=True)
        self._base = url
        self.cited: list[str] = []
        self.linked: list[str] = []
        self.named: list[str] = []
        self.vague: list[str] = []

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        if tag in {"meta", "link", "a", "base"}:
            self._handle(tag, {name: value or "" for name, value in attrs})

    def _handle(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "base":
            self._base = self._url(attributes.get("href", "")) or self._base
        elif tag == "meta":
            if (attributes.get("name") or attributes.get("property", "")).strip().lower() in _CITED:
                self._add(self.cited, attributes.get("content", ""))
        elif attributes.get("type", "").partition(";")[0].strip().lower() == PDF:
            self._add(self.linked if tag == "link" else self.named, attributes.get("href", ""))
        elif tag == "a":
            self._handle_anchor(attributes.get("href", ""))

    def _handle_anchor(self, href: str) -> None:
        if len(self.named) >= MOST_ANCHORS or "pdf" not in href.lower():
            return
        url = self._url(href)
        if url and names_pdf(url):
            self.named.append(url)
        elif url and _IN_PATH.search(url):
            self.vague.append(url)

    def _add(self, to: list[str], href: str) -> None:
        url = self._url(href)
        if url:
            to.append(url)

    def _url(self, href: str) -> str:
        try:
            return normalize(urljoin(self._base, href.strip())) if href.strip() else ""
        except (BadUrl, ValueError):
            return ""


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
