"""What holds rows, configs and password hashes is for its owner's eyes alone."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from headgate.engine.clock import SystemClock
from headgate.net.cache import HttpCache
from headgate.stores.sqlite.store import SqliteStore
from headgate.transfer.blobs import LocalBlobs
from tests.kit import factories
from tests.kit.http import no_trouble


@pytest.fixture(autouse=True)
def _usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def open_to_others(folder: Path) -> list[str]:
    """What another user of the machine could read or enter."""
    return [
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if stat.S_IMODE(path.stat().st_mode) & 0o077
    ]


async def test_a_store_and_its_backup_are_private(tmp_path: Path):
    async with SqliteStore(tmp_path / "headgate.db") as store:
        await factories.job(store, 3)
        await store.backup(str(tmp_path / "copy.db"))
        assert names_in(tmp_path) >= {
            "headgate.db",
            "headgate.db-wal",
            "headgate.db-shm",
            "copy.db",
        }
        assert open_to_others(tmp_path) == []


async def test_a_store_that_a_group_can_read_keeps_its_mode(tmp_path: Path):
    async with SqliteStore(tmp_path / "headgate.db"):
        pass
    (tmp_path / "headgate.db").chmod(0o660)
    async with SqliteStore(tmp_path / "headgate.db") as store:
        await factories.job(store, 3)
        assert stat.S_IMODE((tmp_path / "headgate.db").stat().st_mode) == 0o660


async def test_a_cache_and_what_it_keeps_are_private(tmp_path: Path):
    clock = SystemClock()
    blobs = LocalBlobs(tmp_path / "cache" / "blobs" / "of" / "one", clock)
    async with HttpCache(tmp_path / "cache", blobs, clock, warn=no_trouble):
        writer = await blobs.create()
        await writer.write(b"bytes")
        await writer.commit()
        assert len(names_in(tmp_path / "cache")) > 2
        assert open_to_others(tmp_path) == []
    await blobs.close()
