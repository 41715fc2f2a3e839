"""Thread pools by purpose, so that slow work of one kind does not delay another."""

import asyncio
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Found = TypeVar("Found")


class Pool:
    def __init__(self, name: str, size: int, niceness: int = 0) -> None:
        """`niceness`: how far the threads stand back when processors are short, on Linux."""
        self._executor = ThreadPoolExecutor(
            size, thread_name_prefix=name, initializer=_lower_priority, initargs=(niceness,)
        )

    async def run(
        self,
        work: Callable[Arguments, Found],
        *arguments: Arguments.args,
        **named: Arguments.kwargs,
    ) -> Found:
        """Run work in the pool; waits for a free thread."""
        called = partial(work, *arguments, **named)
        return await asyncio.get_running_loop().run_in_executor(self._executor, called)


def _lower_priority(niceness: int) -> None:
    if niceness and sys.platform == "linux":  # where a thread has its own priority
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), niceness)


class Threads:
    def __init__(self, previews: int) -> None:
        """`previews`: previews that may run at the same time, each in its own thread."""
        self.uploads = Pool("uploads", 4)
        self.many_files = Pool("many-files", 1)
        """Uploads of many small files, which use the interpreter more than the disk."""
        self.previews = Pool("previews", previews)
        """Previews of short texts; `Inspections` reads other files."""
        self.copies = Pool("copies", previews)
        """Copies of remote sources for a preview. The remote server decides how long they take."""
        self.passwords = Pool("passwords", 2, niceness=10)
        """A password check takes 32 MB and 0.1 s on purpose, without the interpreter."""
        self.bodies = Pool("bodies", 2)
