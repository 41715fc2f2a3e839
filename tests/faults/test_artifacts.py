"""A process that fills a folder is killed, or is not alone in it: no half file shows."""

import asyncio
import subprocess
import sys
from pathlib import Path

from headgate.transfer.artifacts.folder import ASIDE, ArtifactFolder
from headgate.transfer.artifacts.shelf import STORE
from tests.faults import artifact_writer as writer

PROGRAM = Path(writer.__file__)
NEVER = 0
CONTENTS = {content for _, content in writer.FILES.values()}


def start(folder: Path, step: int) -> "subprocess.Popen[bytes]":
    words = [sys.executable, str(PROGRAM), str(folder), str(step)]
    return subprocess.Popen(words, stderr=subprocess.PIPE)


def shown(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def hidden(folder: Path) -> list[Path]:
    return list((folder / ASIDE).iterdir())


async def run_again(folder: Path) -> None:
    async with ArtifactFolder(folder) as artifacts:
        await artifacts.tidy(before_us=0)
        for item in writer.FILES:
            await writer.keep(artifacts, item)
        await artifacts.tidy(before_us=0)


def assert_sound(folder: Path) -> None:
    assert sorted(shown(folder)) == sorted(["paper.pdf", "other.pdf", *marked(folder)])
    assert set(shown(folder).values()) == CONTENTS
    assert hidden(folder) == []
    stored = [path for path in (folder / STORE).rglob("*") if path.is_file()]
    assert {path.read_bytes() for path in stored} == CONTENTS
    assert len(stored) == len(CONTENTS)
    assert min(path.stat().st_nlink for path in stored) > 1


def marked(folder: Path) -> list[str]:
    [name] = [name for name in shown(folder) if name.startswith("paper-")]
    return [name]


def test_killed_at_any_step_nothing_half_shows_and_the_next_run_completes(tmp_path: Path):
    step, code = 0, -9
    while code == -9:
        step += 1
        folder = tmp_path / str(step)
        process = start(folder, step)
        _, said = process.communicate()
        code = process.returncode
        assert code in {-9, 0}, said.decode()
        assert set(shown(folder).values()) <= CONTENTS, step
        asyncio.run(run_again(folder))
        assert_sound(folder)
    assert step > 20  # each step was really died at


def test_two_processes_fill_one_folder(tmp_path: Path):
    crowd = [start(tmp_path / "out", NEVER) for _ in range(2)]
    for process in crowd:
        _, said = process.communicate()
        assert process.returncode == 0, said.decode()
    asyncio.run(run_again(tmp_path / "out"))
    assert_sound(tmp_path / "out")
