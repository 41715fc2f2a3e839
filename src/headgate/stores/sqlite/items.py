"""Items on SQLite, the hot path: a whole batch is one JSON parameter of one statement.

One statement runs in C with the interpreter lock released; a statement for each row would compete
with the handlers for that lock at every row.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from headgate.core.item import ClaimedItem, NewItem
from headgate.core.settlement import Settlement
from headgate.core.status import ItemStatus
from headgate.ports.items import (
    ClaimRequest,
    EnqueueReport,
    EnqueueRequest,
    HeldLease,
    SettleReport,
    SettleRequest,
)
from headgate.stores.attachments import (
    HeldAttachment,
    Kept,
    held_attachments,
    keep,
    settle_checkpoints,
)
from headgate.stores.item_changes import SqlItems, counts_of_returned
from headgate.stores.rows import as_json
from headgate.stores.sqlite.claim import claim
from headgate.stores.sqlite.connection import SqliteDatabase, SqliteTransactions
from headgate.stores.sqlite.enqueue import enqueue, pack_rows
from headgate.stores.sqlite.transaction import (
    AwaitableTransaction,
    SqliteTransaction,
    run_at_once,
)


class SqliteItems(SqlItems):
    def __init__(self, database: SqliteDatabase) -> None:
        super().__init__(SqliteTransactions(database))
        self._file = database

    def pack(self, items: Sequence[NewItem]) -> str:
        """The rows as the one parameter that a statement takes."""
        return pack_rows(items)

    async def enqueue_many(self, request: EnqueueRequest) -> EnqueueReport:
        return await enqueue(self._file, request)

    async def claim(self, request: ClaimRequest) -> list[ClaimedItem]:
        rows = await self._file.write(lambda tx: claim(tx, request))
        return [ClaimedItem(*row) for row in rows]

    async def settle_many(self, request: SettleRequest) -> SettleReport:
        settlements = as_json(request.settlements)
        return await self._file.write(lambda tx: _settle(tx, request, settlements))

    async def release(self, worker: str, held: Sequence[HeldLease]) -> int:
        parameter = as_json(held)

        def work(tx: SqliteTransaction) -> int:
            returned = tx.rows("release_items", worker=worker, held=parameter)
            tx.add_counts(counts_of_returned(returned))
            return len(returned)

        return await self._file.write(work)

    async def extend(self, worker: str, held: Sequence[HeldLease], lease_s: float) -> int:
        named = {"worker": worker, "held": as_json(held), "lease_us": int(lease_s * 1_000_000)}
        return await self._file.write(lambda tx: len(tx.rows("extend_leases", **named)))


def _settle(tx: SqliteTransaction, request: SettleRequest, settlements: str) -> SettleReport:
    values = {"settlements": settlements, "worker": request.worker}
    settled = tx.change("insert_attempts", **values)
    accepted: Sequence[Settlement] = request.settlements
    refused: list[int] = []
    if settled != len(accepted):
        leased = {row[0] for row in tx.rows("settled_ids", **values)}
        refused = [each.item_id for each in accepted if each.item_id not in leased]
        accepted = [each for each in accepted if each.item_id in leased]
        _record_discarded(tx, request, frozenset(refused))
    held = _held(tx, request) if request.attachments else []
    shared = AwaitableTransaction(tx)
    kept = run_at_once(keep(shared, held)) if held else Kept(0, 0)
    if any(each.gate is not None for each in accepted):
        tx.change("set_gates", **values)  # rare, and setting it always would slow every settlement
    if any(each.digest is not None for each in accepted):
        tx.change("keep_reusable", **values)
    tx.change("settle_items", **values)
    if any(each.variant is not None for each in accepted):
        tx.change("set_variants", **values)  # as rare as failures
    tx.add_counts(_count_settled(accepted))
    for columns in request.columns:
        tx.change("insert_columns", job_id=columns.job_id, names=as_json(columns.names))
    closing = run_at_once(settle_checkpoints(shared, held)) if held else 0
    return SettleReport(refused, kept.spawned + closing, kept.rows)


def _held(tx: SqliteTransaction, request: SettleRequest) -> list[HeldAttachment]:
    given = (request.worker, request.attachments, request.settlements)
    return run_at_once(held_attachments(AwaitableTransaction(tx), *given))


def _count_settled(settlements: Iterable[Settlement]) -> Iterable[tuple[int, str, int]]:
    moved = Counter((each.job_id, each.status) for each in settlements)
    for (job_id, status), n in moved.items():
        yield job_id, ItemStatus.PROCESSING, -n
        yield job_id, status, n


def _record_discarded(
    tx: SqliteTransaction, request: SettleRequest, refused: frozenset[int]
) -> None:
    for each in request.settlements:
        if each.item_id in refused:
            tx.add_event(
                "discarded",
                f"result {each.outcome} of epoch {each.epoch} by {request.worker} came too late",
                each.job_id,
                each.item_id,
            )
