"""Leases due items: some retries and many fresh rows, over all or gate by gate."""

from collections.abc import Iterator, Mapping
from itertools import islice, takewhile
from typing import Any

from headgate.core.status import CLAIMABLE, ItemStatus, JobState
from headgate.ports.items import ClaimRequest, GateFilter
from headgate.stores.rows import as_json
from headgate.stores.sqlite.transaction import SqliteTransaction


def claim(tx: SqliteTransaction, request: ClaimRequest) -> list[Any]:
    job = tx.record("job", job_id=request.job_id)
    if job is None or tx.row("worker_alive", worker=request.worker) is None:
        return []
    state = JobState(job["state"])
    if state not in CLAIMABLE and not (state is JobState.INGESTING and job["eager"]):
        return []
    rows = _due(tx, request)
    if not rows:
        return []
    tx.change(
        "lease_items",
        worker=request.worker,
        deadline=tx.now + int(request.lease_s * 1_000_000),
        ids=as_json([row[0] for row in rows]),
    )
    tx.add_counts(
        [
            (request.job_id, ItemStatus.PENDING, -len(rows)),
            (request.job_id, ItemStatus.PROCESSING, len(rows)),
        ],
    )
    if state is JobState.QUEUED:
        _start(tx, request.job_id)
    return rows


def _due(tx: SqliteTransaction, request: ClaimRequest) -> list[Any]:
    if request.ids is not None:
        chosen = {"ids": as_json(request.ids), "suspects": request.suspects}
        return tx.rows("select_chosen", job_id=request.job_id, limit=request.limit, **chosen)
    if request.suspects:
        return tx.rows("select_suspects", job_id=request.job_id, limit=request.limit)
    if request.gates is not None:
        return _due_at_gates(tx, request, request.gates)
    where = {"job_id": request.job_id, "first": _first(tx, request)}
    retries, fresh = _mixed(tx, request.limit, request.retries, where)
    return fresh + retries


def _first(tx: SqliteTransaction, request: ClaimRequest) -> int:
    if not request.skipped:
        return 0
    row = tx.row("fresh_after", job_id=request.job_id, skipped=request.skipped)
    return 0 if row is None else int(row[0])


def _mixed(
    tx: SqliteTransaction, limit: int, asked: int, where: Mapping[str, Any]
) -> tuple[list[Any], list[Any]]:
    """Up to `asked` retries, then fresh rows, then more retries if fresh rows are too few."""
    at = "_at" if "gate" in where else ""
    asked = min(asked, limit)
    retries = tx.rows(f"select_retries{at}", limit=asked, skip=0, **where) if asked else []
    fresh = tx.rows(f"select_fresh{at}", limit=limit - len(retries), **where)
    left = limit - len(retries) - len(fresh)
    if left and len(retries) == asked:
        retries += tx.rows(f"select_retries{at}", limit=left, skip=asked, **where)
    return retries, fresh


def _due_at_gates(tx: SqliteTransaction, request: ClaimRequest, gates: GateFilter) -> list[Any]:
    open_gates = list(islice(_open_gates(tx, request.job_id, gates), request.GATES))
    each = -(-request.limit // max(len(open_gates), 1))
    each_asked = -(-request.retries // max(len(open_gates), 1))
    rows: list[Any] = []
    asked = request.retries
    for gate in open_gates:
        limit = min(each, request.limit - len(rows))
        if not limit:
            break
        where = {"job_id": request.job_id, "gate": gate}
        retries, fresh = _mixed(tx, limit, min(each_asked, asked), where)
        asked = max(asked - len(retries), 0)
        rows += fresh + retries
    left = request.limit - len(rows)
    if left:
        where = {"job_id": request.job_id, "limit": left, "look": request.UNGATED}
        rows += tx.rows("select_ungated", **where)
    return rows


def _open_gates(tx: SqliteTransaction, job_id: int, gates: GateFilter) -> Iterator[str]:
    """Gates with pending items, once round; one index read for each of them."""
    yield from (gate for gate in _gates(tx, job_id, gates.after) if gate not in gates.closed)
    if gates.after:
        before = takewhile(lambda gate: gate <= gates.after, _gates(tx, job_id, ""))
        yield from (gate for gate in before if gate not in gates.closed)


def _gates(tx: SqliteTransaction, job_id: int, after: str) -> Iterator[str]:
    found = tx.row("next_gate", job_id=job_id, after=after)
    while found is not None:
        yield found[0]
        found = tx.row("next_gate", job_id=job_id, after=found[0])


def _start(tx: SqliteTransaction, job_id: int) -> None:
    tx.records(
        "move_job",
        job_id=job_id,
        source=JobState.QUEUED,
        target=JobState.RUNNING,
        reason="",
        resume_us=None,
    )
    tx.add_event("job_state", "started", job_id)
