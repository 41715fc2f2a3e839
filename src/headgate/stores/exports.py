"""Exports that the server makes."""

from headgate.core.errors import UnknownExport, UnknownJob
from headgate.core.fair_turns import Waiting
from headgate.core.words import counted
from headgate.ports.exports import ExportDone, ExportRecord, ExportState, NewExport
from headgate.stores.messages import require_room_for_export
from headgate.stores.rows import as_json, export_from, in_us
from headgate.stores.transaction import SqlDatabase, Transaction


class SqlExports:
    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    async def ask_export(self, new: NewExport) -> ExportRecord:
        async def work(tx: Transaction) -> ExportRecord:
            if await tx.locked("job", job_id=new.job_id) is None:
                raise UnknownJob(f"job {new.job_id} does not exist")
            # Two requests of one user at once are counted one after the other.
            await tx.lock("owner", owner=new.asked_by)
            [(unfinished,)] = await tx.rows("unfinished_exports", asked_by=new.asked_by)
            require_room_for_export(new.asked_by, new.unfinished_cap, unfinished)
            [row] = await tx.records(
                "ask_export",
                job_id=new.job_id,
                format=new.format,
                asked_by=new.asked_by,
                options=as_json(new.options),
            )
            made = export_from(row)
            message = f"{made.id} ({made.format}) by {new.asked_by}"
            await tx.add_event("export_asked", message, new.job_id)
            return made

        return await self._database.write(work, repeatable=False)

    async def exports_to_make(self, per_user: int) -> list[Waiting]:
        rows = await self._database.read(lambda tx: tx.rows("exports_to_make", per_user=per_user))
        return [Waiting(*row) for row in rows]

    async def take_export(self, export_id: int, holder: str, ttl_s: float) -> ExportRecord | None:
        async def work(tx: Transaction) -> ExportRecord | None:
            row = await tx.record("take_export", id=export_id, holder=holder, ttl_us=in_us(ttl_s))
            if row is None:
                return None
            await tx.add_event("export_state", f"{row['id']} → RUNNING by {holder}", row["job_id"])
            return export_from(row)

        return await self._database.write(work)

    async def advance_export(self, export_id: int, holder: str, rows: int, ttl_s: float) -> bool:
        values = {"id": export_id, "holder": holder, "rows": rows, "ttl_us": in_us(ttl_s)}
        return bool(await self._database.write_one(lambda tx: tx.rows("advance_export", **values)))

    async def finish_export(self, export_id: int, holder: str, done: ExportDone) -> bool:
        async def work(tx: Transaction) -> bool:
            row = await tx.record(
                "finish_export",
                id=export_id,
                holder=holder,
                rows=done.rows,
                sha256=done.sha256,
                file=done.file,
                size=done.size,
                report=as_json(done.report),
            )
            if row is None:
                return tx.again and await _was_committed(tx, export_id, done)
            size = f"{counted(done.rows, 'row')}, {counted(done.size, 'byte')}"
            await tx.add_event("export_state", f"{export_id} → DONE: {size}", row["job_id"])
            return True

        return await self._database.write(work)

    async def fail_export(self, export_id: int, holder: str, reason: str) -> bool:
        async def work(tx: Transaction) -> bool:
            row = await tx.record("fail_export", id=export_id, holder=holder, reason=reason)
            if row is not None:
                message = f"{export_id} → FAILED: {reason}"
                await tx.add_event("export_state", message, row["job_id"])
            return row is not None

        return await self._database.write(work)

    async def export(self, job_id: int, export_id: int) -> ExportRecord:
        row = await self._database.read(lambda tx: tx.record("export", id=export_id, job_id=job_id))
        if row is None:
            raise UnknownExport(f"job {job_id} has no export {export_id}")
        return export_from(row)

    async def exports(self, job_id: int) -> list[ExportRecord]:
        rows = await self._database.read(lambda tx: tx.records("exports", job_id=job_id))
        return [export_from(row) for row in rows]

    async def drop_exports(self, older_than_us: int, limit: int = 1_000) -> list[ExportRecord]:
        async def work(tx: Transaction) -> list[ExportRecord]:
            rows = await tx.records("drop_exports", older_than_us=older_than_us, limit=limit)
            for row in rows:
                await tx.add_event("export_dropped", f"{row['id']} was too old", row["job_id"])
            return [export_from(row) for row in rows]

        return await self._database.write(work)


async def _was_committed(tx: Transaction, export_id: int, done: ExportDone) -> bool:
    """True if a try that was cut off was committed."""
    row = await tx.record("any_export", id=export_id)
    if row is None:
        return False
    export = export_from(row)
    return export.state is ExportState.DONE and export.sha256 == done.sha256
