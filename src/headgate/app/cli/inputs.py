"""The input of a command: a file, or standard input copied to a temporary file."""

import asyncio
import contextlib
import os
import tempfile
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import BinaryIO

from headgate.core.errors import UsageError
from headgate.core.identity import file_of
from headgate.transfer.sources import format_of

STDIN = "-"


@contextlib.asynccontextmanager
async def readable(
    file: str, stated: str | None, format_of_head: Callable[[Path], str]
) -> AsyncIterator[tuple[Path, str | None]]:
    """A file that can be read more than once, and its format if the name does not show it."""
    if file != STDIN:
        yield Path(file), stated
        return
    with tempfile.TemporaryDirectory(prefix="headgate-") as folder:
        path = Path(folder) / "stdin"
        with path.open("wb") as spool:
            await stdin_to(spool)
        yield path, stated or format_of_head(path)


def table_format(path: Path) -> str:
    """The format of rows from standard input: `jsonl` if they begin with `{`, else `csv`."""
    with path.open("rb") as file:
        head = file.read(1024).removeprefix(b"\xef\xbb\xbf").lstrip()
    return "jsonl" if head.startswith(b"{") else "csv"


def require_order(handler: str, file: str) -> None:
    """UsageError if the two arguments were given in the wrong order."""
    if _is_handler(file) and not _is_handler(handler) and _is_rows(handler):
        raise UsageError(f"the handler comes first, then the file: headgate run {file} {handler}")


def _is_handler(text: str) -> bool:
    name = text.rpartition(":")[0]
    return bool(file_of(text)) or name.replace(".", "").isidentifier() or text.endswith(".py")


def _is_rows(text: str) -> bool:
    try:
        return bool(format_of(text))
    except UsageError:
        return Path(text).exists()


CHUNK = 65_536
WAITING_CHUNKS = 16


async def stdin_lines(descriptor: int = 0) -> AsyncIterator[bytes | None]:
    """Lines as they arrive; None when the caller would have to wait for the next one."""
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
    chunks = _chunks(descriptor)
    while chunk := await chunks.get():
        file.write(chunk)


def _chunks(descriptor: int) -> asyncio.Queue[bytes]:
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[bytes] = asyncio.Queue(WAITING_CHUNKS)

    def read() -> None:
        # Read the descriptor: sys.stdin would hold its lock when the program exits.
        chunk = b"begin"
        while chunk:
            chunk = os.read(descriptor, CHUNK)
            asyncio.run_coroutine_threadsafe(queue.put(chunk), loop).result()

    # A daemon thread, because a read from a terminal or an idle pipe cannot be interrupted.
    threading.Thread(target=read, name="stdin", daemon=True).start()
    return queue
