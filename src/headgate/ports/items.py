"""The hot path of a store: life-cycle verbs of items, one request value each."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol

import msgspec

from headgate.core.item import ClaimedItem, NewItem
from headgate.core.mirror import Attachment
from headgate.core.settlement import Settlement
from headgate.core.status import RETRIED, ItemMove, ItemStatus


class EnqueueRequest(msgspec.Struct, frozen=True):
    """Rows, and the source position that commits together with them.

    `expected_position` must be the job's stored position, or StaleIngest is raised and nothing is
    written; both are None for rows that come from no file (an open queue).
    """

    job_id: int
    items: Sequence[NewItem]
    position: str | None = None
    expected_position: str | None = None
    progress: Mapping[str, Any] | None = None
    """The job's new `ingest` value."""
    open_items_cap: int | None = None
    """CapReached, and nothing is stored, if the owner would have more open items than this."""
    packed: Any = None
    """The result of `pack` for exactly these items, if it was called before."""
    hold_duplicates: bool = False
    """Store nothing if a key came before in this reading: the report names those rows, and the
    caller sends all rows again, in order, with other keys for the duplicates."""


class KnownRow(msgspec.Struct, frozen=True):
    key: str
    line: int
    first_line: int
    """The line where this reading of the source first had the key; the store keeps it as the item's
    line."""
    changed: bool
    """Its input differs from the stored one (which is kept)."""
    duplicate: bool
    """The key came before in this reading of the source, in another line; so this row was not
    stored. The same line again is not a duplicate: its batch was interrupted and is read again."""


class EnqueueReport(msgspec.Struct, frozen=True):
    inserted: int
    known: Sequence[KnownRow] = ()
    held: bool = False
    """Nothing was stored: see `hold_duplicates`."""
    waited: bool = False
    """Other callers used all connections meanwhile; a smaller batch would help them."""


class GateFilter(msgspec.Struct, frozen=True):
    """Selects items of a job whose items have gates of their own."""

    closed: tuple[str, ...] = ()
    """Items of these gates are not leased."""
    after: str = ""
    """Start after this gate, in order of name, so that all gates get their turn.¶After the last
    gate comes the first: a claim that started late would take too much from the few gates left."""


class ClaimRequest(msgspec.Struct, frozen=True):
    """Lease up to `limit` due items of a job. `suspects` asks for items that must run alone.

    Up to `retries` of the items are retries that are due, by due time; the others are fresh rows,
    in input order. If there are too few fresh rows, more retries fill up. So a caller that asks for
    some of both lets neither wait behind the other. A fresh row is one whose due time was never put
    off. Suspects are leased by due time only.

    With `gates`, the items come from up to GATES open gates, about as many from each, and retries
    and fresh rows share each gate alike; if these give too few, items without a gate follow, as far
    as there are some among the first UNGATED due items. Without `gates`, items of any gate are
    leased.
    """

    GATES: ClassVar[int] = 64
    UNGATED: ClassVar[int] = 5_000

    worker: str
    job_id: int
    limit: int
    lease_s: float
    suspects: bool = False
    gates: GateFilter | None = None
    retries: int = 0
    ids: tuple[int, ...] | None = None
    """Only these items, in input order, of any gate."""
    skipped: float = 0.0
    """Share of the fresh rows to skip, from 0 to 1; only without `gates` and `ids`."""


class SettleReport(msgspec.Struct, frozen=True):
    """Ids whose lease was lost: their result was discarded, and an event says so."""

    refused: Sequence[int] = ()
    spawned: int = 0
    """Items that were added: follow-ups, and items that close a checkpoint."""
    kept: int = 0
    """Rows of mirrors that were received, whether they were new, changed or neither."""


class ResultColumns(msgspec.Struct, frozen=True):
    """Names that a job's results used for the first time, in order of appearance."""

    job_id: int
    names: tuple[str, ...]


class SettleRequest(msgspec.Struct, frozen=True):
    """A group commit of one worker."""

    worker: str
    settlements: Sequence[Settlement]
    columns: Sequence[ResultColumns] = ()
    attachments: Sequence[Attachment] = ()
    """At most one for each settlement. One whose settlement is refused, or does not end the item,
    is ignored."""


class HeldLease(msgspec.Struct, frozen=True, array_like=True):
    item_id: int
    epoch: int


class OverdueLease(msgspec.Struct, frozen=True):
    """A lease past its deadline on the store's clock, and its intended length."""

    item_id: int
    epoch: int
    worker: str
    lease_s: float


