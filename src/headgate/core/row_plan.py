"""What the rows of some pages change in a mirror: which are new, changed, the same or repeated."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from headgate.core.mirror import FollowUp, MirrorRow

CHANGED, DELETED, RESTORED = "changed", "deleted", "restored"


class StoredHead(NamedTuple):
    """A row as the mirror has it."""

    number: int
    hash: str
    seen_pass: int
    """The last pass that saw it."""
    deleted: bool
    """The row itself said that it was deleted."""


@dataclass(slots=True)
class StreamTally:
    """A stream in a pass, and what the pages brought for it."""

    id: int
    pass_id: int
    full_pass: int
    """Rows not seen since this pass are deleted."""
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    repeated: int = 0


@dataclass(slots=True)
class PlannedRow:
    """A row of this batch, as it will be stored."""

    stream_id: int
    pass_id: int
    number: int | None
    """None: it is new."""
    row: MirrorRow
    hash: str
    deleted: bool
    kind: str | None = None
    """How a known row changed."""
    stale: bool = False
    """A newer pass has seen it: nothing is written."""


@dataclass(slots=True)
class RowPlan:
    added: list[PlannedRow] = field(default_factory=list)
    changed: list[PlannedRow] = field(default_factory=list)
    seen: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    """By pass: the numbers of rows that are as they were."""
    follow_ups: list[tuple[int, FollowUp]] = field(default_factory=list)
    """By pass: the items of rows that are new or changed."""


Page = tuple[Mapping[str, StreamTally], Sequence[MirrorRow]]
"""The streams of the page's pass by name, and the page's rows."""


def plan_rows(pages: Iterable[Page], known: Mapping[int, StoredHead]) -> RowPlan:
    """Compare rows with the mirror; `known` has the heads by the place of their row.

    Counts in the tallies: a row counts as new, changed or unchanged once in a pass, and as
    repeated whenever the pass, or a newer one, has seen it before.
    """
    plan = RowPlan()
    here: dict[tuple[int, str], PlannedRow] = {}
    place = 0
    for streams, rows in pages:
        for row in rows:
            stream = streams[row.stream]
            key = (stream.id, row.id)
            before = here.get(key)
            if before is None:
                before = here[key] = _first_in_batch(stream, row, known.get(place))
                news = before.number is None or before.kind is not None
            else:
                news = _again_in_batch(stream, row, before)
            if news and row.then is not None:
                plan.follow_ups.append((stream.pass_id, row.then))
            place += 1
    for each in here.values():
        _file(plan, each)
    return plan


def _file(plan: RowPlan, planned: PlannedRow) -> None:
    if planned.number is None:
        plan.added.append(planned)
    elif planned.kind is not None:
        plan.changed.append(planned)
    elif not planned.stale:
        plan.seen[planned.pass_id].append(planned.number)


def _first_in_batch(stream: StreamTally, row: MirrorRow, head: StoredHead | None) -> PlannedRow:
    pass_id = stream.pass_id
    if head is None:
        stream.added += 1
        return PlannedRow(stream.id, pass_id, None, row, row.hash, row.deleted)
    if head.seen_pass > pass_id:
        stream.repeated += 1
        return PlannedRow(
            stream.id, pass_id, head.number, row, head.hash, head.deleted, None, stale=True
        )
    kind = change_of(head, row, stream.full_pass)
    if head.seen_pass == pass_id:
        stream.repeated += 1
    elif kind is None:
        stream.unchanged += 1
    else:
        stream.changed += 1
    return PlannedRow(stream.id, pass_id, head.number, row, row.hash, row.deleted, kind)


def _again_in_batch(stream: StreamTally, row: MirrorRow, before: PlannedRow) -> bool:
    """Count a second sight in one batch; True if it differs from the first."""
    stream.repeated += 1
    if before.stale or stream.pass_id < before.pass_id:
        return False
    differs = row.hash != before.hash or row.deleted != before.deleted
    before.pass_id = stream.pass_id
    if differs:
        before.row, before.hash, before.deleted = row, row.hash, row.deleted
        before.kind = before.kind or CHANGED
    return differs


def change_of(head: StoredHead, row: MirrorRow, full_pass: int) -> str | None:
    """How a row differs from its head; None: not at all."""
    was_deleted = head.deleted or head.seen_pass < full_pass
    if was_deleted and not row.deleted:
        return RESTORED
    if row.deleted and not was_deleted:
        return DELETED
    # A row that was absent and now says itself that it is deleted must keep saying so.
    return CHANGED if row.hash != head.hash or row.deleted != head.deleted else None
