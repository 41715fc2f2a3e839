"""Compares a stream at the ends of two passes: added, changed, deleted and restored rows."""

from collections.abc import AsyncIterator, Iterator
from typing import Any, NamedTuple

import msgspec

from headgate.core.errors import UsageError
from headgate.core.mirror import ChangeKind
from headgate.ports.mirrors import DiffQuery, DiffRow, MirrorStore

STATES = frozenset({ChangeKind.DELETED, ChangeKind.RESTORED})


class RowDifference(NamedTuple):
    number: int
    id: str
    kind: ChangeKind
    before: str | None
    """The body at the end of the older pass; None: there was none, or it is not known any more."""
    after: str | None

    @property
    def fields(self) -> list[str]:
        """Names of the fields that differ, of a changed row."""
        if self.kind is not ChangeKind.CHANGED or self.before is None or self.after is None:
            return []
        before, after = _object(self.before), _object(self.after)
        names = dict.fromkeys([*before, *after])
        absent = object()
        return [name for name in names if before.get(name, absent) != after.get(name, absent)]


class DiffPage(NamedTuple):
    differences: list[RowDifference]
    next_after: int | None
    """The number after which to go on; None: there is no more."""


async def diff_page(mirrors: MirrorStore, query: DiffQuery) -> DiffPage:
    """Differences among the next rows; a page may be empty although more follow."""
    if query.older >= query.newer:
        raise UsageError(
            f"pass {query.newer} did not begin after pass {query.older}: name the older pass first"
        )
    rows = await mirrors.diff_rows(query)
    found = [difference(row, query.older, query.newer) for row in rows]
    more = len(rows) == query.limit
    return DiffPage([each for each in found if each], rows[-1].number if more else None)


async def differences(mirrors: MirrorStore, query: DiffQuery) -> AsyncIterator[RowDifference]:
    """All differences, page by page."""
    after: int | None = query.after
    while after is not None:
        page = await diff_page(mirrors, msgspec.structs.replace(query, after=after))
        for each in page.differences:
            yield each
        after = page.next_after


def difference(row: DiffRow, older: int, newer: int) -> RowDifference | None:
    """How a row differs between the ends of two passes; None: not at all."""
    was, is_now = _is_live(row, older), _is_live(row, newer)
    before = _body(row, older) if was else None
    after = _body(row, newer) if is_now else None
    if was and is_now:
        if not any(older < each.pass_id <= newer for each in row.log):
            return None
        if before is not None and after is not None and _object(before) == _object(after):
            return None
        kind = ChangeKind.CHANGED
    elif was:
        kind = ChangeKind.DELETED
    elif is_now:
        kind = ChangeKind.ADDED if row.first_pass > older else ChangeKind.RESTORED
    else:
        return None
    return RowDifference(row.number, row.id, kind, before, after)


def _is_live(row: DiffRow, at: int) -> bool:
    """Whether the row was there, and not deleted, at the end of a pass."""
    if row.first_pass > at:
        return False
    moves = [move for move in _moves(row) if move[0] <= at]
    return moves[-1][1] if moves else _was_live_at_first(row)


def _moves(row: DiffRow) -> Iterator[tuple[int, bool]]:
    """Passes at whose ends the row was deleted, or live again."""
    for each in row.log:
        if each.kind in STATES:
            yield each.pass_id, each.kind is ChangeKind.RESTORED
    if row.absent_pass is not None:
        yield row.absent_pass, False


def _was_live_at_first(row: DiffRow) -> bool:
    """Whether the row was live before its logged changes."""
    first = next((each for each in row.log if each.kind in STATES), None)
    return not row.deleted if first is None else first.kind is ChangeKind.DELETED


def _body(row: DiffRow, at: int) -> str | None:
    later = next((each for each in row.log if each.pass_id > at), None)
    return row.body if later is None else later.before


def _object(text: str) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(text)
    return found
