"""The one place where async code begins."""

import asyncio
import gc
import importlib
import importlib.util
import sys
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

Answer = TypeVar("Answer")
SWITCH_S = 0.0005
"""How long the loop, or a thread of the store, waits while another thread computes."""
YOUNG = 10_000
"""New objects between two searches for garbage. What a request leaves behind is freed without any:
at Python's 700, the searches took an eighth of the time of a download and found next to nothing."""


def run_async(
    main: Coroutine[Any, Any, Answer], on_stopped: Callable[[], object] | None = None
) -> Answer:
    """Run a coroutine on uvloop where it is installed, on asyncio's own loop elsewhere.

    `on_stopped` is called when the loop ends before `main` has, and before any task is cancelled.
    """
    sys.setswitchinterval(SWITCH_S)
    if not gc.isenabled():
        gc.freeze()  # what was loaded stays: no collection need ever look at it
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
