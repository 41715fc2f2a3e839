"""Which handlers there are, for a process that must never import one.

`python -m headgate.app.handler_list REFERENCE…` imports the handler sets and ends; `list_handlers`
starts it and reads what it said.
"""

import gc

if __name__ == "__main__":
    gc.disable()  # our own modules leave no garbage, but much to look through

import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from headgate.core.errors import HeadgateError, UnknownHandler
from headgate.handlers.info import HandlerInfo, describe
from headgate.handlers.search_path import add_folder

MODULE = "headgate.app.handler_list"
PATIENCE_S = 60.0
WORDS = 500


class HandlerList(msgspec.Struct, frozen=True):
    """The answer of the child process, as JSON: the handlers, or why they cannot be listed."""

    handlers: list[HandlerInfo] = []
    error: str = ""


async def list_handlers(
    references: Sequence[str], patience_s: float = PATIENCE_S
) -> list[HandlerInfo]:
    """Every handler by name, as a child process finds them; UnknownHandler says what is wrong."""
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",
        "-m",
        MODULE,
        *references,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(patience_s):
            out, err = await child.communicate()
    except TimeoutError:
        raise UnknownHandler(
            f"importing the handlers took more than {patience_s:g} s: {', '.join(references)}",
        ) from None
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
    return _read(child.returncode or 0, out, err)


def _read(code: int, out: bytes, err: bytes) -> list[HandlerInfo]:
    try:
        answer = msgspec.json.decode(out, type=HandlerList)
    except msgspec.MsgspecError:
        last_words = err.decode(errors="replace").strip()[-WORDS:]
        raise UnknownHandler(
            f"the handlers cannot be listed: importing them ended the process with {code}:"
            f" {last_words}",
        ) from None
    if answer.error:
        raise UnknownHandler(answer.error)
    return answer.handlers


def main() -> None:
    """Print the list, and leave without waiting for threads that an import may have begun."""
    # What the users' code prints while it is imported must not stand in the answer.
    answer_to = os.dup(1)
    os.dup2(2, 1)
    # Handlers named by module are found from where the command was given, as in a worker.
    add_folder(Path.cwd())
    gc.enable()
    try:
        answer = HandlerList(describe(sys.argv[1:]))
    except HeadgateError as error:
        answer = HandlerList(error=str(error))
    with os.fdopen(answer_to, "wb") as pipe:
        pipe.write(msgspec.json.encode(answer) + b"\n")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(1 if answer.error else 0)


if __name__ == "__main__":
    main()
