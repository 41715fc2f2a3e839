"""Threads by purpose, so that slow work of one kind does not hold up another."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Found = TypeVar("Found")


class Pool:
    """A few threads for one kind of work."""

    def __init__(self, name: str, size: int) -> None:
        self._executor = ThreadPoolExecutor(size, thread_name_prefix=name)

    async def run(
        self,
        work: Callable[Arguments, Found],
        *arguments: Arguments.args,
        **named: Arguments.kwargs,
    ) -> Found:
        """What the work returns; it waits for a free thread."""
        called = partial(work, *arguments, **named)
        return await asyncio.get_running_loop().run_in_executor(self._executor, called)


class Threads:
    """The pools of the server."""

    def __init__(self, previews: int) -> None:
        """`previews`: how many may run at the same time. Each has a thread."""
        self.uploads = Pool("uploads", 4)
        self.many_files = Pool("many-files", 1)
        """For uploads of many small files: these keep the interpreter busy, not the disk."""
        self.looks = Pool("looks", previews)
        self.copies = Pool("copies", previews)
        """For sources elsewhere that are copied for a look; their servers decide how long."""
        self.passwords = Pool("passwords", 2)
        """A password takes 32 MB and a tenth of a second to check, on purpose."""
        self.bodies = Pool("bodies", 2)
        """For parsing."""
