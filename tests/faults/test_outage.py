"""The store goes away or runs full while a command works."""

import os
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from headgate.core.status import ItemStatus
from tests.faults.conftest import SETTINGS
from tests.kit.command import until
from tests.kit.postgres import PostgresServer, StopMode
from tests.kit.project import Project

HANDLERS = Path(__file__).with_name("handlers.py")


RESTARTS: list[tuple[int, StopMode]] = [(300, "fast"), (1_000, "immediate")]


@pytest.mark.postgres
def test_a_command_outlasts_restarts_of_postgresql(tmp_path: Path, own_server: PostgresServer):
    """One in order, and one as after a crash."""
    url = own_server.url(own_server.create_database())
    project = Project(tmp_path, url, SETTINGS)
    file = project.rows(2_000)
    words = project.batch(f"{HANDLERS}:awaited", file, "--processes", "2", pause=0.02)
    with project.start(*words) as command:
        for moment, mode in RESTARTS:
            until(lambda m=moment: project.executed() >= m or not command.running)
            assert command.running, command.talk
            own_server.restart(mode)
        ended = command.wait()

    assert ended.code == 0, ended.err
    assert "Traceback" not in ended.err
    items = project.assert_finished(2_000)
    assert {(item.status, item.attempts) for item in items} == {(ItemStatus.DONE, 1)}
    project.assert_never_redone(items)
    # Nothing died, so nothing had to be run again.
    assert project.executions() == Counter(item.key for item in items)


class SmallDisk:
    """A file system of its own, a few megabytes large."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def mount(self, megabytes: int) -> None:
        self.folder.mkdir()
        self._call("mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(self.folder))

    def grow(self, megabytes: int) -> None:
        self._call("mount", "-o", f"remount,size={megabytes}m", str(self.folder))

    def unmount(self) -> None:
        self._call("umount", str(self.folder))

    @staticmethod
    def _call(*words: str) -> None:
        subprocess.run(words, check=True, capture_output=True, text=True)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[SmallDisk]:
    if os.geteuid() != 0:
        pytest.skip("only root can mount a file system that is small enough to run full")
    disk = SmallDisk(tmp_path / "disk")
    try:
        disk.mount(3)
    except subprocess.CalledProcessError as error:
        reason = f"no file system can be mounted here: {error.stderr.strip()}"
        if os.environ.get("CI") == "true":
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)
    yield disk
    disk.unmount()


@pytest.mark.parametrize(
    ("rows", "when"),
    [(400, "working"), (3_000, "reading")],
    ids=["while working", "while reading"],
)
def test_a_full_disk_ends_the_command_resumable(
    tmp_path: Path, small_disk: SmallDisk, rows: int, when: str
):
    """Board and temporary files lie on the same disk as the store, as on a small server."""
    project = Project(tmp_path, f"sqlite:///{small_disk.folder}/headgate.db", SETTINGS)
    wide = {} if when == "working" else dict.fromkeys(range(rows + 1), "x" * 2_000)
    file = project.rows(rows, wide)
    words = project.batch(f"{HANDLERS}:large", file, large=20_000 if when == "working" else 10)
    project.environment["TMPDIR"] = str(small_disk.folder)
    ended = project.run(*words)

    assert ended.code == 4, ended.err
    assert "no space left" in ended.err
    assert "run the same command again" in ended.err
    assert "Traceback" not in ended.err
    small_disk.grow(60)
    before = project.executions()
    committed = {key for key, result in project.results().items() if result is not None}
    assert (len(before) > 0) == (when == "working")
    ended = project.run(*words)
    assert ended.code == 0, ended.err
    items = project.assert_finished(rows)
    assert {(item.status, item.attempts, item.crashes) for item in items} == {
        (ItemStatus.DONE, 1, 0)
    }
    redone = {key for key, runs in project.executions().items() if runs > 1}
    assert not redone & committed
