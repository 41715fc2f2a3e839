"""List the handlers, in a process that must never import one.

`python -m headgate.app.handler_list REFERENCE…` imports the handler sets and ends;
`list_handlers` starts it and reads its output.
"""

import gc

if __name__ == "__main__":
    gc.disable()  # our modules leave no garbage, and collections are slow here

import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from headgate.core.errors import HeadgateError, UnknownHandler
from headgate.handlers.registry import HandlerInfo, describe_handlers
from headgate.handlers.search_path import add_folder

MODULE = "headgate.app.handler_list"
PATIENCE_S = 60.0
WORDS = 500


class HandlerList(msgspec.Struct, frozen=True):
    handlers: list[HandlerInfo] = []
    error: str = ""


async def list_handlers(
    references: Sequence[str], patience_s: float = PATIENCE_S
) -> list[HandlerInfo]:
    """Every handler by name, listed by a child process; raises UnknownHandler on failure."""
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
            f"the handlers cannot be listed: importing them ended the process with code {code}:"
            f" {last_words}",
        ) from None
    if answer.error:
        raise UnknownHandler(answer.error)
    return answer.handlers


def main() -> None:
    """Print the list and exit without waiting for threads that an import may have started."""
    # Output that user code prints during import must not be part of the reply.
    answer_to = os.dup(1)
    os.dup2(2, 1)
    # Handlers named by module are found from the current folder, as in a worker.
    add_folder(Path.cwd())
    gc.enable()
    try:
        answer = HandlerList(describe_handlers(sys.argv[1:]))
    except HeadgateError as error:
        answer = HandlerList(error=str(error))
    with os.fdopen(answer_to, "wb") as pipe:
        pipe.write(msgspec.json.encode(answer) + b"\n")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(1 if answer.error else 0)


if __name__ == "__main__":
    main()
