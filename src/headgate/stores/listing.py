"""Filters, cursors and query names for pages of items and events, shared by both databases."""

from collections.abc import Sequence
from typing import Any

from headgate.core.errors import UsageError
from headgate.core.paging import Cursor, SortOrder, decode_cursor, encode_cursor
from headgate.core.signature import parts_of
from headgate.core.status import ItemStatus
from headgate.ports.reads import EventQuery, ItemQuery, ItemRow, ItemRows

LONGEST = 200
_SPECIAL = str.maketrans({"\\": r"\\", "%": r"\%", "_": r"\_"})


def patterns(text: str | None) -> dict[str, str | None]:
    """Patterns for LIKE; None without a filter, or if one pattern suffices.

    Both databases ignore the case of ASCII letters, but perhaps not of others. Texts with other
    letters are searched as given and in lower, upper and title case.
    """
    names = ("text", "lower", "upper", "title")
    if text is None:
        return dict.fromkeys(names)
    if len(text) > LONGEST:
        raise UsageError(f"a search text may have {LONGEST} characters, not {len(text)}")
    plain = text.replace("\0", "")
    if plain.isascii():
        return dict.fromkeys(names) | {"text": _like(plain)}
    cases = (plain, plain.lower(), plain.upper(), plain.title())
    return {name: _like(case) for name, case in zip(names, cases, strict=True)}


def _like(text: str) -> str:
    return f"%{text.translate(_SPECIAL)}%"


TAIL_US = 2_000_000
"""Microseconds before now at which pages by time end, so that an open commit is not skipped."""
STATUSES = {status.value: status for status in ItemStatus}
"""An export looks up a million of these; the dict is six times as fast as the enum's call."""
AT_REST = frozenset({ItemStatus.REVIEW, ItemStatus.ERROR, ItemStatus.NOT_FOUND})
"""The statuses that have an index across jobs."""
WINDOW = 20_000
"""Rows that one call reads at most if few of them may match."""
FAR = 2**62
"""Greater than every id and every time."""


class Listing:
    def __init__(self, query: ItemQuery) -> None:
        _require_possible(query)
        self.query = query
        self._name = query.filter_name()
        after = decode_cursor(query.after, query.order, self._name) if query.after else None
        start = (after.updated_at, after.id) if after else (0, 0)
        self.after_at, self.after_id = max(start, (query.changed_from or 0, 0))
        if query.order is SortOrder.INPUT:
            self.after_id = after.id if after else 0

    @property
    def sparse(self) -> bool:
        """True if few of the rows that an index finds may match."""
        query = self.query
        if query.order is SortOrder.INPUT:
            return query.text is not None
        across = query.job_id is None and query.handler is not None
        return across or query.text is not None or query.signature is not None

    def filters(self) -> dict[str, Any]:
        return {
            "error_class": self.query.error_class,
            **kind_filter(self.query.signature),
            "with_result": self.query.with_result,
            "limit": self.query.limit + 1,
            **patterns(self.query.text),
        }

    def page(self, rows: Sequence[ItemRow], until: tuple[int, int] | None) -> ItemRows:
        """The page of `rows` (one more than requested, if there are more).

        `until` is the last (time, id) that was read, if there may be more behind it.
        """
        if len(rows) > self.query.limit:
            rows = rows[: self.query.limit]
            until = (rows[-1].updated_at, rows[-1].id)
        return ItemRows(rows, self._cursor(*until) if until else None)

    def _cursor(self, updated_at: int, item_id: int) -> str:
        return encode_cursor(Cursor(self.query.order, self._name, updated_at, item_id))


def kind_filter(name: str | None) -> dict[str, str | None]:
    signature, variant = (None, None) if name is None else parts_of(name)
    return {"signature": signature, "variant": variant}


def _require_possible(query: ItemQuery) -> None:
    if query.order is SortOrder.UPDATED:
        return
    if query.job_id is None:
        raise UsageError("items of all jobs can only be listed by the time of their change")
    if query.changed_from is not None or query.changed_to is not None:
        raise UsageError("a time range needs the order by time of change")


def events_query(query: EventQuery) -> str:
    of = "_of_job" if query.job_id is not None else "_of_owner" if query.owner is not None else ""
    return f"last_events{of}" if query.newest_first else f"events{of}"
