"""Transactions as the modules see them that both databases share.

PostgreSQL runs the coroutine of a transaction on the event loop. SQLite runs it on a thread of its
own, where no query ever has to wait for the loop.
"""

from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

Answer = TypeVar("Answer")
CountChange = tuple[int, str, int]
"""A job, a status, and the difference to add to the number of its items."""


class Transaction(Protocol):
    """Named queries. A list or tuple is one array parameter."""

    @property
    def again(self) -> bool:
        """True if an earlier try was cut off, so that it may have been committed unnoticed."""
        ...

    async def rows(self, name: str, /, **values: Any) -> list[Any]: ...

    async def records(self, name: str, /, **values: Any) -> list[dict[str, Any]]:
        """Every row as a mapping from column names."""
        ...

    async def record(self, name: str, /, **values: Any) -> dict[str, Any] | None:
        """The first row as a mapping, if there is one."""
        ...

    async def change(self, name: str, /, **values: Any) -> int:
        """Run a statement; returns the number of rows that it changed."""
        ...

    async def locked(self, name: str, /, **values: Any) -> dict[str, Any] | None:
        """The record, which no other transaction changes until this one ends."""
        ...

    async def lock(self, name: str, /, **values: Any) -> None:
        """Wait until no other transaction holds this lock, and hold it to the end of this one."""
        ...

    def table(self, columns: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
        """Columns of values as the parameters of a query that reads them as a table.

        PostgreSQL gets an array for each column; SQLite gets one JSON text, `rows`, whose values
        are found by the place of their column. JSON values are given as `msgspec.Raw`.
        """
        ...

    async def add_counts(self, changes: Iterable[CountChange]) -> None:
        """Change the maintained counters."""
        ...

    async def add_event(
        self, kind: str, message: str, job_id: int | None = None, item_id: int | None = None
    ) -> None: ...


Work = Callable[[Transaction], Coroutine[Any, Any, Answer]]


class DatabaseInfo(NamedTuple):
    kind: str
    location: str
    version: str
    size_bytes: int
    schema: int
    latest_schema: int


class SqlDatabase(Protocol):
    async def write(self, work: Work[Answer], *, repeatable: bool = True) -> Answer:
        """Run `work` in one transaction: all of it is committed, or nothing.

        With `repeatable` off, it is not tried again if it may have been committed unnoticed.
        """
        ...

    async def write_one(self, work: Work[Answer]) -> Answer:
        """Run `work`, whose one statement needs no other transaction than its own."""
        ...

    async def read(self, work: Work[Answer]) -> Answer:
        """Run `work`, which only reads, without waiting for writers."""
        ...

    async def info(self) -> DatabaseInfo: ...


def changes_by_counter(changes: Iterable[CountChange]) -> list[CountChange]:
    """The sum of the differences of each counter, without counters that stay as they are."""
    totals: dict[tuple[int, str], int] = {}
    for job_id, status, n in changes:
        totals[job_id, status] = totals.get((job_id, status), 0) + n
    return [(job_id, status, n) for (job_id, status), n in totals.items() if n]
