"""Replies as trees that may be anything: what is not there is empty, and nothing raises but one."""

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
    """A reply that is not of the shape that its service documents."""


def tree_of(reply: ResolverReply) -> Tree:
    """The reply as a JSON object."""
    tree = value_of(reply)
    if not isinstance(tree, Mapping):
        raise UnreadableReply("the reply is JSON, but no object")
    return tree


def value_of(reply: ResolverReply) -> Any:
    """The reply as a JSON value."""
    try:
        return msgspec.json.decode(reply.text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        kind = f" but {reply.content_type}" if reply.content_type else ""
        raise UnreadableReply(f"the reply is no JSON{kind}") from None


def at(tree: Any, *path: str) -> Any:
    """The value at a path; None where the path leads nowhere."""
    for name in path:
        tree = tree.get(name) if isinstance(tree, Mapping) else None
    return tree


def text(tree: Any, *path: str) -> str:
    """The text at a path; of several the first."""
    value = at(tree, *path)
    if isinstance(value, list):
        value = value[0] if value else ""
    return value.strip() if isinstance(value, str) else ""


def texts(tree: Any, *path: str) -> list[str]:
    """The texts at a path, be there one or many."""
    value = at(tree, *path)
    values = value if isinstance(value, list) else [value]
    return [each.strip() for each in values if isinstance(each, str)]


def some(tree: Any, *path: str) -> list[Tree]:
    """The objects of the list at a path, where there is one."""
    value = at(tree, *path)
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def rows(tree: Any, *path: str) -> list[Tree]:
    """The objects of a list without which a reply is none."""
    if not isinstance(at(tree, *path), list):
        raise UnreadableReply(f"the reply has no list {'.'.join(path) or 'at all'}")
    return some(tree, *path)


def located(tree: Tree, best: str, others: str) -> list[Tree]:
    """The best location, then the others; a reply that speaks of neither is none."""
    if best not in tree and others not in tree:
        raise UnreadableReply("the reply names no locations")
    first = at(tree, best)
    return [*([first] if isinstance(first, Mapping) else []), *some(tree, others)]


def link(tree: Any, *path: str) -> str:
    """The URL at a path in its one form; empty if there is none that can be fetched."""
    written = text(tree, *path)
    try:
        return normalize(written) if written else ""
    except BadUrl:
        return ""


def links_within(tree: Any) -> Iterator[str]:
    """Every URL anywhere in a tree."""
    return (found for each in _leaves(tree) if (found := link(each)))


def names_doi(tree: Any, doi: str) -> bool:
    """Whether a DOI stands anywhere in a tree."""
    return any(is_doi(each, doi) for each in _leaves(tree))


def _leaves(tree: Any, depth: int = DEEPEST) -> Iterator[str]:
    if isinstance(tree, str):
        yield tree
    elif depth and isinstance(tree, Mapping | list):
        for each in tree.values() if isinstance(tree, Mapping) else tree:
            yield from _leaves(each, depth - 1)


def version(tree: Any, *path: str) -> Version:
    """Which text of the work it says it is."""
    return _VERSIONS.get(text(tree, *path).lower(), Version.UNKNOWN)


def is_doi(value: str, doi: str) -> bool:
    """Whether a service means this DOI, however it writes it."""
    try:
        found = read_identifier(value)
    except BadIdentifier:
        return False
    return found.kind in {IdentifierKind.DOI, IdentifierKind.ARXIV} and found.doi == doi


def names_pdf(url: str) -> bool:
    """Whether a URL says by its name that a PDF is there."""
    return urlsplit(url).path.lower().endswith(".pdf")


def in_path(value: str) -> str:
    """A DOI as a part of a path, from which it cannot climb."""
    climbs = not {".", ".."}.isdisjoint(value.split("/"))
    return quote(value, safe="" if climbs else "/:;()")


def phrase(value: str) -> str:
    """A value as one phrase of a search, whatever signs it has."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


MOST_PLANS: Final = 10
MOST_PAGES: Final = 3


def ending(plans: Iterable[Plan], pages: Iterable[str] = ()) -> ResolverResult:
    """What was found for a work that the service knows; plans without a URL are none."""
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
    """The service has no record of the work."""
    return ResolverResult(ResolverVerdict.UNKNOWN, reason=f"{service} does not know it")


def not_asked(why: str) -> ResolverResult:
    """There is no question to put."""
    return ResolverResult(ResolverVerdict.NOT_ASKED, reason=why)