class RequeueRequest(msgspec.Struct, frozen=True):
    """Bring finished items back to PENDING; filters are joined by AND.

    Works on at most `limit` items with id above `after_id`, so that a million of them never hold
    the store for long; call again until the report says that nothing is left.
    """

    job_id: int
    statuses: frozenset[ItemStatus] = RETRIED
    error_class: str | None = None
    but_class: str | None = None
    """All but failures of this class."""
    signature: str | None = None
    """Only failures with this signature: see `core.signature`."""
    text: str | None = None
    """Only items whose key or summary contains this, in any case."""
    below_attempts: int | None = None
    changed_from: int | None = None
    changed_to: int | None = None
    """Only items last changed at or after `changed_from`, and before `changed_to`."""
    ids: tuple[int, ...] | None = None
    but_ids: tuple[int, ...] = ()
    """All but these."""
    reset_attempts: bool = False
    after_id: int = 0
    limit: int = 5_000


class SweptItems(msgspec.Struct, frozen=True):
    """Number of items a bounded step moved, and where the next step starts (None: all done).

    A step ends after a bounded number of rows, so it may have moved none and not be the last.
    """

    moved: int
    next_after_id: int | None


class ReviewDecision(msgspec.Struct, frozen=True):
    item_id: int
    move: ItemMove
    """ACCEPT (of `candidate`), REJECT (all of them) or PASS_OVER."""
    by: str
    candidate: str | None = None
    owner: str | None = None
    """The owner that the item must have; None: any owner."""
    reason: str = ""


class RecallRequest(msgspec.Struct, frozen=True):
    """Asks for results of one owner, by digest, finished at most `within_s` seconds ago."""

    owner: str
    digests: Sequence[str]
    within_s: float


class ReusedResult(msgspec.Struct, frozen=True):
    digest: str
    item_id: int
    result: str


class ItemStore(Protocol):
    """The engine's view of a database. Every verb is one transaction."""

    def pack(self, items: Sequence[NewItem]) -> Any:
        """The part of `enqueue_many` that needs no database, for its request.

        It may be called in any thread, so that one batch is packed while another is stored.
        """
        ...

    async def enqueue_many(self, request: EnqueueRequest) -> EnqueueReport:
        """Store rows idempotently by (job, key), with their position and counters."""
        ...

    async def claim(self, request: ClaimRequest) -> list[ClaimedItem]:
        """Lease due items of a claimable job, each with a higher epoch.

        Empty also if the job may not be claimed or the worker is not alive.
        """
        ...

    async def settle_many(self, request: SettleRequest) -> SettleReport:
        """End leases where the epoch still matches: item, attempt row and counters together.

        Attachments are committed with them: rows, follow-up items, counters of checkpoints,
        closings, and the item that closes a checkpoint whose last item has ended well. Owner caps
        do not apply to items that are added here.
        """
        ...

    async def release(self, worker: str, held: Sequence[HeldLease]) -> int:
        """Return leased items that were never started: no attempt row, same due time."""
        ...

    async def extend(self, worker: str, held: Sequence[HeldLease], lease_s: float) -> int:
        """Let leases last at least `lease_s` seconds from now; return how many are still held.

        No lease becomes shorter, and nothing else about an item changes.
        """
        ...

    async def leases_of(self, worker: str) -> list[ClaimedItem]: ...

    async def overdue(self, limit: int) -> list[OverdueLease]:
        """Leases past their deadline on the store's clock."""
        ...

    async def requeue(self, request: RequeueRequest) -> SweptItems:
        """Reprocess: a bounded step over finished items; reopens the job."""
        ...

    async def would_requeue(self, request: RequeueRequest) -> SweptItems:
        """The number of items that step would move, and where the next one would start."""
        ...

    async def decide(self, decision: ReviewDecision) -> None:
        """Apply a user's decision: item, counters, columns and an event that names the user.

        UnknownItem if that owner has no such item, IllegalMove if it is not (or no longer) in
        REVIEW, UsageError if it has no such candidate. The database accepts one decision per stay
        in REVIEW.
        """
        ...

    async def recall(self, request: RecallRequest) -> list[ReusedResult]:
        """The newest finished result for each digest."""
        ...

    async def cancel_items(self, job_id: int, limit: int = 5_000) -> int:
        """Move open items of a CANCELLED job to CANCELLED; 0 when none is left."""
        ...
