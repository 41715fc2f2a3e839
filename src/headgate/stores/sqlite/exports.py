"""Exports that the server makes, on SQLite."""

from headgate.core.errors import UnknownExport, UnknownJob
from headgate.core.slots import Waiting
from headgate.core.words import counted
from headgate.ports.exports import ExportDone, ExportRecord, NewExport
from headgate.stores.messages import require_room_for_export
from headgate.stores.rows import export_from
from headgate.stores.sqlite.connection import SqliteDatabase, Transaction
from headgate.stores.sqlite.records import add_event, as_json

MICROSECONDS = 1_000_000


class SqliteExports:
    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def ask_export(self, new: NewExport) -> ExportRecord:
        def work(tx: Transaction) -> ExportRecord:
            if tx.record("job", job_id=new.job_id) is None:
                raise UnknownJob(f"job {new.job_id} does not exist")
            [(unfinished,)] = tx.rows("unfinished_exports", asked_by=new.asked_by)
            require_room_for_export(new.asked_by, new.unfinished_cap, unfinished)
            rows = tx.records(
                "ask_export",
                job_id=new.job_id,
                format=new.format,
                asked_by=new.asked_by,
                options=as_json(new.options),
            )
            made = export_from(rows[0])
            add_event(
                tx, "export_asked", f"{made.id} ({made.format}) by {new.asked_by}", new.job_id
            )
            return made

        return await self._database.write(work)

    async def exports_to_make(self, per_user: int) -> list[Waiting]:
        rows = await self._database.read(lambda tx: tx.rows("exports_to_make", per_user=per_user))
        return [Waiting(*row) for row in rows]

    async def take_export(self, export_id: int, holder: str, ttl_s: float) -> ExportRecord | None:
        ttl_us = int(ttl_s * MICROSECONDS)

        def work(tx: Transaction) -> ExportRecord | None:
            row = tx.record("take_export", id=export_id, holder=holder, ttl_us=ttl_us)
            if row is None:
                return None
            add_event(tx, "export_state", f"{row['id']} → RUNNING by {holder}", row["job_id"])
            return export_from(row)

        return await self._database.write(work)

    async def advance_export(self, export_id: int, holder: str, rows: int, ttl_s: float) -> bool:
        values = {"id": export_id, "holder": holder, "rows": rows}
        ttl_us = int(ttl_s * MICROSECONDS)
        found = await self._database.write(
            lambda tx: tx.row("advance_export", ttl_us=ttl_us, **values)
        )
        return found is not None

    async def finish_export(self, export_id: int, holder: str, done: ExportDone) -> bool:
        def work(tx: Transaction) -> bool:
            row = tx.record(
                "finish_export",
                id=export_id,
                holder=holder,
                rows=done.rows,
                sha256=done.sha256,
                file=done.file,
                size=done.size,
                report=as_json(done.report),
            )
            if row is not None:
                message = (
                    f"{export_id} → DONE: {counted(done.rows, 'row')}, {counted(done.size, 'byte')}"
                )
                add_event(tx, "export_state", message, row["job_id"])
            return row is not None

        return await self._database.write(work)

    async def fail_export(self, export_id: int, holder: str, reason: str) -> bool:
        def work(tx: Transaction) -> bool:
            row = tx.record("fail_export", id=export_id, holder=holder, reason=reason)
            if row is not None:
                add_event(tx, "export_state", f"{export_id} → FAILED: {reason}", row["job_id"])
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
        def work(tx: Transaction) -> list[ExportRecord]:
            rows = tx.records("drop_exports", before=tx.now - older_than_us, limit=limit)
            for row in rows:
                add_event(tx, "export_dropped", f"{row['id']} was too old", row["job_id"])
            return [export_from(row) for row in rows]

        return await self._database.write(work)
