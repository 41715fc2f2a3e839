"""Transactions on SQLite: as plain calls for the hot paths, as coroutines for shared modules."""

from collections.abc import Coroutine, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import apsw

from headgate.stores.rows import as_json
from headgate.stores.transaction import CountChange, changes_by_counter

Answer = TypeVar("Answer")
Values = Mapping[str, Any]


class SqliteTransaction:
    """Named queries inside one transaction, all stamped with the same time."""

    def __init__(self, connection: apsw.Connection, queries: Mapping[str, str], now: int) -> None:
        self._connection = connection
        self._queries = queries
        self.now = now

    def rows(self, name: str, /, **values: Any) -> list[Any]:
        return list(self._run(name, values))

    def row(self, name: str, /, **values: Any) -> Any | None:
        """The first row, if there is one; the statement always runs to its end."""
        rows = self.rows(name, **values)
        return rows[0] if rows else None

    def records(self, name: str, /, **values: Any) -> list[dict[str, Any]]:
        """Every row as a mapping from column names."""
        cursor = self._run(name, values)
        first = next(cursor, None)
        if first is None:
            return []
        names = [column[0] for column in cursor.get_description()]
        return [dict(zip(names, row, strict=True)) for row in (first, *cursor)]

    def record(self, name: str, /, **values: Any) -> dict[str, Any] | None:
        """The first row as a mapping, if there is one."""
        records = self.records(name, **values)
        return records[0] if records else None

    def change(self, name: str, /, **values: Any) -> int:
        """Run a statement; returns the number of rows that it changed."""
        before = self._connection.total_changes()
        for _ in self._run(name, values):
            pass
        return self._connection.total_changes() - before

    def add_counts(self, changes: Iterable[CountChange]) -> None:
        """Change the maintained counters."""
        for job_id, status, n in changes_by_counter(changes):
            self.change("add_count", job_id=job_id, status=status, n=n)

    def add_event(
        self, kind: str, message: str, job_id: int | None = None, item_id: int | None = None
    ) -> None:
        self.change("insert_event", kind=kind, message=message, job_id=job_id, item_id=item_id)

    def explain(self, name: str, /, **values: Any) -> list[str]:
        query = f"EXPLAIN QUERY PLAN {self._queries[name]}"
        plan = self._connection.execute(query, {"now": self.now, **values})
        return [str(row[3]) for row in plan]

    def _run(self, name: str, values: Values) -> apsw.Cursor:
        return self._connection.execute(self._queries[name], {"now": self.now, **values})


class AwaitableTransaction:
    """The same queries as coroutines, which never wait. Only one transaction writes at a time."""

    again = False

    def __init__(self, transaction: SqliteTransaction) -> None:
        self._transaction = transaction

    async def rows(self, name: str, /, **values: Any) -> list[Any]:
        return self._transaction.rows(name, **_encoded(values))

    async def records(self, name: str, /, **values: Any) -> list[dict[str, Any]]:
        return self._transaction.records(name, **_encoded(values))

    async def record(self, name: str, /, **values: Any) -> dict[str, Any] | None:
        return self._transaction.record(name, **_encoded(values))

    async def change(self, name: str, /, **values: Any) -> int:
        return self._transaction.change(name, **_encoded(values))

    async def locked(self, name: str, /, **values: Any) -> dict[str, Any] | None:
        return self._transaction.record(name, **values)

    async def lock(self, name: str, /, **values: Any) -> None:
        """Does nothing: the transaction has the only lock of the file."""

    def table(self, columns: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
        return {"rows": as_json(list(zip(*columns.values(), strict=True)))}

    async def add_counts(self, changes: Iterable[CountChange]) -> None:
        self._transaction.add_counts(changes)

    async def add_event(
        self, kind: str, message: str, job_id: int | None = None, item_id: int | None = None
    ) -> None:
        self._transaction.add_event(kind, message, job_id, item_id)


def _encoded(values: Values) -> dict[str, Any]:
    return {
        name: as_json(value) if isinstance(value, list | tuple) else value
        for name, value in values.items()
    }


def run_at_once(work: Coroutine[Any, Any, Answer]) -> Answer:
    """Run a coroutine that never waits, without an event loop."""
    try:
        work.send(None)
    except StopIteration as ended:
        answer: Answer = ended.value
        return answer
    work.close()
    raise RuntimeError("a transaction on SQLite may only wait for its own queries")
