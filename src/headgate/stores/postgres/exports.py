"""Exports that the server makes, on PostgreSQL."""

from headgate.core.errors import UnknownExport, UnknownJob
from headgate.core.slots import Waiting
from headgate.core.words import counted
from headgate.ports.exports import ExportDone, ExportRecord, ExportState, NewExport
from headgate.stores.messages import require_room_for_export
from headgate.stores.postgres.connection import PostgresDatabase, PostgresSession
from headgate.stores.postgres.records import add_event, as_json, fitting
from headgate.stores.rows import export_from

MICROSECONDS = 1_000_000


class PostgresExports:
    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database

    async def ask_export(self, new: NewExport) -> ExportRecord:
        values = fitting(
            job_id=new.job_id,
            format=new.format,
            asked_by=new.asked_by,
            options=as_json(new.options),
        )

        async def work(session: PostgresSession) -> ExportRecord:
            if await session.record("lock_job", job_id=new.job_id) is None:
                raise UnknownJob(f"job {new.job_id} does not exist")
            # Two requests of one user at once are counted one after the other.
            await session.rows("lock_owner", **fitting(owner=new.asked_by))
            found = await session.rows("unfinished_exports", **fitting(asked_by=new.asked_by))
            require_room_for_export(new.asked_by, new.unfinished_cap, found[0][0])
            made = export_from((await session.records("ask_export", **values))[0])
            message = f"{made.id} ({made.format}) by {new.asked_by}"
            await add_event(session, "export_asked", message, new.job_id)
            return made

        return await self._database.write(work, repeatable=False)

    async def exports_to_make(self, per_user: int) -> list[Waiting]:
        rows = await self._database.single(
            lambda session: session.rows("exports_to_make", per_user=per_user)
        )
        return [Waiting(*row) for row in rows]

    async def take_export(self, export_id: int, holder: str, ttl_s: float) -> ExportRecord | None:
        values = {"id": export_id, "holder": holder, "ttl_us": int(ttl_s * MICROSECONDS)}

        async def work(session: PostgresSession) -> ExportRecord | None:
            record = await session.record("take_export", **values)
            if record is None:
                return None
            message = f"{record['id']} → RUNNING by {holder}"
            await add_event(session, "export_state", message, record["job_id"])
            return export_from(record)

        return await self._database.write(work)

    async def advance_export(self, export_id: int, holder: str, rows: int, ttl_s: float) -> bool:
        values = {"id": export_id, "holder": holder, "rows": rows}
        ttl_us = int(ttl_s * MICROSECONDS)
        found = await self._database.single(
            lambda session: session.rows("advance_export", ttl_us=ttl_us, **values)
        )
        return bool(found)

    async def finish_export(self, export_id: int, holder: str, done: ExportDone) -> bool:
        values = fitting(
            id=export_id,
            holder=holder,
            rows=done.rows,
            sha256=done.sha256,
            file=done.file,
            size=done.size,
            report=as_json(done.report),
        )

        async def work(session: PostgresSession) -> bool:
            record = await session.record("finish_export", **values)
            if record is None:
                return session.again and await _was_committed(session, export_id, done)
            message = (
                f"{export_id} → DONE: {counted(done.rows, 'row')}, {counted(done.size, 'byte')}"
            )
            await add_event(session, "export_state", message, record["job_id"])
            return True

        return await self._database.write(work)

    async def fail_export(self, export_id: int, holder: str, reason: str) -> bool:
        values = fitting(id=export_id, holder=holder, reason=reason)

        async def work(session: PostgresSession) -> bool:
            record = await session.record("fail_export", **values)
            if record is not None:
                message = f"{export_id} → FAILED: {reason}"
                await add_event(session, "export_state", message, record["job_id"])
            return record is not None

        return await self._database.write(work)

    async def export(self, job_id: int, export_id: int) -> ExportRecord:
        record = await self._database.single(
            lambda session: session.record("export", id=export_id, job_id=job_id)
        )
        if record is None:
            raise UnknownExport(f"job {job_id} has no export {export_id}")
        return export_from(record)

    async def exports(self, job_id: int) -> list[ExportRecord]:
        records = await self._database.single(
            lambda session: session.records("exports", job_id=job_id)
        )
        return [export_from(record) for record in records]

    async def drop_exports(self, older_than_us: int, limit: int = 1_000) -> list[ExportRecord]:
        async def work(session: PostgresSession) -> list[ExportRecord]:
            records = await session.records(
                "drop_exports", older_than_us=older_than_us, limit=limit
            )
            for record in records:
                message = f"{record['id']} was too old"
                await add_event(session, "export_dropped", message, record["job_id"])
            return [export_from(record) for record in records]

        return await self._database.write(work)


async def _was_committed(session: PostgresSession, export_id: int, done: ExportDone) -> bool:
    """True if a try that was cut off was committed."""
    record = await session.record("any_export", id=export_id)
    if record is None:
        return False
    export = export_from(record)
    return export.state is ExportState.DONE and export.sha256 == done.sha256
