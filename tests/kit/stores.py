"""A database of either kind, with the store that serves it and a way round the store."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import apsw
import psycopg

from headgate.ports.store import Store
from headgate.stores.postgres import PostgresStore
from headgate.stores.sqlite import SqliteStore
from tests.kit.postgres import OUR_NAME

KINDS = ("sqlite", "postgres")
AGE_ITEMS = """
UPDATE items SET
    due_at = CASE WHEN due_at > {us} THEN due_at - {us} ELSE 0 END,
    updated_at = updated_at - {us},
    leased_at = leased_at - {us},
    deadline_at = deadline_at - {us},
    throttled_since = throttled_since - {us}
"""
AGE_REST = (
    "UPDATE duties SET until_at = until_at - {us}",
    "UPDATE events SET at = at - {us}",
    "UPDATE workers SET stopped_at = stopped_at - {us}",
    "UPDATE sessions SET ended_at = ended_at - {us}",
)

EMPTY = """
DO $$
DECLARE
    name text;
    has_rows boolean;
    filled text[] := '{}';
BEGIN
    FOR name IN
        SELECT quote_ident(tablename) FROM pg_tables
        WHERE schemaname = 'public' AND tablename != 'schema_migrations'
    LOOP
        EXECUTE 'SELECT EXISTS (SELECT FROM ' || name || ')' INTO has_rows;
        IF has_rows THEN
            filled := filled || name;
        END IF;
    END LOOP;
    IF cardinality(filled) > 0 THEN
        EXECUTE 'TRUNCATE ' || array_to_string(filled, ', ') || ' CASCADE';
    END IF;
    PERFORM setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false)
    FROM pg_sequences WHERE schemaname = 'public' AND last_value IS NOT NULL;
END $$
"""
"""Truncates what has rows: a table without any costs as much, and most tests fill a few."""


class Place:
    """Where a store lies. Every call of `store` gives another client of the same database."""

    kind: str

    def __init__(self, make: Callable[[], Store]) -> None:
        self.store = make

    def execute(self, statement: str) -> list[tuple[Any, ...]]:
        """Run SQL behind the store's back."""
        raise NotImplementedError

    def pass_time(self, seconds: float) -> None:
        """Let time go by without waiting: everything that was stamped gets older."""
        us = int(seconds * 1_000_000)
        for statement in (AGE_ITEMS, *AGE_REST):
            self.execute(statement.format(us=us))


class SqlitePlace(Place):
    """One file."""

    kind = "sqlite"

    def __init__(self, path: Path) -> None:
        super().__init__(lambda: SqliteStore(path))
        self.path = path

    def execute(self, statement: str) -> list[tuple[Any, ...]]:
        connection = apsw.Connection(str(self.path))
        try:
            connection.set_busy_timeout(10_000)
            return list(connection.execute(statement))
        finally:
            connection.close()

    def assert_closed(self) -> None:
        """The last client to leave removes the log."""
        left = [file.name for file in self.path.parent.glob(f"{self.path.name}-*")]
        assert not left, f"a connection was left open: {left}"


class PostgresPlace(Place):
    """One database; the fixture that gave the URL checks that no connection was left open."""

    kind = "postgres"

    def __init__(self, url: str) -> None:
        super().__init__(lambda: PostgresStore(url))
        self.url = url
        self._own: psycopg.Connection | None = None

    def execute(self, statement: str) -> list[tuple[Any, ...]]:
        """On one connection that is kept: to connect takes longer than most statements."""
        if self._own is None or self._own.closed:
            self._own = psycopg.connect(self.url, autocommit=True, application_name=OUR_NAME)
        cursor = self._own.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []

    def empty(self) -> None:
        """Back to how the migrations left it."""
        self.execute(EMPTY)

    def close(self) -> None:
        """Close what `execute` opened."""
        if self._own is not None:
            self._own.close()


def one(rows: Sequence[tuple[Any, ...]]) -> Any:
    """The single value of a single row."""
    ((value,),) = rows
    return value
