"""The items of a pass, and what a page leaves as its result."""

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, Literal

import msgspec

from headgate.core.fault import AttemptOver, Fault, FaultClass
from headgate.core.mirror import FollowUp

At = Mapping[str, Any]
"""Where in a listing a page is, as its kind of paging says it."""
LONGEST_KEY = 120


class BadPage(AttemptOver):
    """The reply cannot be what the description says; no retry will change that."""

    def __init__(self, reason: str) -> None:
        super().__init__(Fault(FaultClass.PERMANENT, reason))


class PageItem(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The input of an item of a pass."""

    stream: str
    kind: Literal["first", "page", "detail", "children", "closing"] = "page"
    at: At = {}
    full: bool = True
    """The pass lists everything, not only what has changed."""
    since: str | None = None
    """The stamp from which to list."""
    parent: str | None = None
    """The id of the parent's row."""
    fills: Mapping[str, Any] = {}
    """Values of the parent's row, or of the listed row for a detail."""
    included: Mapping[str, Any] = {}
    """Fields of the parent's row that are added to each row."""
    scope: str = ""
    """What distinguishes the listings of one stream in keys of items."""
    round: int = 0
    """How often the closing has asked for pages again."""
    without: tuple[str, ...] = ()
    """Streams that this pass leaves out, although their parents are listed."""
    hash: str = ""
    """For a detail: the hash of the listed row."""

    def follow(self, kind: Literal["page", "detail"], label: str, **changes: Any) -> FollowUp:
        """A further item of the same listing."""
        page = msgspec.structs.replace(self, kind=kind, **changes)
        return FollowUp(page.key(label), msgspec.to_builtins(page), self.stream)

    def key(self, label: str) -> str:
        again = f"repair {self.round}/" if self.round else ""
        return "/".join(filter(None, (self.stream, self.scope, again + label)))


class Evidence(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of an item: what its pages show about the completeness of the listing."""

    rows: int = 0
    pages: int = 1
    begins: bool = False
    """It has the first page of a listing."""
    ends: bool = False
    """Nothing followed its last page when it was fetched."""
    opens: int = 0
    """The items that must continue it."""
    begin: int | None = None
    """The number of rows before it."""
    low: Any = None
    """The first key, or the bound behind which everything is in it."""
    high: Any = None
    """The last key, or the bound up to which everything is in it."""
    unsorted: bool = False
    """Its rows are not in the declared order."""
    numbered: bool = False
    """Its pages are found by their number, so rows may move between them."""
    total: int | None = None
    stamp: str | None = None
    """The newest stamp of its rows."""
    ids: str = ""
    """Short hashes of its keys, in order, where these can only be recognised."""
    round: int = 0
    detail: bool = False
    """It is about one row, not about a listing."""
    size: int = 0
    """Rows that a page may have."""


def as_result(evidence: Evidence) -> dict[str, Any]:
    """The result of an item."""
    result: dict[str, Any] = msgspec.to_builtins(evidence)
    return result


def short_key(text: str) -> str:
    """A text for keys of items, at most 120 characters long."""
    if len(text) <= LONGEST_KEY:
        return text
    return f"{text[:40]}…{blake2b(text.encode(errors='replace'), digest_size=12).hexdigest()}"
