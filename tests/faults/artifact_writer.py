"""Puts a few files into a folder, and dies at the step that it is told."""

import asyncio
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
    for name in ("write", "fsync", "fdatasync", "close"):
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


async def main(root: Path, step: int) -> None:
    async with ArtifactFolder(root) as folder:
        die_at(step, root)
        for item in FILES:
            await keep(folder, item)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
