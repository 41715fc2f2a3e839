"""Finds links to files in a page, without trust: any bytes count as a page."""

import contextlib
import re
from html.parser import HTMLParser
from typing import Final
from urllib.parse import urljoin

from headgate.core.url import BadUrl, normalize
from headgate.handlers.download.plan import PDF
from headgate.handlers.download.resolvers.json_tree import names_pdf

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
