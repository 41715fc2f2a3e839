"""Exports are written, or fail with a reason."""

import asyncio
from pathlib import Path

from headgate.app.data_folder import DataFolder
from headgate.app.processes.export_writing import ExportWriter
from headgate.app.server_policy import ServerPolicy
from headgate.engine.clock import SystemClock
from headgate.ports.exports import ExportState, NewExport
from headgate.stores.sqlite import SqliteStore
from tests.kit import factories


async def test_an_export_fails_with_its_reason_whatever_the_error_is(tmp_path: Path):
    async with SqliteStore(str(tmp_path / "headgate.db")) as store:
        job = await factories.job(store, 1)
        # An unknown option raises a ValueError, which is not a HeadgateError.
        asked = await store.exports.ask_export(
            NewExport(job.id, "csv", "ann", {"formulas": "other"}, None)
        )
        folder = DataFolder(tmp_path / "data")
        writer = ExportWriter(store, ServerPolicy(), SystemClock(), folder, "w1")
        before = asyncio.all_tasks()
        await writer.check()
        await asyncio.wait(asyncio.all_tasks() - before, timeout=30.0)
        made = await store.exports.export(job.id, asked.id)
        await writer.stop()
    assert made.state is ExportState.FAILED
    assert "'other' is not a valid Formulas" in (made.error or "")
