"""Downloads two files into a folder; on request it dies, at one step after another."""

import asyncio
import hashlib
import itertools
import json
import os
import signal
import sys
from pathlib import Path

# Imported once, before the many processes are forked that use them.
import headgate.net.cache
import headgate.net.stack
import headgate.net.wire  # noqa: F401
from tests.faults.artifact_writer import NEVER, die_at
from tests.kit.downloads import downloads_in

SEEN = "seen.json"
"""What stood in the folder after a death: the names, and the digests of what is under them."""


def digests(folder: Path) -> dict[str, str]:
    """Of all files that show."""
    files = [path for path in folder.iterdir() if path.is_file()] if folder.exists() else []
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


async def fill(root: Path, urls: list[str], step: int) -> None:
    """Download all, or as much as is there before the step."""
    async with downloads_in(root) as download:
        die_at(step, download.out)
        await download(urls)


def code_of_filling(root: Path, urls: list[str], step: int) -> int:
    """How a process ended that filled the folder; forked, for it is one of many."""
    pid = os.fork()
    if pid == 0:
        asyncio.run(fill(root, urls, step))
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def die_everywhere(root: Path, urls: list[str], stride: int) -> int:
    """One folder for each step; in each, a process dies at it and a second one goes on."""
    for step in itertools.count(1, stride):
        folder = root / str(step)
        folder.mkdir()
        first = code_of_filling(folder, urls, step)
        if first != -signal.SIGKILL:
            return first
        (folder / SEEN).write_text(json.dumps(digests(folder / "out")))
        second = code_of_filling(folder, urls, NEVER)
        if second:
            return second
    return 0


if __name__ == "__main__":
    sys.exit(die_everywhere(Path(sys.argv[1]), sys.argv[3:], int(sys.argv[2])))
