"""Pages that name the next one: a cursor or a URL, in the body or in a header."""

import re
from hashlib import blake2b
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

from headgate.core.mirror import Proof
from headgate.core.url import BadUrl, parse_origin, short_url, split_origin
from headgate.handlers.extract.pages import At, BadPage
from headgate.handlers.extract.paginators import (
    CursorPaginator,
    HeaderCursorPaginator,
    HeaderLinkPaginator,
    JsonLinkPaginator,
)
from headgate.handlers.extract.paging.shape import MOST_ITEMS, ListedPage, PageRequest, PageStep
from headgate.handlers.words.paths import path_expression

MOST_EMPTY = 1_000
"""Most empty pages in a row that name a next one."""
LONGEST_CURSOR = 8_000
_LINK = re.compile(r"<([^>]*)>((?:\s*;\s*[^,;=]+(?:=(?:\"[^\"]*\"|[^\s,;\"]+))?)*)")
_RELATION = re.compile(r";\s*rel\s*=\s*(?:\"([^\"]*)\"|([^\s;,\"]+))", re.IGNORECASE)

ChainWords = CursorPaginator | JsonLinkPaginator | HeaderLinkPaginator | HeaderCursorPaginator


class ChainOptions(NamedTuple):
    hosts: frozenset[str]
    """The hosts that a link may lead to."""
    schemes: frozenset[str] = frozenset({"https"})
    size: int | None = None
    """Rows of a full page, if the request says it."""
    is_parallel: bool = True


class ChainPaging:
    """`at` has `url` or `cursor` (neither: the first page), and `number`, the page's number.

    `mark`, `power` and `steps` find a loop of any length (Brent): the mark is a page seen before.
    """

    is_chain = True
    proof = Proof.CHAINED

    def __init__(self, words: ChainWords, options: ChainOptions) -> None:
        self._words = words
        self._options = options
        path = {CursorPaginator: "cursor_path", JsonLinkPaginator: "next_url_path"}.get(type(words))
        self._path = (
            path_expression(getattr(words, path), f"paginator.{path}") if path is not None else None
        )
        # A value of the last row stays where it is when other rows come and go.
        self._is_key = self._path is not None and "[-1]" in self._path.text
        self._param = getattr(words, "cursor_param", "")
        self._body_path = getattr(words, "cursor_body_path", "")

    def first(self) -> At:
        return {"number": 1}

    def label(self, at: At) -> str:
        return f"page={at['number']}"

    def request(self, at: At) -> PageRequest:
        if url := at.get("url"):
            return PageRequest(url=url)
        cursor = at.get("cursor")
        if cursor is None:
            return PageRequest()
        if self._body_path:
            return PageRequest(body={self._body_path: cursor})
        return PageRequest({self._param: cursor})

    def step(self, at: At, page: ListedPage) -> PageStep:
        if page.beyond:
            return PageStep(ends=True)
        found = None if page.more is False else self._next(page)
        if found is None:
            self._check_end(page)
            return PageStep(ends=True, numbered=bool(at.get("numbered")))
        numbered = not self._is_key and is_numbered(page.url, found, page.rows)
        numbered = numbered or bool(at.get("numbered"))
        if at.get("planned"):
            return PageStep(numbered=True)
        if page.first and self._options.is_parallel and "url" in found:
            last = links_of(page.headers.get("link", "")).get("last", "")
            if planned := self._planned(found["url"], urljoin(page.url, last)):
                return PageStep(planned, numbered=True)
        return PageStep([self._marked(at, found, page, numbered=numbered)], numbered=numbered)

    def _next(self, page: ListedPage) -> dict[str, Any] | None:
        words = self._words
        value: Any = None
        if self._path is not None:
            value = self._path.of(page.value())
        elif isinstance(words, HeaderLinkPaginator):
            value = links_of(page.headers.get("link", "")).get(words.links_next_key)
        elif isinstance(words, HeaderCursorPaginator):
            value = page.headers.get(words.cursor_key.lower())
        if value is None or value is False or value == "":
            return None
        is_url = isinstance(words, JsonLinkPaginator | HeaderLinkPaginator) or (
            isinstance(words, HeaderCursorPaginator) and str(value).startswith(("http:", "https:"))
        )
        return {"url": self._url(page, value)} if is_url else {"cursor": _cursor(value)}

    def _url(self, page: ListedPage, value: Any) -> str:
        if not isinstance(value, str):
            raise BadPage(f"the next link is not a text but {type(value).__name__}")
        url = urljoin(page.url, value.strip())
        try:
            origin = parse_origin(split_origin(url)[0])
        except BadUrl as error:
            raise BadPage(f"the next link cannot be followed: {error}") from None
        if origin.key not in self._options.hosts or origin.scheme not in self._options.schemes:
            raise BadPage(
                f"the next link leads to {short_url(url)!r}, which is not on a host of the source"
                f" ({', '.join(sorted(self._options.hosts))}); if it should be followed, add the"
                " host to client.hosts"
            )
        return url

    def _check_end(self, page: ListedPage) -> None:
        if page.more:
            raise BadPage(
                "the source says that there are more pages, and names no next one; check the path"
                " of the cursor or link"
            )
        if not page.first or self._words.ends == "no_next" or page.more is False:
            return
        size, total = self._options.size, page.total
        if total is None and size is not None and page.rows >= size:
            raise BadPage(
                f"the first page is full ({page.rows:,} rows) and names no next one; check the"
                ' path of the cursor or link, or declare ends = "no_next" if a listing may end so'
            )
        if total is not None and page.rows < total:
            raise BadPage(
                f"the source says that it has {total:,} rows, gave {page.rows:,} and names no next"
                " page; check the path of the cursor or link"
            )

    def _planned(self, following: str, last: str) -> list[At]:
        """All pages at once, if the links differ only in a page's number."""
        span = numbers_between(following, last)
        if span is None:
            return []
        name, begin, end = span
        numbers = range(begin, min(end, begin + MOST_ITEMS) + 1)
        pages: list[At] = [
            {"url": with_param(following, name, each), "number": each, "planned": True}
            for each in numbers
        ]
        pages[-1] = {"url": pages[-1]["url"], "number": pages[-1]["number"], "numbered": True}
        return pages

    def _marked(
        self, at: At, found: dict[str, Any], page: ListedPage, *, numbered: bool
    ) -> dict[str, Any]:
        place = _short(found)
        power, steps = at.get("power", 1), at.get("steps", 0) + 1
        mark = at.get("mark", "")
        if place in {mark, _short(at)}:
            raise BadPage(
                f"the pages lead in a circle: page {at['number']} names a page that was there"
                " before as the next one"
            )
        empty = 0 if page.rows else at.get("empty", 0) + 1
        if empty > MOST_EMPTY:
            raise BadPage(f"{empty:,} pages in a row were empty, and each named a next one")
        if steps == power or not mark:
            mark, power, steps = place, power * 2, 0
        marked = {**found, "number": at["number"] + 1, "mark": mark, "power": power, "steps": steps}
        return marked | ({"empty": empty} if empty else {}) | ({"numbered": 1} if numbered else {})


