"""Items on SQLite, the hot path: a whole batch is one JSON parameter of one statement.

One statement runs in C with the interpreter lock released; a statement for each row would compete
with the handlers for that lock at every row.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from headgate.core.errors import IllegalMove, StaleIngest, UnknownJob, UsageError
from headgate.core.fault import FaultClass
from headgate.core.item import ClaimedItem, NewItem
from headgate.core.settlement import Settlement
from headgate.core.signature import kind_of
from headgate.core.status import (
    UNFINISHED,
    ItemMove,
    ItemStatus,
    JobState,
    item_after,
)
from headgate.ports.items import (
    ClaimRequest,
    EnqueueReport,
    EnqueueRequest,
    HeldLease,
    KnownRow,
    OverdueLease,
    RecallRequest,
    RequeueRequest,
    ReusedResult,
    ReviewDecision,
    SettleReport,
    SettleRequest,
    SweptItems,
)
from headgate.stores.messages import require_room_for_items
from headgate.stores.sqlite.claim import claim
from headgate.stores.sqlite.connection import SqliteDatabase, Transaction
from headgate.stores.sqlite.create import usage_of
from headgate.stores.sqlite.item_changes import decide, requeue, would_requeue
from headgate.stores.sqlite.records import add_counts, add_event, as_json


class SqliteItems:
    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    def pack(self, items: Sequence[NewItem]) -> str:
        """The rows as the one parameter that a statement takes."""
        return as_json([_row(item) for item in items])

    async def enqueue_many(self, request: EnqueueRequest) -> EnqueueReport:
        rows = self.pack(request.items) if request.packed is None else request.packed
        try:
            return await self._database.write(lambda tx: _enqueue(tx, request, rows))
        except _Held as held:
            return EnqueueReport(0, held.known, held=True)

    async def claim(self, request: ClaimRequest) -> list[ClaimedItem]:
        rows = await self._database.write(lambda tx: claim(tx, request))
        return [ClaimedItem(*row) for row in rows]

    async def settle_many(self, request: SettleRequest) -> SettleReport:
        settlements = as_json(request.settlements)
        return await self._database.write(lambda tx: _settle(tx, request, settlements))

    async def release(self, worker: str, held: Sequence[HeldLease]) -> int:
        parameter = as_json(held)

        def work(tx: Transaction) -> int:
            returned = tx.rows("release_items", worker=worker, held=parameter)
            _count_returned(tx, returned)
            return len(returned)

        return await self._database.write(work)

    async def extend(self, worker: str, held: Sequence[HeldLease], lease_s: float) -> int:
        named = {"worker": worker, "held": as_json(held), "lease_us": int(lease_s * 1_000_000)}
        return await self._database.write(lambda tx: len(tx.rows("extend_leases", **named)))

    async def leases_of(self, worker: str) -> list[ClaimedItem]:
        rows = await self._database.read(lambda tx: tx.rows("leases_of", worker=worker))
        return [ClaimedItem(*row) for row in rows]

    async def overdue(self, limit: int) -> list[OverdueLease]:
        rows = await self._database.read(lambda tx: tx.rows("overdue", limit=limit))
        return [OverdueLease(*row) for row in rows]

    async def requeue(self, request: RequeueRequest) -> SweptItems:
        for status in request.statuses:
            item_after(ItemMove.REQUEUE, status)
        return await self._database.write(lambda tx: requeue(tx, request))

    async def would_requeue(self, request: RequeueRequest) -> SweptItems:
        return await self._database.read(lambda tx: would_requeue(tx, request))

    async def decide(self, decision: ReviewDecision) -> None:
        await self._database.write(lambda tx: decide(tx, decision))

    async def recall(self, request: RecallRequest) -> list[ReusedResult]:
        digests = as_json(request.digests)

        def work(tx: Transaction) -> list[Any]:
            since = tx.now - int(request.within_s * 1_000_000)
            return tx.rows("recall", owner=request.owner, digests=digests, since=since)

        return [ReusedResult(*row) for row in await self._database.read(work)]

    async def cancel_items(self, job_id: int, limit: int = 5_000) -> int:
        return await self._database.write(lambda tx: _cancel(tx, job_id, limit))


class _Held(Exception):
    """Raised to roll the transaction back: some rows are duplicates."""

    def __init__(self, known: Sequence[KnownRow]) -> None:
        super().__init__()
        self.known = known


def _row(item: NewItem) -> tuple[str | int | None, ...]:
    failed = item.problem is not None and not item.duplicate
    kind = kind_of(FaultClass.BAD_ROW, item.problem) if failed else (None, None)
    return item.key, item.input, item.line, item.gate, item.summary, item.problem, *kind


def _enqueue(tx: Transaction, request: EnqueueRequest, rows: str) -> EnqueueReport:
    job = tx.record("job", job_id=request.job_id)
    if job is None:
        raise UnknownJob(f"job {request.job_id} does not exist")
    state = JobState(job["state"])
    if state not in UNFINISHED:
        raise UsageError(f"job {request.job_id} is {state} and takes no more items")
    if job["ingest_complete"] and not job["open"]:
        raise UsageError(f"job {request.job_id} was closed and takes no more items")
    _move_position(tx, request)
    if request.progress is not None:
        tx.change("tell_progress", job_id=request.job_id, progress=as_json(request.progress))
    newest = int(tx.rows("max_item_id")[0][0])
    values = {
        "job_id": request.job_id,
        "owner": job["owner"],
        "handler": job["handler"],
        "run": job["ingest_run"],
    }
    inserted = tx.change("insert_items", rows=rows, **values)
    known = () if inserted == len(request.items) else _known_rows(tx, request, rows, newest)
    if request.hold_duplicates and any(row.duplicate for row in known):
        raise _Held(known)
    new = tx.rows("count_new", job_id=request.job_id, newest=newest)
    add_counts(tx, [(request.job_id, status, n) for status, n in new])
    if request.open_items_cap is not None and inserted:
        require_room_for_items(job["owner"], request.open_items_cap, usage_of(tx, job["owner"]))
    return EnqueueReport(inserted, known)


def _move_position(tx: Transaction, request: EnqueueRequest) -> None:
    if request.position is None:
        return
    moved = tx.row(
        "move_position",
        job_id=request.job_id,
        position=request.position,
        expected=request.expected_position,
    )
    if moved is None:
        raise StaleIngest


def _known_rows(
    tx: Transaction,
    request: EnqueueRequest,
    rows: str,
    newest: int,
) -> Sequence[KnownRow]:
    run = tx.records("job", job_id=request.job_id)[0]["ingest_run"]
    found = tx.rows("known_rows", job_id=request.job_id, rows=rows, run=run, newest=newest)
    known: list[KnownRow] = []
    seen: dict[str, int] = {}
    for key, line, stored_line, changed, duplicate, _ in found:
        first_line = seen.setdefault(key, stored_line if duplicate else line)
        known.append(KnownRow(key, line, first_line, bool(changed), line != first_line))
    ids = {row[0]: row[5] for row in found}
    tx.change("see_again", run=run, seen=as_json([(ids[key], seen[key]) for key in seen]))
    return known


def _settle(tx: Transaction, request: SettleRequest, settlements: str) -> SettleReport:
    values = {"settlements": settlements, "worker": request.worker}
    settled = tx.change("insert_attempts", **values)
    accepted: Sequence[Settlement] = request.settlements
    refused: list[int] = []
    if settled != len(accepted):
        held = {row[0] for row in tx.rows("settled_ids", **values)}
        refused = [each.item_id for each in accepted if each.item_id not in held]
        accepted = [each for each in accepted if each.item_id in held]
        _record_discarded(tx, request, frozenset(refused))
    if any(each.gate is not None for each in accepted):
        tx.change("set_gates", **values)  # rare, and setting it always would slow every settlement
    if any(each.digest is not None for each in accepted):
        tx.change("keep_reusable", **values)
    tx.change("settle_items", **values)
    if any(each.variant is not None for each in accepted):
        tx.change("set_variants", **values)  # as rare as failures
    add_counts(tx, _count_settled(accepted))
    for columns in request.columns:
        tx.change("insert_columns", job_id=columns.job_id, names=as_json(columns.names))
    return SettleReport(refused)


def _count_settled(settlements: Iterable[Settlement]) -> Iterable[tuple[int, str, int]]:
    moved = Counter((each.job_id, each.status) for each in settlements)
    for (job_id, status), n in moved.items():
        yield job_id, ItemStatus.PROCESSING, -n
        yield job_id, status, n


def _record_discarded(tx: Transaction, request: SettleRequest, refused: frozenset[int]) -> None:
    for each in request.settlements:
        if each.item_id in refused:
            add_event(
                tx,
                "discarded",
                f"result {each.outcome} of epoch {each.epoch} by {request.worker} came too late",
                each.job_id,
                each.item_id,
            )


def _count_returned(tx: Transaction, returned: Sequence[tuple[int]]) -> None:
    for job_id, n in Counter(row[0] for row in returned).items():
        add_counts(
            tx,
            [(job_id, ItemStatus.PROCESSING, -n), (job_id, ItemStatus.PENDING, n)],
        )


def return_leases(tx: Transaction, worker: str) -> int:
    returned = tx.rows("return_leases", worker=worker)
    _count_returned(tx, returned)
    return len(returned)


def _cancel(tx: Transaction, job_id: int, limit: int) -> int:
    job = tx.record("job", job_id=job_id)
    if job is None:
        return 0
    if job["state"] != JobState.CANCELLED:
        raise IllegalMove(
            f"job {job_id} is {job['state']}: only items of a cancelled job can be cancelled",
        )
    for status in (ItemStatus.PENDING, ItemStatus.PROCESSING):
        found = tx.rows("select_open", job_id=job_id, status=status, limit=limit)
        if found:
            ids = as_json([row[0] for row in found])
            tx.change("insert_cancelled_attempts", ids=ids)
            tx.change("cancel_items", ids=ids)
            add_counts(
                tx,
                [(job_id, status, -len(found)), (job_id, ItemStatus.CANCELLED, len(found))],
            )
            return len(found)
    return 0
