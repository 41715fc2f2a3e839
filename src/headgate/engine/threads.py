"""Runs blocking work in threads, which cannot be interrupted."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

Answer = TypeVar("Answer")


async def in_thread(work: Callable[[], Answer]) -> Answer:
    """Run `work` in a thread; a cancellation waits until it has ended, so it is never half done."""
    task = asyncio.create_task(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    finally:
        await wait_ended(task)


async def wait_ended(task: "asyncio.Task[Answer]") -> None:
    """Wait for a task and ignore its result."""
    await asyncio.wait([task])
    if not task.cancelled():
        task.exception()
