"""Files that belong to nothing any more."""

import os
from pathlib import Path

from headgate.app.data_folder import DataFolder
from headgate.app.processes.file_worker import Cleanup
from headgate.app.settings import Settings
from headgate.engine.clock import SystemClock
from headgate.stores.sqlite import SqliteStore


async def test_old_parts_of_exports_are_removed(tmp_path: Path):
    """SL6."""
    folder = DataFolder(tmp_path / "data")
    export = folder.export_file(1, 7, "csv")
    export.write_bytes(b"whole")
    old, young = (export.with_name(f".7.csv.{word}.part") for word in ("old", "young"))
    for part in (old, young):
        part.write_bytes(b"half")
    os.utime(old, (1_500_000_000, 1_500_000_000))
    os.utime(export, (1_500_000_000, 1_500_000_000))
    async with SqliteStore(str(tmp_path / "headgate.db")) as store:
        await Cleanup(store, Settings(), SystemClock(), folder).clear()
    assert sorted(export.parent.iterdir()) == sorted([export, young])
