"""Write requested exports to files."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import msgspec

from headgate.app.data_folder import DataFolder
from headgate.app.processes.background_work import BackgroundWork, Work
from headgate.app.server_policy import ServerPolicy
from headgate.app.telemetry import logger
from headgate.core.errors import HeadgateError
from headgate.core.fair_turns import Slots
from headgate.core.fault import error_text
from headgate.core.redact_text import redacted
from headgate.engine.export import Export, ExportReport
from headgate.ports.clock import Clock
from headgate.ports.exports import ExportDone, ExportRecord
from headgate.ports.store import Store
from headgate.transfer.files import remove_parts
from headgate.transfer.formats.cells import Formulas
from headgate.transfer.sources import WriteOptions, open_writer

HOLD_S = 10.0
"""Seconds until another process may take over from one that stopped renewing."""
RENEW_S = 2.5


@asynccontextmanager
async def renewed_claim(hold: Callable[[], Awaitable[object]], clock: Clock) -> AsyncIterator[None]:
    task = asyncio.create_task(_renew(hold, clock))
    try:
        yield
    finally:
        task.cancel()


async def _renew(hold: Callable[[], Awaitable[object]], clock: Clock) -> None:
    while True:
        await clock.sleep(RENEW_S)
        try:
            await hold()
        except HeadgateError:
            continue
        except Exception as error:  # noqa: BLE001  the loop continues: the claim may be renewed next time
            logger().warning("the claim on an export could not be renewed", error=repr(error))


class _Lost(Exception):
    """Another process writes this export by now, or it was deleted."""


class ExportWriter:
    def __init__(
        self, store: Store, policy: ServerPolicy, clock: Clock, folder: DataFolder, name: str
    ) -> None:
        self._store = store
        self._clock = clock
        self._folder = folder
        self._name = name
        self._per_user = policy.exports_per_user
        self._running = BackgroundWork(Slots(policy.exports_at_once, policy.exports_per_user))

    async def check(self) -> None:
        waiting = await self._store.exports.exports_to_make(self._per_user)
        await self._running.fill(waiting, self._take)

    async def stop(self) -> None:
        """Cancel running exports; the next process starts them again."""
        await self._running.stop()

    async def _take(self, export_id: int) -> Work | None:
        record = await self._store.exports.take_export(export_id, self._name, HOLD_S)
        return self._write(record) if record else None

    async def _write(self, record: ExportRecord) -> None:
        exports = self._store.exports
        path = self._folder.export_file(record.job_id, record.id, record.format)
        try:
            report = await self._export(record, path)
            done = ExportDone(
                rows=report.rows,
                sha256=report.sha256,
                file=str(path.relative_to(self._folder.root)),
                size=path.stat().st_size,
                report=msgspec.to_builtins(report),
            )
            await exports.finish_export(record.id, self._name, done)
        except _Lost:
            return
        except (HeadgateError, OSError) as error:
            logger().warning("export failed", export=record.id, reason=str(error))
            await self._fail(record, str(error))
        except Exception as error:  # noqa: BLE001  the writer goes on with the next export
            logger().error("export failed", export=record.id, exc_info=error)
            await self._fail(record, redacted(error_text(error)))
        finally:
            await self._store.notifier.ring()

    async def _fail(self, record: ExportRecord, reason: str) -> None:
        with suppress(HeadgateError):
            await self._store.exports.fail_export(record.id, self._name, reason)

    async def _export(self, record: ExportRecord, path: Path) -> ExportReport:
        # Another process may have been killed while it wrote the same export.
        await asyncio.to_thread(remove_parts, path)
        formulas = Formulas(record.options.get("formulas", Formulas.NEUTRAL))
        writer = open_writer(path, WriteOptions(record.format, formulas))
        written = 0

        async def hold() -> bool:
            return await self._store.exports.advance_export(record.id, self._name, written, HOLD_S)

        async def on_progress(rows: int) -> None:
            nonlocal written
            written = rows
            if not await hold():
                raise _Lost

        export = Export(self._store.reads, self._clock)
        async with renewed_claim(hold, self._clock):  # finishing a large workbook takes a while
            return await export.run(record.job_id, writer, on_progress)
