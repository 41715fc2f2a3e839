"""Standard input, as lines or whole, without a thread that keeps the program from ending."""

import asyncio
import os
import threading
from collections.abc import AsyncIterator
from typing import BinaryIO

CHUNK = 65_536
WAITING_CHUNKS = 16


async def stdin_lines(descriptor: int = 0) -> AsyncIterator[bytes | None]:
    """Each line as it comes; None whenever nothing more has come yet."""
    rest = b""
    chunks = _chunks(descriptor)
    while chunk := await chunks.get():
        lines = (rest + chunk).split(b"\n")
        rest = lines.pop()
        for line in lines:
            yield line
        if chunks.empty():
            yield None
    if rest:
        yield rest


async def stdin_to(file: BinaryIO, descriptor: int = 0) -> None:
    """Copy all that comes to a file."""
    chunks = _chunks(descriptor)
    while chunk := await chunks.get():
        file.write(chunk)


def _chunks(descriptor: int) -> asyncio.Queue[bytes]:
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[bytes] = asyncio.Queue(WAITING_CHUNKS)

    def read() -> None:
        # Read by descriptor: the lock of sys.stdin would be held when the program ends.
        chunk = b"begin"
        while chunk:
            chunk = os.read(descriptor, CHUNK)
            asyncio.run_coroutine_threadsafe(queue.put(chunk), loop).result()

    # A daemon, because nobody can interrupt a read from a terminal or an idle pipe.
    threading.Thread(target=read, name="stdin", daemon=True).start()
    return queue
