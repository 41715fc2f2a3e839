"""Handlers that misbehave on request: the column `do` of a row names the deed.

Each execution first appends its key to the log of executions, so that redone work can be counted.
"""

import asyncio
import ctypes
import os
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NoReturn

from headgate import Done, GiveUp, NotFound, RetryLater, Review, Skipped, handler
from headgate.core.item import Item
from headgate.ports.handler import Context

MEGABYTE = 1024 * 1024
SPIN_S = 0.5
"""How much CPU time `spin` takes from others. More would only slow down other tests."""


def note(item: Item, ctx: Context) -> None:
    log = os.open(ctx.job.config["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(log, f"{item.key}\n".encode())
    os.close(log)


def held(item: Item, ctx: Context) -> bool:
    """Whether this row is to wait until the file `gate` exists."""
    return item.input.get("do") == "wait" and not Path(ctx.job.config["gate"]).exists()


def answer(item: Item) -> Any:
    deed = DEEDS.get(item.input.get("do") or "")
    return deed() if deed else {"value": f"{item.key} is done"}


async def awaited(item: Item, ctx: Context) -> Any:
    """Wait for `pause` seconds, then do the deed in the event loop."""
    note(item, ctx)
    await asyncio.sleep(ctx.job.config.get("pause", 0.0))  # noqa: TID251  as users write it
    while held(item, ctx):  # noqa: ASYNC110  only a file is shared
        await asyncio.sleep(0.01)  # noqa: TID251  as users write it
    return answer(item)


async def rude(item: Item, ctx: Context) -> Any:
    """Wait for `pause` seconds, then do to the event loop what the row says."""
    note(item, ctx)
    await asyncio.sleep(ctx.job.config.get("pause", 0.0))  # noqa: TID251  as users write it
    deed = str(item.input.get("do") or "")
    if deed.startswith("stop the loop"):
        asyncio.get_running_loop().stop()
    if deed.startswith("cancel all tasks"):
        for task in asyncio.all_tasks():
            task.cancel()
    if deed.endswith("and wait"):
        await asyncio.sleep(60)  # noqa: TID251  as users write it
    return {"value": f"{item.key} is done"}


def plain(item: Item, ctx: Context) -> Any:
    """Wait for `pause` seconds, then do the deed in a thread."""
    note(item, ctx)
    time.sleep(ctx.job.config.get("pause", 0.0))
    while held(item, ctx):
        time.sleep(0.01)
    return answer(item)


async def awaited_gate(item: Item, ctx: Context) -> Any:
    """Wait until the file `gate` exists."""
    note(item, ctx)
    while not Path(ctx.job.config["gate"]).exists():  # noqa: ASYNC110, ASYNC240  only a file is shared
        await asyncio.sleep(0.01)  # noqa: TID251  as users write it
    return answer(item)


def plain_gate(item: Item, ctx: Context) -> Any:
    """Wait until the file `gate` exists."""
    note(item, ctx)
    while not Path(ctx.job.config["gate"]).exists():
        time.sleep(0.01)
    return answer(item)


@handler("faults.packs", pack=250)
async def packs(items: list[Item], ctx: Context) -> list[Any]:
    """One answer for each item of a large pack."""
    for item in items:
        note(item, ctx)
    await asyncio.sleep(ctx.job.config.get("pause", 0.0))  # noqa: TID251  as users write it
    return [answer(item) for item in items]


# ---- what ends the process ---------------------------------------------------------------------


def segfault() -> NoReturn:
    ctypes.string_at(0)
    raise AssertionError("nobody survives that")


def hog() -> NoReturn:
    kept = []
    while True:
        kept.append(b"x" * (16 * MEGABYTE))
        time.sleep(0.005)


def spin() -> NoReturn:
    """Compute without a pause, then wait without an end: neither returns by itself."""
    end = time.thread_time() + SPIN_S
    while time.thread_time() < end:
        pass
    while True:
        time.sleep(60)


def leave() -> NoReturn:
    os._exit(0)


def hold_interpreter() -> Mapping[str, Any]:
    """Like a regular expression that goes astray: HOLD_S seconds in C without letting go."""
    if mark := os.environ.get("HOLD_MARK"):
        Path(mark).touch()
    ctypes.PyDLL(None).sleep(int(os.environ.get("HOLD_S", "2")))
    return {"value": "held"}


def block_thread() -> Mapping[str, Any]:
    """Fatal only in an event loop."""
    time.sleep(2)
    return {"value": "blocked"}


# ---- what is raised ----------------------------------------------------------------------------


class Mute(Exception):
    """An error that cannot even say what it is."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


def raising(error: BaseException) -> Callable[[], NoReturn]:
    def deed() -> NoReturn:
        raise error

    return deed


def fail_in_pool() -> NoReturn:
    """The concurrent twin of CancelledError, as a cancelled future raises it."""
    with ThreadPoolExecutor(1) as pool:
        blocked = pool.submit(time.sleep, 0.05)
        waiting = pool.submit(time.sleep, 0.0)
        waiting.cancel()
        blocked.result()
        waiting.result()
    raise AssertionError("a cancelled future has no result")


RAISING: dict[str, Callable[[], Any]] = {
    "raise ValueError": raising(ValueError("no such price")),
    "raise StopIteration": raising(StopIteration("empty")),
    "raise CancelledError": raising(asyncio.CancelledError()),
    "raise cancelled future": fail_in_pool,
    "raise KeyboardInterrupt": raising(KeyboardInterrupt()),
    "raise GeneratorExit": raising(GeneratorExit()),
    "raise mute": raising(Mute()),
    "raise surrogate": raising(ValueError("file \udcff")),
    "raise NUL": raising(ValueError("before\0after")),
    "sys.exit": lambda: sys.exit(7),
}

# ---- what is returned --------------------------------------------------------------------------

RUBBISH: dict[str, Callable[[], Any]] = {
    "return object": lambda: {"value": object()},
    "return 10 MB": lambda: {"value": "x" * (10 * MEGABYTE)},
    "return list": lambda: [1, 2, 3],
    "return number": lambda: 42,
    "return class": lambda: NotFound,
    "return surrogate": lambda: {"value": "\udcff"},
    "return Done of a list": lambda: Done([1, 2, 3]),  # type: ignore[arg-type]
    "return Done of nothing": lambda: Done(None),  # type: ignore[arg-type]
    "return Review of a number": lambda: Review(candidates=5),  # type: ignore[arg-type]
    "return RetryLater soon": lambda: RetryLater(after="soon"),  # type: ignore[arg-type]
    "return RetryLater nan": lambda: RetryLater(after=float("nan")),
}
ODD: dict[str, Callable[[], Any]] = {
    "odd number as name": lambda: {1: "one"},
    "odd NUL in name": lambda: {"be\0fore": 1},
    "odd NUL in value": lambda: {"value": "be\0fore"},
    "odd long name": lambda: {"n" * 100_000: 1},
    "odd not a number": lambda: {"value": float("nan")},
}
"""Strange, but JSON can say it: DONE."""
REASONS: dict[str, Callable[[], Any]] = {
    "skip with NUL": lambda: Skipped("be\0fore"),
    "skip with surrogate": lambda: Skipped("\udcff"),
    "skip at length": lambda: Skipped("long " * MEGABYTE),
    "skip with number": lambda: Skipped(5),  # type: ignore[arg-type]
    "give up with NUL": lambda: GiveUp("be\0fore"),
}

DEEDS: dict[str, Callable[[], Any]] = {
    "segfault": segfault,
    "hog": hog,
    "spin": spin,
    "leave": leave,
    "hold": hold_interpreter,
    "block": block_thread,
    **RAISING,
    **RUBBISH,
    **ODD,
    **REASONS,
}


async def large(item: Item, ctx: Context) -> Any:
    """A result of `large` bytes."""
    note(item, ctx)
    await asyncio.sleep(0.002)  # noqa: TID251  as users write it
    return {"value": "x" * ctx.job.config["large"]}


async def quiet(item: Item, ctx: Context) -> Any:
    """Leave no trace in the log, for batches that only count."""
    return {"value": item.key}
