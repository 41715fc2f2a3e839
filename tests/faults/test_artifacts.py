"""A process that fills a folder is killed, or is not alone in it: no half file shows."""

import asyncio
import os
import select
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from headgate.transfer.artifacts.content_store import STORE
from headgate.transfer.artifacts.folder import ASIDE, ArtifactFolder
from tests.faults import artifact_writer as writer

PROGRAM = Path(writer.__file__)
CONTENTS = {content for _, content in writer.FILES.values()}


def start(folder: Path, what: str) -> "subprocess.Popen[bytes]":
    words = [sys.executable, str(PROGRAM), str(folder), what]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def assert_well(process: "subprocess.Popen[bytes]") -> None:
    _, said = process.communicate()
    assert process.returncode == 0, said.decode()


def wait_for_end(pid: int) -> None:
    with suppress(ProcessLookupError):  # it has ended already
        number = os.pidfd_open(pid)
        select.select([number], [], [])
        os.close(number)


def shown(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


async def run_again(folder: Path) -> None:
    async with ArtifactFolder(folder) as artifacts:
        await artifacts.tidy(before_us=0)
        for item in writer.FILES:
            await writer.keep(artifacts, item)
        await artifacts.tidy(before_us=0)


def assert_sound(folder: Path) -> None:
    names = sorted(shown(folder))
    assert names[0] == "other.pdf"
    assert names[1].startswith("paper-")
    assert names[2:] == ["paper.pdf"]
    assert set(shown(folder).values()) == CONTENTS
    assert list((folder / ASIDE).iterdir()) == []
    stored = [path for path in (folder / STORE).rglob("*") if path.is_file()]
    assert {path.read_bytes() for path in stored} == CONTENTS
    assert len(stored) == len(CONTENTS)
    assert min(path.stat().st_nlink for path in stored) > 1


@pytest.mark.parametrize(("what", "steps"), [("die", 40), ("die-writing", 30)])
def test_killed_at_any_step_nothing_half_shows_and_the_next_run_completes(
    tmp_path: Path, what: str, steps: int
):
    assert_well(start(tmp_path, what))
    folders = sorted(tmp_path.iterdir(), key=lambda path: int(path.name))
    assert len(folders) > steps
    unfinished = 0
    for folder in folders:
        assert set(shown(folder).values()) <= CONTENTS, folder
        unfinished += any((folder / ASIDE).iterdir())
        asyncio.run(run_again(folder))
        assert_sound(folder)
    assert unfinished > steps / 2  # the deaths were not all before or after the work


def test_when_the_worker_is_killed_its_ordered_files_are_kept_and_the_file_writer_ends(
    tmp_path: Path,
):
    process = start(tmp_path, "die-as-worker")
    said, _ = process.communicate()
    assert process.returncode == -signal.SIGKILL
    wait_for_end(int(said))
    name, content = writer.FILES["small"]
    assert shown(tmp_path) == {name: content}
    assert list((tmp_path / ASIDE).iterdir()) == []


def test_two_processes_fill_one_folder(tmp_path: Path):
    crowd = [start(tmp_path / "out", "live") for _ in range(2)]
    for process in crowd:
        assert_well(process)
    asyncio.run(run_again(tmp_path / "out"))
    assert_sound(tmp_path / "out")
