"""A process that fills a folder is killed, or is not alone in it: no half file shows."""

import asyncio
import subprocess
import sys
from pathlib import Path

from headgate.transfer.artifacts.folder import ASIDE, ArtifactFolder
from headgate.transfer.artifacts.shelf import STORE
from tests.faults import artifact_writer as writer

PROGRAM = Path(writer.__file__)
CONTENTS = {content for _, content in writer.FILES.values()}


def start(folder: Path, what: str) -> "subprocess.Popen[bytes]":
    words = [sys.executable, str(PROGRAM), str(folder), what]
    return subprocess.Popen(words, stderr=subprocess.PIPE)


def assert_well(process: "subprocess.Popen[bytes]") -> None:
    _, said = process.communicate()
    assert process.returncode == 0, said.decode()


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


def test_killed_at_any_step_nothing_half_shows_and_the_next_run_completes(tmp_path: Path):
    assert_well(start(tmp_path, "die"))
    folders = sorted(tmp_path.iterdir(), key=lambda path: int(path.name))
    assert len(folders) > 40
    unfinished = 0
    for folder in folders:
        assert set(shown(folder).values()) <= CONTENTS, folder
        unfinished += any((folder / ASIDE).iterdir())
        asyncio.run(run_again(folder))
        assert_sound(folder)
    assert unfinished > 20  # the deaths were not all before or after the work


def test_two_processes_fill_one_folder(tmp_path: Path):
    crowd = [start(tmp_path / "out", "live") for _ in range(2)]
    for process in crowd:
        assert_well(process)
    asyncio.run(run_again(tmp_path / "out"))
    assert_sound(tmp_path / "out")
