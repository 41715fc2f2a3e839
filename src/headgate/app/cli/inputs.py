"""What a command reads: a file, or standard input in a file of its own."""

import contextlib
import tempfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from headgate.app.cli.stdin import stdin_to
from headgate.core.errors import UsageError
from headgate.core.identity import file_of
from headgate.transfer.sources import READABLE, format_of

STDIN = "-"


@contextlib.asynccontextmanager
async def readable(
    file: str, stated: str | None, format_of_head: Callable[[Path], str]
) -> AsyncIterator[tuple[Path, str | None]]:
    """A file that can be read more than once, and its format if its name does not tell."""
    if file != STDIN:
        yield Path(file), stated
        return
    with tempfile.TemporaryDirectory(prefix="headgate-") as folder:
        path = Path(folder) / "stdin"
        with path.open("wb") as spool:
            await stdin_to(spool)
        yield path, stated or format_of_head(path)


def table_format(path: Path) -> str:
    """What rows on standard input are: JSON Lines if they begin as an object does, else CSV."""
    with path.open("rb") as file:
        head = file.read(1024).removeprefix(b"\xef\xbb\xbf").lstrip()
    return "jsonl" if head.startswith(b"{") else "csv"


def demand_order(handler: str, file: str) -> None:
    """UsageError if the two were given the wrong way round."""
    if _is_handler(file) and not _is_handler(handler) and _is_rows(handler):
        raise UsageError(f"the handler comes first, then the file: headgate run {file} {handler}")


def _is_handler(text: str) -> bool:
    name = text.rpartition(":")[0]
    return bool(file_of(text)) or name.replace(".", "").isidentifier() or text.endswith(".py")


def _is_rows(text: str) -> bool:
    try:
        return format_of(text) in READABLE
    except UsageError:
        return Path(text).exists()
