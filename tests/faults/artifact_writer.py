"""Writes a few files into a folder; on request it dies, at one step after another."""

import asyncio
import hashlib
import itertools
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from headgate.ports.artifacts import FileOrigin
from headgate.transfer.artifacts.draft import SMALL_BYTES
from headgate.transfer.artifacts.file_writer_main import OrderLoop
from headgate.transfer.artifacts.file_writer_messages import WriteOrder, encoder, framed
from headgate.transfer.artifacts.folder import ASIDE, ArtifactFolder

LARGE = b"large " * (SMALL_BYTES // 4)
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
    for name in ("write", "writev", "fsync", "close"):
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
        draft.start(FileOrigin(f"http://a/{item}", '"1"'))
    else:
        size = sum([len(block) async for block in draft.resume()])
    for place in range(size, len(content), SMALL_BYTES // 2):
        await draft.write(content[place : place + SMALL_BYTES // 2])
    await draft.finish(name, lambda _: None)


def serve_orders(root: Path, step: int) -> None:
    """The same files, by the process that writes small ones whole."""
    ours, theirs = socket.socketpair()
    threading.Thread(target=send_orders, args=[ours], daemon=True).start()
    (root / ASIDE).mkdir(parents=True, exist_ok=True)
    cli = OrderLoop(root, root / ASIDE, theirs)
    die_at(step, root)
    cli.run()


def send_orders(wire: socket.socket) -> None:
    """All files, and nothing more."""
    for number, (item, (name, content)) in enumerate(FILES.items()):
        sha256 = hashlib.sha256(content).hexdigest()
        wire.sendall(
            framed(encoder.encode(WriteOrder(number, item.encode(), name, sha256)), content)
        )
    wire.shutdown(socket.SHUT_WR)


async def fill(root: Path, step: int) -> None:
    """Put all files into a folder, or as many as are there before the step."""
    async with ArtifactFolder(root) as folder:
        die_at(step, root)
        for item in FILES:
            await keep(folder, item)


async def die_as_worker(root: Path) -> None:
    """Be killed while a process of this one, whose number is told, has an order."""
    folder = await ArtifactFolder(root).__aenter__()
    await folder.start_file_writer()
    sys.stdout.write(str(folder._file_writer._process.pid))
    sys.stdout.flush()
    task = asyncio.create_task(keep(folder, "small"))
    await asyncio.wait([task], timeout=0)
    os.kill(os.getpid(), signal.SIGKILL)


def code_of_filling(root: Path, step: int, filling: "Filling") -> int:
    """How a process ended that filled the folder; forked, for it is one of many."""
    pid = os.fork()
    if pid == 0:
        filling(root, step)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def die_everywhere(root: Path, filling: "Filling") -> int:
    """One folder for each step; in each, a first process dies at it and a second one sooner."""
    for step in itertools.count(1):
        folder = root / str(step)
        first = code_of_filling(folder, step, filling)
        if first != -signal.SIGKILL:
            return first
        second = code_of_filling(folder, step // 2 + 1, filling)
        if second not in {-signal.SIGKILL, 0}:
            return second
    return 0


def fill_alone(root: Path, step: int) -> None:
    """With the threads of one process."""
    asyncio.run(fill(root, step))


Filling = Callable[[Path, int], None]

if __name__ == "__main__":
    place, what = Path(sys.argv[1]), sys.argv[2]
    if what == "die":
        sys.exit(die_everywhere(place, fill_alone))
    elif what == "die-writing":
        sys.exit(die_everywhere(place, serve_orders))
    elif what == "die-as-worker":
        asyncio.run(die_as_worker(place))
    else:
        fill_alone(place, NEVER)
