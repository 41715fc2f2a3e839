"""Stores rows: a batch is one statement, which leaves out the keys that the job already has."""

from collections.abc import Sequence

from headgate.core.errors import StaleIngest, UnknownJob, UsageError
from headgate.core.fault import FaultClass
from headgate.core.item import NewItem
from headgate.core.signature import kind_of
from headgate.core.status import UNFINISHED, JobState
from headgate.ports.access import Usage
from headgate.ports.items import EnqueueReport, EnqueueRequest, KnownRow
from headgate.stores.messages import require_room_for_items
from headgate.stores.rows import as_json
from headgate.stores.sqlite.connection import SqliteDatabase
from headgate.stores.sqlite.transaction import SqliteTransaction


class _Held(Exception):
    """Raised to roll the transaction back: some rows are duplicates."""

    def __init__(self, known: Sequence[KnownRow]) -> None:
        super().__init__()
        self.known = known


def pack_rows(items: Sequence[NewItem]) -> str:
    """The rows as the one parameter that a statement takes."""
    return as_json([_row(item) for item in items])


def _row(item: NewItem) -> tuple[str | int | None, ...]:
    failed = item.problem is not None and not item.duplicate
    kind = kind_of(FaultClass.BAD_ROW, item.problem) if failed else (None, None)
    texts = (item.key, item.input, item.line, item.gate, item.summary, item.problem)
    return *texts, *kind, item.checkpoint


async def enqueue(database: SqliteDatabase, request: EnqueueRequest) -> EnqueueReport:
    rows = pack_rows(request.items) if request.packed is None else request.packed
    try:
        return await database.write(lambda tx: _enqueue(tx, request, rows))
    except _Held as held:
        return EnqueueReport(0, held.known, held=True)


def _enqueue(tx: SqliteTransaction, request: EnqueueRequest, rows: str) -> EnqueueReport:
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
    tx.add_counts([(request.job_id, status, n) for status, n in new])
    if request.open_items_cap is not None and inserted:
        require_room_for_items(job["owner"], request.open_items_cap, _usage(tx, job["owner"]))
    return EnqueueReport(inserted, known)


def _move_position(tx: SqliteTransaction, request: EnqueueRequest) -> None:
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
    tx: SqliteTransaction,
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


def _usage(tx: SqliteTransaction, owner: str) -> Usage:
    return Usage(*tx.rows("usage", owner=owner)[0])
