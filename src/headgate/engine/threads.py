"""Blocking work in threads, which nobody can interrupt."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

Answer = TypeVar("Answer")


async def in_thread(work: Callable[[], Answer]) -> Answer:
    """Run `work` in a thread; a cancellation waits for its end, so that nothing is torn."""
    task = asyncio.create_task(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    finally:
        await ended(task)


async def ended(task: "asyncio.Task[Answer]") -> None:
    """Wait for a task; what it says is of no interest any more."""
    await asyncio.wait([task])
    if not task.cancelled():
        task.exception()
