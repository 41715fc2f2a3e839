"""Run async code: event loop, garbage collection and thread switching."""

import asyncio
import gc
import importlib
import importlib.util
import sys
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

Answer = TypeVar("Answer")
SWITCH_S = 0.0005
"""Seconds that the event loop or a store thread waits while another thread computes."""
YOUNG = 10_000
"""New objects between two garbage collections. A request's objects are freed without them:
at Python's 700, collections took an eighth of the time of a download and found little."""


def run_async(
    main: Coroutine[Any, Any, Answer], on_stopped: Callable[[], object] | None = None
) -> Answer:
    """Run a coroutine on uvloop if it is installed, else on asyncio's loop.

    `on_stopped` is called if the loop ends before `main` does, before any task is cancelled.
    """
    sys.setswitchinterval(SWITCH_S)
    if not gc.isenabled():
        gc.freeze()  # loaded modules stay, so collections can skip them
        gc.enable()
    gc.set_threshold(YOUNG)
    factory = None
    if importlib.util.find_spec("uvloop") is not None:
        factory = importlib.import_module("uvloop").new_event_loop
    has_ended = False

    async def watched() -> Answer:
        nonlocal has_ended
        try:
            return await main
        finally:
            has_ended = True

    with asyncio.Runner(loop_factory=factory) as runner:
        try:
            return runner.run(main if on_stopped is None else watched())
        except BaseException:
            if on_stopped is not None and not has_ended:
                on_stopped()
            raise