def links_of(header: str) -> dict[str, str]:
    """The URLs of a Link header by their relation."""
    found: dict[str, str] = {}
    for url, parameters in _LINK.findall(header):
        if match := _RELATION.search(parameters):
            for relation in (match[1] or match[2]).split():
                found.setdefault(relation.lower(), url)
    return found


def is_numbered(url: str, found: dict[str, Any], rows: int) -> bool:
    """Whether the next page is the one with the next number, or with as many rows before it."""
    if "url" not in found:
        value = str(found["cursor"])
        return value.isdecimal() and int(value) in {1, 2, rows, 2 * rows}
    before, after = (dict(parse_qsl(urlsplit(each).query)) for each in (url, found["url"]))
    changed = [name for name in after if after[name] != before.get(name)]
    if len(changed) != 1 or not after[changed[0]].isdecimal():
        return False
    number, old = int(after[changed[0]]), before.get(changed[0], "")
    known = {1, 2, rows} if not old.isdecimal() else {int(old) + 1, int(old) + rows}
    return number in known


def numbers_between(following: str, last: str) -> tuple[str, int, int] | None:
    """The parameter by which two links differ, if it is a number, with both values."""
    one, other = urlsplit(following), urlsplit(last)
    if not last or one[:3] != other[:3]:
        return None
    begin, end = dict(parse_qsl(one.query)), dict(parse_qsl(other.query))
    changed = [name for name in {**begin, **end} if begin.get(name) != end.get(name)]
    if len(changed) != 1 or begin.keys() != end.keys():
        return None
    low, high = begin[changed[0]], end[changed[0]]
    if not (low.isdecimal() and high.isdecimal() and int(low) < int(high)):
        return None
    return changed[0], int(low), int(high)


def with_param(url: str, name: str, value: int) -> str:
    parts = urlsplit(url)
    pairs = [(each, str(value) if each == name else old) for each, old in parse_qsl(parts.query)]
    return parts._replace(query=urlencode(pairs)).geturl()


def _cursor(value: Any) -> str | int | float:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise BadPage(f"the cursor of the next page is not a text but {type(value).__name__}")
    if len(str(value)) > LONGEST_CURSOR:
        raise BadPage(f"the cursor of the next page has more than {LONGEST_CURSOR:,} characters")
    return value


def _short(at: At) -> str:
    text = str(at.get("url") or at.get("cursor", ""))
    return blake2b(text.encode(errors="replace"), digest_size=8).hexdigest()
