"""Read JSON replies of any shape: a missing value is empty; only UnreadableReply is raised."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote, urlsplit

import msgspec

from headgate.core.url import BadUrl, normalize
from headgate.handlers.download.identifier import BadIdentifier, IdentifierKind, read_identifier
from headgate.handlers.download.plan import (
    Plan,
    ResolverReply,
    ResolverResult,
    ResolverVerdict,
    Version,
)

Tree = Mapping[str, Any]
DEEPEST: Final = 12

_VERSIONS: Final = {
    "publishedversion": Version.PUBLISHED,
    "vor": Version.PUBLISHED,
    "acceptedversion": Version.ACCEPTED,
    "am": Version.ACCEPTED,
    "submittedversion": Version.SUBMITTED,
}


class UnreadableReply(Exception):
    """A reply that does not have the documented shape."""


def tree_of(reply: ResolverReply) -> Tree:
    tree = value_of(reply)
    if not isinstance(tree, Mapping):
        raise UnreadableReply("the reply is JSON, but not an object")
    return tree


def value_of(reply: ResolverReply) -> Any:
    try:
        return msgspec.json.decode(reply.text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        kind = f" but {reply.content_type}" if reply.content_type else ""
        raise UnreadableReply(f"the reply is not JSON{kind}") from None


def at(tree: Any, *path: str) -> Any:
    """The value at a path; None if the path does not exist."""
    for name in path:
        tree = tree.get(name) if isinstance(tree, Mapping) else None
    return tree


def text(tree: Any, *path: str) -> str:
    """The text at a path; the first of several."""
    value = at(tree, *path)
    if isinstance(value, list):
        value = value[0] if value else ""
    return value.strip() if isinstance(value, str) else ""


def texts(tree: Any, *path: str) -> list[str]:
    """The texts at a path, one or several."""
    value = at(tree, *path)
    values = value if isinstance(value, list) else [value]
    return [each.strip() for each in values if isinstance(each, str)]


def some(tree: Any, *path: str) -> list[Tree]:
    """The objects of the list at a path; empty if it is not a list."""
    value = at(tree, *path)
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def rows(tree: Any, *path: str) -> list[Tree]:
    """The objects of a list that the reply must have; UnreadableReply if it is missing."""
    if not isinstance(at(tree, *path), list):
        raise UnreadableReply(f"the reply has no list {'.'.join(path) or 'at all'}")
    return some(tree, *path)


def located(tree: Tree, best: str, others: str) -> list[Tree]:
    """The best location, then the others; UnreadableReply if the reply has neither key."""
    if best not in tree and others not in tree:
        raise UnreadableReply("the reply has no locations")
    first = at(tree, best)
    return [*([first] if isinstance(first, Mapping) else []), *some(tree, others)]


def link(tree: Any, *path: str) -> str:
    """The normalized URL at a path; empty if it cannot be fetched."""
    written = text(tree, *path)
    try:
        return normalize(written) if written else ""
    except BadUrl:
        return ""


def links_within(tree: Any) -> Iterator[str]:
    return (found for each in _leaves(tree) if (found := link(each)))


def names_doi(tree: Any, doi: str) -> bool:
    return any(is_doi(each, doi) for each in _leaves(tree))


def _leaves(tree: Any, depth: int = DEEPEST) -> Iterator[str]:
    if isinstance(tree, str):
        yield tree
    elif depth and isinstance(tree, Mapping | list):
        for each in tree.values() if isinstance(tree, Mapping) else tree:
            yield from _leaves(each, depth - 1)


def version(tree: Any, *path: str) -> Version:
    return _VERSIONS.get(text(tree, *path).lower(), Version.UNKNOWN)


def is_doi(value: str, doi: str) -> bool:
    try:
        found = read_identifier(value)
    except BadIdentifier:
        return False
    return found.kind in {IdentifierKind.DOI, IdentifierKind.ARXIV} and found.doi == doi


def names_pdf(url: str) -> bool:
    return urlsplit(url).path.lower().endswith(".pdf")


def in_path(value: str) -> str:
    """Quote a DOI for a path, so that it cannot reach a parent folder."""
    climbs = not {".", ".."}.isdisjoint(value.split("/"))
    return quote(value, safe="" if climbs else "/:;()")


def phrase(value: str) -> str:
    """Quote a value as one phrase of a search."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


MOST_PLANS: Final = 10
MOST_PAGES: Final = 3


def ending(plans: Iterable[Plan], pages: Iterable[str] = ()) -> ResolverResult:
    """The result for a work that the service knows; plans without a URL are dropped."""
    by_url: dict[str, Plan] = {}
    for plan in plans:
        if plan.url:
            by_url.setdefault(plan.url, plan)
    others = tuple(dict.fromkeys(page for page in pages if page and page not in by_url))
    others = others[:MOST_PAGES]
    if by_url:
        return ResolverResult(ResolverVerdict.FOUND, tuple(by_url.values())[:MOST_PLANS], others)
    return ResolverResult(
        ResolverVerdict.NO_FILE, pages=others, reason="it names no file that may be fetched"
    )


def unknown(service: str) -> ResolverResult:
    return ResolverResult(ResolverVerdict.UNKNOWN, reason=f"{service} does not know it")


def not_asked(why: str) -> ResolverResult:
    return ResolverResult(ResolverVerdict.NOT_ASKED, reason=why)
