"""Mirrors in a store: begin a pass, read streams, checkpoints, rows and changes, forget a mirror.

Rows are written only by `ItemStore.settle_many`, together with the settlement of their page.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import msgspec

from headgate.core.item import NewItem
from headgate.core.job import Job, NewJob
from headgate.core.mirror import ChangeKind, PassMode, Proof


class NewCheckpoint(msgspec.Struct, frozen=True):
    """One stream of a pass that begins."""

    name: str
    stream: str
    closing: Mapping[str, Any]
    """The input of the item that is added when every item of the checkpoint has ended well."""
    after: str = ""
    """The checkpoint of the parent stream, which must be complete first; empty: none."""
    mode: PassMode = PassMode.FULL
    since: str | None = None


class StreamState(NamedTuple):
    """What is known about a stream before a pass."""

    watermark: str | None = None
    full_at: int | None = None
    """When its last proven full pass ended, in microseconds; None: there is none."""


class PassWish(NamedTuple):
    """What the user asks of a pass."""

    streams: Sequence[str] = ()
    """Names; empty: the selected ones."""
    full: bool = False
    since: str | None = None
    """List from this stamp, whatever the watermark says."""
    now: int = 0
    """The time in microseconds, for `full_every`."""


class PassPlan(NamedTuple):
    """The streams of a pass, and its first items."""

    checkpoints: Sequence[NewCheckpoint]
    items: Sequence[NewItem]


PlanPass = Callable[[Mapping[str, StreamState], PassWish], PassPlan]
"""Plans a pass from the states of the streams by name; UsageError if the wish cannot be met."""


class PassRequest(msgspec.Struct, frozen=True):
    """A pass over a mirror, which is made if its owner has none of that name.

    Mirror, streams, job, checkpoints and first items are one transaction. A mirror has one
    unfinished pass at a time: if there is one, its job is returned with `made_before`.
    """

    mirror: str
    source: Mapping[str, Any]
    """The description of the source, without secrets."""
    digest: str
    """Changes when the same source may give other rows."""
    job: NewJob
    checkpoints: Sequence[NewCheckpoint]
    items: Sequence[NewItem]
    """None of them has a `problem`."""
    history: bool = True
    """Changes of rows keep the body before."""


class Mirror(msgspec.Struct, frozen=True):
    id: int
    owner: str
    name: str
    source: Mapping[str, Any]
    digest: str
    history: bool
    created_at: int


class MirrorQuery(msgspec.Struct, frozen=True):
    """One mirror, by its id or by that of a pass."""

    mirror_id: int | None = None
    pass_id: int | None = None
    """Also of a pass whose job was deleted."""
    owner: str | None = None
    """Only if it belongs to this owner; None: to anyone."""


class Stream(msgspec.Struct, frozen=True):
    id: int
    mirror_id: int
    name: str
    watermark: str | None
    """The source's own stamp up to which everything is known."""
    full_pass: int
    """The job of the last full pass that was proven; 0: none. Rows not seen since are deleted."""
    live: int
    """Rows that are not deleted, as of the last closing."""


class Checkpoint(msgspec.Struct, frozen=True):
    """The state of one stream in one pass; it outlives its job once it is complete."""

    job_id: int
    name: str
    stream_id: int
    stream: str
    after: str
    mode: PassMode
    since: str | None
    pages: int
    """Items that ended DONE; one that was requeued counts again."""
    added: int
    changed: int
    unchanged: int
    repeated: int
    """Rows that this pass had seen before: pages overlap, or rows moved between pages."""
    total: int | None
    started_at: int
    completed_at: int | None
    proof: Proof | None
    evidence: Mapping[str, Any] | None


class PageResult(msgspec.Struct, frozen=True):
    item_id: int
    key: str
    result: str
    """JSON text."""


class StoredRow(msgspec.Struct, frozen=True):
    number: int
    """The order in which rows were first seen, over all streams."""
    id: str
    hash: str
    updated: str | None
    parent: str | None
    body: str
    """JSON text."""
    first_pass: int
    seen_pass: int
    first_at: int
    changed_at: int
    deleted_at: int | None
    """When the row was found deleted; None: it is live."""


class RowQuery(msgspec.Struct, frozen=True):
    """Rows of a stream in the order of their number."""

    stream_id: int
    after: int = 0
    limit: int = 500
    deleted: bool = False
    """Also deleted rows."""


class RowChange(msgspec.Struct, frozen=True):
    id: int
    """Grows with time within a stream."""
    row: int
    row_id: str
    pass_id: int
    kind: ChangeKind
    before: str | None
    """The body before, if the mirror keeps history."""
    at: int


class DiffQuery(msgspec.Struct, frozen=True):
    """Rows of a stream that may differ between the ends of two passes, by number."""

    stream_id: int
    older: int
    newer: int
    after: int = 0
    limit: int = 500


class LoggedChange(msgspec.Struct, frozen=True):
    """An entry of the change log as a comparison needs it."""

    pass_id: int
    kind: ChangeKind
    before: str | None


class DiffRow(msgspec.Struct, frozen=True):
    number: int
    id: str
    body: str
    first_pass: int
    deleted: bool
    """The row says so itself."""
    absent_pass: int | None
    """The first full pass that deleted it by absence; None: it is not absent now."""
    log: Sequence[LoggedChange] = ()
    """Its changes after the older pass, in order."""


class StreamField(msgspec.Struct, frozen=True):
    name: str
    types: int
    """The JSON types that were seen, as bits: see `core.json_types`."""
    first_pass: int


class MirrorStore(Protocol):
    async def begin_pass(self, request: PassRequest) -> Job:
        """Make the job of a pass, QUEUED; or return the unfinished one: see PassRequest."""
        ...

    async def mirrors(self, owner: str | None = None) -> list[Mirror]:
        """By name; `owner` None: of all owners."""
        ...

    async def mirror(self, owner: str, name: str) -> Mirror | None: ...

    async def find(self, query: MirrorQuery) -> Mirror:
        """Raises UnknownMirror, or UnknownJob if a pass was named."""
        ...

    async def streams(self, mirror_id: int) -> list[Stream]: ...

    async def passes(self, mirror_id: int, before: int | None, limit: int) -> list[int]:
        """Job ids of its passes, the newest first, also of deleted jobs with checkpoints."""
        ...

    async def checkpoints(self, job_id: int) -> list[Checkpoint]: ...

    async def page_results(
        self, job_id: int, checkpoint: str, after: int, limit: int
    ) -> list[PageResult]:
        """Results of the DONE items of a checkpoint, by item id."""
        ...

    async def rows(self, query: RowQuery) -> list[StoredRow]: ...

    async def row(self, stream_id: int, row_id: str) -> StoredRow | None: ...

    async def changes(self, stream_id: int, after: int, limit: int) -> list[RowChange]:
        """The change log in order.

        Additions are found by `first_pass` of the rows, deletions by absence by `deleted_at`;
        these are logged when the row comes back.
        """
        ...

    async def changes_of(self, row: int) -> list[RowChange]: ...

    async def diff_rows(self, query: DiffQuery) -> list[DiffRow]:
        """Every row that differs between the ends of two passes, and maybe some that do not."""
        ...

    async def fields(self, stream_id: int) -> list[StreamField]:
        """In the order in which they were first seen."""
        ...

    async def forget(self, mirror_id: int, limit: int = 5_000) -> int:
        """Remove a mirror in bounded steps; 0 when it is gone. IllegalMove during a pass."""
        ...
