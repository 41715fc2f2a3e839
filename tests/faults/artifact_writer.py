"""Puts a few files into a folder; told to, dies on the way, at one step after another."""

import asyncio
import itertools
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from headgate.ports.artifacts import Origin
from headgate.transfer.artifacts.draft import BLOCK
from headgate.transfer.artifacts.folder import ArtifactFolder

LARGE = b"large " * (BLOCK // 4)
FILES = {
    "large": ("paper.pdf", LARGE),
    "small": ("paper.pdf", b"another content under the same name"),
    "twin": ("other.pdf", LARGE),
}
STEPS = {"open", "os.link", "os.rename", "os.remove", "os.mkdir", "os.truncate", "fcntl.flock"}
NEVER = 0


def die_at(step: int, folder: Path) -> None:
    """Be killed at the step of that number, counted at the file system."""
    seen = 0

    def count(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal seen
        ours = event in STEPS and (event == "fcntl.flock" or str(folder) in str(arguments))
        if ours or event == "test.step":
            seen += 1
            if seen == step:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)
    for name in ("write", "fsync", "close"):
        setattr(os, name, announced(getattr(os, name)))


def announced(call: Callable[..., Any]) -> Callable[..., Any]:
    """The interpreter announces no writing and no waiting for the disk by itself."""

    def act(*arguments: Any) -> Any:
        sys.audit("test.step")
        return call(*arguments)

    return act


async def keep(folder: ArtifactFolder, item: str) -> None:
    """One file, in pieces; what was left of it is gone on with."""
    name, content = FILES[item]
    draft = await folder.begin(item)
    size = 0
    if draft.kept is None:
        draft.start(Origin(f"http://a/{item}", '"1"'))
    else:
        size = sum([len(block) async for block in draft.resume()])
    for place in range(size, len(content), BLOCK // 2):
        await draft.write(content[place : place + BLOCK // 2])
    await draft.finish(name, lambda _: None)


async def fill(root: Path, step: int) -> None:
    """Put all files into a folder, or as many as are there before the step."""
    async with ArtifactFolder(root) as folder:
        die_at(step, root)
        for item in FILES:
            await keep(folder, item)


def code_of_filling(root: Path, step: int) -> int:
    """How a process ended that filled the folder; forked, for it is one of many."""
    pid = os.fork()
    if pid == 0:
        asyncio.run(fill(root, step))
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def die_everywhere(root: Path) -> int:
    """One folder for each step; in each, a first process dies at it and a second one sooner."""
    for step in itertools.count(1):
        folder = root / str(step)
        first = code_of_filling(folder, step)
        if first != -signal.SIGKILL:
            return first
        second = code_of_filling(folder, step // 2 + 1)
        if second not in {-signal.SIGKILL, 0}:
            return second
    return 0


if __name__ == "__main__":
    if sys.argv[2] == "die":
        sys.exit(die_everywhere(Path(sys.argv[1])))
    asyncio.run(fill(Path(sys.argv[1]), NEVER))
