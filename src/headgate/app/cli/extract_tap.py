"""`headgate extract tap`: the changes of a mirror as Singer messages."""

import sys
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from headgate.app.cli.runtime import CliContext
from headgate.app.extract.mirror_choice import chosen_mirror
from headgate.core.errors import UsageError
from headgate.core.singer import Bookmark, bookmarks_in
from headgate.engine.mirror_feed import MirrorFeed

Name = Annotated[
    str | None, typer.Argument(metavar="[NAME]", help="The mirror, if there are several.")
]
State = Annotated[
    Path | None,
    typer.Option(
        "--state",
        metavar="FILE",
        help="The value of the last STATE message; without it, everything is told.",
    ),
]
Only = Annotated[
    list[str] | None,
    typer.Option("--stream", metavar="STREAM", help="Only this stream; may be repeated."),
]


async def tap(
    cli: CliContext, *, name: Name = None, state: State = None, streams: Only = None
) -> None:
    """Write what has changed in a mirror as Singer messages, deleted rows included."""
    bookmarks = {} if state is None else _bookmarks(state)
    encode = msgspec.json.Encoder().encode
    async with cli.store() as store:
        mirror = await chosen_mirror(store, name)
        chosen = await store.mirrors.streams(mirror.id)
        if unknown := sorted({*(streams or ())} - {each.name for each in chosen}):
            known = ", ".join(each.name for each in chosen)
            raise UsageError(f"{mirror.name} has no stream {unknown[0]!r}; it has {known}")
        if streams:
            chosen = [each for each in chosen if each.name in streams]
        feed = MirrorFeed(store.mirrors, mirror, bookmarks)
        async for message in feed.messages(chosen):
            sys.stdout.buffer.write(encode(message) + b"\n")
    sys.stdout.buffer.flush()


def _bookmarks(path: Path) -> dict[str, Bookmark]:
    try:
        return bookmarks_in(msgspec.json.decode(path.read_bytes()))
    except OSError as error:
        raise UsageError(f"--state {path}: the file cannot be read: {error.strerror}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"--state {path}: the file is not valid JSON: {error}") from None
    except UsageError as error:
        raise UsageError(f"--state {path}: {error}") from None
