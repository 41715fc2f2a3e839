"""Many runs on all cores, with results that depend neither on their number nor on their order."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from typing import TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


def spread(work: Callable[[Task], Result], tasks: Sequence[Task], jobs: int) -> list[Result]:
    """The result of each task, in the order of the tasks."""
    if jobs <= 1:
        return [work(task) for task in tasks]
    with multiprocessing.get_context("spawn").Pool(min(jobs, len(tasks))) as pool:
        return list(pool.imap(work, tasks, chunksize=1))
