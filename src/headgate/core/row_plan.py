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

    stream: StreamTally
    head: StoredHead | None
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
    flagged: list[PlannedRow] = field(default_factory=list)
    """Deleted or restored by a mention: the body stays."""
    seen: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    """By pass: the numbers of rows that are as they were."""
    follow_ups: list[tuple[int, FollowUp]] = field(default_factory=list)
    """By pass: the items of rows that are new or changed."""


Page = tuple[Mapping[str, StreamTally], Sequence[MirrorRow]]
"""The streams of the page's pass by name, and the page's rows."""


def plan_rows(pages: Iterable[Page], known: Mapping[int, StoredHead]) -> RowPlan:
    """Compare rows with the mirror; `known` has the heads by the place of their row.

    Counts in the tallies: a row counts as new or changed when it is written, else as unchanged, or
    as repeated if the pass, or a newer one, has seen it before. A mention that asks for the body
    does not count: the row counts when the body comes.
    """
    plan = RowPlan()
    here: dict[tuple[int, str], PlannedRow] = {}
    place = 0
    for streams, rows in pages:
        for row in rows:
            stream = streams[row.stream]
            key = (stream.id, row.id)
            before = here.get(key)
            if before is not None:
                news = _again_in_batch(stream, row, before)
            elif (head := known.get(place)) is not None:
                here[key] = planned = _known_row(stream, row, head)
                news = planned.kind is not None or _asks(planned)
            else:
                news = True
                if row.body is not None:
                    here[key] = PlannedRow(stream, None, row, row.hash, row.deleted)
            if news and row.then is not None:
                plan.follow_ups.append((stream.pass_id, row.then))
            place += 1
    for each in here.values():
        _file(plan, each)
    return plan


def _known_row(stream: StreamTally, row: MirrorRow, head: StoredHead) -> PlannedRow:
    if head.seen_pass > stream.pass_id:
        return PlannedRow(stream, head, row, head.hash, head.deleted, stale=True)
    content_hash = head.hash if row.body is None else row.hash
    kind = change_of(head, content_hash, stream.full_pass, deleted=row.deleted)
    return PlannedRow(stream, head, row, content_hash, row.deleted, kind)


def _again_in_batch(stream: StreamTally, row: MirrorRow, before: PlannedRow) -> bool:
    """Take a second sight in one batch into account; True if it differs from the first."""
    brings_body = before.row.body is None and row.body is not None
    if before.stale or not brings_body:
        stream.repeated += 1
    if before.stale or stream.pass_id < before.stream.pass_id:
        return False
    differs = row.hash != before.hash or row.deleted != before.deleted
    before.stream = stream
    if differs:
        before.deleted = row.deleted
        if row.body is not None:
            before.row, before.hash = row, row.hash
        if before.head is not None:
            full_pass = stream.full_pass
            before.kind = change_of(before.head, before.hash, full_pass, deleted=row.deleted)
    return differs


def _file(plan: RowPlan, planned: PlannedRow) -> None:
    stream, head = planned.stream, planned.head
    if head is None:
        stream.added += 1
        plan.added.append(planned)
    elif planned.kind is not None:
        stream.changed += 1
        (plan.flagged if planned.row.body is None else plan.changed).append(planned)
    else:
        _file_unchanged(plan, planned, head)


def _file_unchanged(plan: RowPlan, planned: PlannedRow, head: StoredHead) -> None:
    stream = planned.stream
    if not planned.stale:
        plan.seen[stream.pass_id].append(head.number)
    if head.seen_pass >= stream.pass_id:
        stream.repeated += not _asks(planned)
    else:
        stream.unchanged += not _asks(planned)


def _asks(planned: PlannedRow) -> bool:
    """True for a mention whose body is another one than the mirror has."""
    row = planned.row
    return row.body is None and row.hash != planned.hash and not planned.stale


def change_of(head: StoredHead, content_hash: str, full_pass: int, *, deleted: bool) -> str | None:
    """How a row differs from its head; None: not at all."""
    was_deleted = head.deleted or head.seen_pass < full_pass
    if was_deleted and not deleted:
        return RESTORED
    if deleted and not was_deleted:
        return DELETED
    # A row that was absent and now says itself that it is deleted must keep saying so.
    return CHANGED if content_hash != head.hash or deleted != head.deleted else None
