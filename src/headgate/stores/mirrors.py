"""Mirrors: passes, streams, checkpoints, rows and their changes."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from headgate.core.errors import IllegalMove, UnknownJob, UnknownMirror, UsageError
from headgate.core.job import Job
from headgate.core.mirror import ChangeKind
from headgate.ports.mirrors import (
    Checkpoint,
    DiffQuery,
    DiffRow,
    LoggedChange,
    Mirror,
    MirrorQuery,
    NewCheckpoint,
    PageResult,
    PassRequest,
    RowChange,
    RowQuery,
    StoredRow,
    Stream,
    StreamField,
)
from headgate.stores.create import create
from headgate.stores.rows import as_json, job_from
from headgate.stores.spawn import SpawnedItem, spawn
from headgate.stores.transaction import SqlDatabase, Transaction


class SqlMirrors:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def begin_pass(self, request: PassRequest) -> Job:
        _require_sound(request)
        return await self._database.write(lambda tx: _begin(tx, request))

    async def mirrors(self, owner: str | None = None) -> list[Mirror]:
        rows = await self._database.read(lambda tx: tx.records("mirrors", owner=owner))
        return [_mirror(row) for row in rows]

    async def mirror(self, owner: str, name: str) -> Mirror | None:
        values = {"owner": owner, "name": name}
        row = await self._database.read(lambda tx: tx.record("mirror_of_owner", **values))
        return None if row is None else _mirror(row)

    async def find(self, query: MirrorQuery) -> Mirror:
        name = "mirror_by_id" if query.pass_id is None else "mirror_of_pass"
        values = msgspec.structs.asdict(query)
        row = await self._database.read(lambda tx: tx.record(name, **values))
        if row is not None:
            return _mirror(row)
        if query.pass_id is not None:
            raise UnknownJob(f"no pass over a mirror has the number {query.pass_id}")
        raise UnknownMirror(f"mirror {query.mirror_id} does not exist")

    async def streams(self, mirror_id: int) -> list[Stream]:
        return [Stream(*row) for row in await self._rows("streams", mirror_id=mirror_id)]

    async def passes(self, mirror_id: int, before: int | None, limit: int) -> list[int]:
        rows = await self._rows("passes", mirror_id=mirror_id, before=before, limit=limit)
        return [row[0] for row in rows]

    async def checkpoints(self, job_id: int) -> list[Checkpoint]:
        rows = await self._database.read(lambda tx: tx.records("checkpoints", job_id=job_id))
        return [_checkpoint(row) for row in rows]

    async def page_results(
        self, job_id: int, checkpoint: str, after: int, limit: int
    ) -> list[PageResult]:
        place = {"job_id": job_id, "checkpoint": checkpoint, "after": after, "limit": limit}
        return [PageResult(*row) for row in await self._rows("page_results", **place)]

    async def rows(self, query: RowQuery) -> list[StoredRow]:
        values = msgspec.structs.asdict(query)
        return [StoredRow(*row) for row in await self._rows("mirror_rows", **values)]

    async def row(self, stream_id: int, row_id: str) -> StoredRow | None:
        found = await self._rows("mirror_row", stream_id=stream_id, row_id=row_id)
        return StoredRow(*found[0]) if found else None

    async def changes(self, stream_id: int, after: int, limit: int) -> list[RowChange]:
        rows = await self._rows("row_changes", stream_id=stream_id, after=after, limit=limit)
        return [_change(row) for row in rows]

    async def changes_of(self, row: int) -> list[RowChange]:
        return [_change(each) for each in await self._rows("changes_of_row", number=row)]

    async def diff_rows(self, query: DiffQuery) -> list[DiffRow]:
        return await self._database.read(lambda tx: _diff_rows(tx, query))

    async def fields(self, stream_id: int) -> list[StreamField]:
        rows = await self._rows("stream_fields", streams=[stream_id])
        return [StreamField(*row[1:]) for row in rows]

    async def forget(self, mirror_id: int, limit: int = 5_000) -> int:
        return await self._database.write(lambda tx: _forget(tx, mirror_id, limit))

    async def _rows(self, name: str, **values: Any) -> list[Any]:
        return await self._database.read(lambda tx: tx.rows(name, **values))


def _require_sound(request: PassRequest) -> None:
    """Raise UsageError for a pass that could never be closed."""
    names = [each.name for each in request.checkpoints]
    if not names or len(set(names)) < len(names):
        raise UsageError("a pass needs at least one checkpoint, each with another name")
    for each in request.checkpoints:
        if each.after and each.after not in names:
            raise UsageError(f"checkpoint {each.name!r} waits for {each.after!r}: add that one")
    unknown = {item.checkpoint for item in request.items} - {"", *names}
    if unknown:
        raise UsageError(f"an item names the checkpoint {min(unknown)!r}: add that one")
    if request.job.open or any(item.problem is not None for item in request.items):
        raise UsageError("a pass is not an open queue, and none of its first items has a problem")


async def _begin(tx: Transaction, request: PassRequest) -> Job:
    owner = request.job.owner
    # Two requests at once are answered one after the other.
    await tx.lock("owner", owner=owner)
    known = await tx.record("mirror_of_owner", owner=owner, name=request.mirror)
    if known is not None and (unfinished := await _unfinished(tx, known["id"])):
        return unfinished
    job = await create(tx, request.job)
    if job.made_before:
        return job
    [mirror] = await tx.records(
        "put_mirror",
        owner=owner,
        name=request.mirror,
        source=as_json(request.source),
        digest=request.digest,
        history=request.history,
    )
    streams = list(dict.fromkeys(each.stream for each in request.checkpoints))
    await tx.change("put_streams", mirror_id=mirror["id"], names=streams)
    place = {"job_id": job.id, "mirror_id": mirror["id"]}
    table = tx.table(_columns(request.checkpoints))
    await tx.change("insert_checkpoints", **place, **table)
    [row] = await tx.records("start_pass", **place)
    await spawn(tx, [SpawnedItem.of(job.id, item) for item in request.items])
    await tx.add_event("job_state", f"{job.state} → {row['state']}: the pass begins", job.id)
    return job_from(row)


async def _unfinished(tx: Transaction, mirror_id: int) -> Job | None:
    row = await tx.record("unfinished_pass", mirror_id=mirror_id)
    return None if row is None else msgspec.structs.replace(job_from(row), made_before=True)


def _columns(checkpoints: Sequence[NewCheckpoint]) -> Mapping[str, Sequence[Any]]:
    return {
        "names": [each.name for each in checkpoints],
        "streams": [each.stream for each in checkpoints],
        "parents": [each.after for each in checkpoints],
        "modes": [each.mode for each in checkpoints],
        "since": [each.since for each in checkpoints],
        "closings": [as_json(each.closing) for each in checkpoints],
    }


FORGOTTEN = (
    "forget_fields",
    "forget_checkpoints",
    "forget_passes",
    "forget_streams",
    "forget_mirror",
)


async def _forget(tx: Transaction, mirror_id: int, limit: int) -> int:
    """One step: some changes, else some rows, else the rest."""
    await tx.lock("mirrors", ids=[mirror_id])
    unfinished = await _unfinished(tx, mirror_id)
    if unfinished is not None:
        raise IllegalMove(f"job {unfinished.id} is {unfinished.state}: cancel this pass first")
    if changes := await tx.change("forget_changes", mirror_id=mirror_id, limit=limit):
        return changes
    found = await tx.rows("rows_to_forget", mirror_id=mirror_id, limit=limit)
    if found:
        numbers = [row[0] for row in found]
        await tx.change("forget_bodies", numbers=numbers)
        await tx.change("forget_rows", numbers=numbers)
        return len(numbers)
    for query in FORGOTTEN:
        await tx.change(query, mirror_id=mirror_id)
    return 0


async def _diff_rows(tx: Transaction, query: DiffQuery) -> list[DiffRow]:
    rows = await tx.rows("diff_rows", **msgspec.structs.asdict(query))
    numbers = [row[0] for row in rows]
    logs: dict[int, list[LoggedChange]] = {number: [] for number in numbers}
    found = await tx.rows("diff_log", numbers=numbers, older=query.older)
    for number, pass_id, kind, before in found:
        logs[number].append(LoggedChange(pass_id, ChangeKind(kind), before))
    return [
        DiffRow(number, row_id, body, first, bool(deleted), absent, logs[number])
        for number, row_id, body, first, deleted, absent in rows
    ]


def _mirror(row: Mapping[str, Any]) -> Mirror:
    source = msgspec.json.decode(row["source"])
    return msgspec.convert({**row, "source": source, "history": bool(row["history"])}, Mirror)


def _checkpoint(row: Mapping[str, Any]) -> Checkpoint:
    evidence = None if row["evidence"] is None else msgspec.json.decode(row["evidence"])
    values = {**row, "after": row["after_checkpoint"], "evidence": evidence}
    return msgspec.convert(values, Checkpoint)


def _change(row: Sequence[Any]) -> RowChange:
    number, row_number, row_id, pass_id, kind, before, at = row
    return RowChange(number, row_number, row_id, pass_id, ChangeKind(kind), before, at)
