"""What limits a job's speed, as the progress display shows it."""

from collections.abc import Awaitable, Callable

from headgate.app.cli.render.gates import wait_in_words
from headgate.core.errors import HeadgateError
from headgate.core.gates.keys import name_of
from headgate.core.gates.wait import WaitKind
from headgate.core.job import Counts
from headgate.core.words import counted
from headgate.engine.gate_control import JobGates
from headgate.engine.limited_by import LimitedBy, limit_of_run
from headgate.ports.store import Store

FindLimit = Callable[[], Awaitable[LimitedBy]]
CountChosen = Callable[[int], Awaitable[Counts | None]]
"""Counts the chosen rows of a job; returns None if all rows were chosen."""


def limit_finder(store: Store, gates: JobGates, job_id: int, count: CountChosen) -> FindLimit:
    """A function that finds what limits a job that this command's own workers run.

    It returns an empty `LimitedBy` while the store is unreachable.
    """

    async def find() -> LimitedBy:
        try:
            return await limit_of_run(store, gates, job_id, await count(job_id))
        except HeadgateError:  # the workers report the error
            return LimitedBy()

    return find


async def nothing_known() -> LimitedBy:
    return LimitedBy()


def cause_in_words(limit: LimitedBy, now_us: int) -> str:
    """`limited by wikidata: the learned rate, 4.9/s`; empty at full speed."""
    wait = limit.wait
    if wait is None or wait.kind is WaitKind.RUNNING:
        return ""
    words = wait_in_words(wait, now_us)
    if not wait.why.startswith(f"{name_of(wait.gate)}: "):
        return words
    views = limit.reading.views if limit.reading else ()
    others = sum(view.holds for view in views) - 1
    more = f" (and {counted(others, 'other gate')})" if others > 0 else ""
    return f"limited by {words}{more}"
