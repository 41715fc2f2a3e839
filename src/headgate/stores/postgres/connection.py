"""The connection pool: whole transactions, and retries while the server is away."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple, TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import psycopg
from psycopg import errors
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout, TooManyRequests

from headgate.core.errors import BadSetting, StoreError, StoreFull, StoreMismatch, StoreUnreachable
from headgate.stores.postgres.literals import json_texts, stored_forms
from headgate.stores.sql_files import load_migrations, load_queries, require_current
from headgate.stores.transaction import CountChange, DatabaseInfo, changes_by_counter

OFF = frozenset({"off", "false", "0", "no"})
ON = frozenset({"on", "true", "1", "yes"})


class StoreAddress(NamedTuple):
    """The address of the database, and whether NOTIFY may be used.

    `?notify=off` is for transaction poolers: behind them neither LISTEN nor prepared statements
    belong to one client for longer than a transaction.
    """

    conninfo: str
    shown: str
    notify: bool


def read_address(url: str) -> StoreAddress:
    parts = urlsplit(url)
    kept, notify = [], True
    for name, value in parse_qsl(parts.query, keep_blank_values=True):
        if name != "notify":
            kept.append((name, value))
        elif value.lower() in OFF | ON:
            notify = value.lower() in ON
        else:
            raise BadSetting(f"notify={value} in the database URL: write notify=on or notify=off")
    conninfo = urlunsplit(parts._replace(query=urlencode(kept)))
    secret = [(name, "***" if name == "password" else value) for name, value in kept]
    user, at, host = parts.netloc.rpartition("@")
    name, colon, _ = user.partition(":")
    netloc = f"{name}:***{at}{host}" if colon else parts.netloc
    shown = urlunsplit(parts._replace(netloc=netloc, query=urlencode(secret, safe="*")))
    return StoreAddress(conninfo, shown, notify)


PACKAGE = "headgate.stores.postgres"
Answer = TypeVar("Answer")
# The callers report a lost connection; the driver's own log lines add nothing.
logging.getLogger("psycopg").addHandler(logging.NullHandler())
Connection = psycopg.AsyncConnection[tuple[Any, ...]]
SHARDS = 16
"""Workers spread their counts over this many rows, so that none of them is hot."""
NO_WORKER = SHARDS
"""The shard of changes that are not made by a worker."""
CONFLICTS = (errors.DeadlockDetected, errors.SerializationFailure)


class PostgresSession:
    """Named queries on one connection.

    `again` means that an earlier try of the same call was cut off, so it may have been committed
    without our knowledge.
    """

    def __init__(
        self, connection: Connection, queries: Mapping[str, bytes], *, again: bool
    ) -> None:
        self.connection = connection
        self.again = again
        self._queries = queries

    async def rows(self, name: str, /, **values: Any) -> list[tuple[Any, ...]]:
        cursor = await self.connection.execute(self._queries[name], stored_forms(values))
        return await cursor.fetchall()

    async def row(self, name: str, /, **values: Any) -> tuple[Any, ...]:
        """The row of a query that always returns one."""
        return (await self.rows(name, **values))[0]

    async def records(self, name: str, /, **values: Any) -> list[dict[str, Any]]:
        """Every row as a mapping from column names."""
        async with self.connection.cursor(row_factory=dict_row) as cursor:
            await cursor.execute(self._queries[name], stored_forms(values))
            return await cursor.fetchall()

    async def record(self, name: str, /, **values: Any) -> dict[str, Any] | None:
        """The first row as a mapping, if there is one."""
        records = await self.records(name, **values)
        return records[0] if records else None

    async def change(self, name: str, /, **values: Any) -> int:
        """Run a statement; returns the number of rows that it changed."""
        cursor = await self.connection.execute(self._queries[name], stored_forms(values))
        return cursor.rowcount

    async def locked(self, name: str, /, **values: Any) -> dict[str, Any] | None:
        """The record of a query, locked until the transaction ends."""
        return await self.record(f"lock_{name}", **values)

    async def lock(self, name: str, /, **values: Any) -> None:
        await self.change(f"lock_{name}", **values)

    def table(self, columns: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
        """One array for each column."""
        return {name: json_texts(values) for name, values in columns.items()}

    async def add_counts(self, changes: Iterable[CountChange]) -> None:
        """Change the maintained counters."""
        moved = changes_by_counter(changes)
        if moved:
            await self.change(
                "add_counts",
                jobs=[job_id for job_id, _, _ in moved],
                shards=[NO_WORKER] * len(moved),
                statuses=[status for _, status, _ in moved],
                n=[n for _, _, n in moved],
            )

    async def add_event(
        self, kind: str, message: str, job_id: int | None = None, item_id: int | None = None
    ) -> None:
        values = {"kind": kind, "message": message, "job_id": job_id, "item_id": item_id}
        await self.change("insert_event", **values)

    async def copy(self, name: str, blocks: Iterable[bytes]) -> None:
        """Send COPY blocks; the server stores one while the next is prepared."""
        async with self.connection.cursor().copy(self._queries[name]) as sink:
            for block in blocks:
                await sink.write(block)

    async def explain(self, name: str, /, **values: Any) -> list[str]:
        cursor = await self.connection.execute(b"EXPLAIN " + self._queries[name], values)
        return [str(row[0]) for row in await cursor.fetchall()]


SessionWork = Callable[[PostgresSession], Awaitable[Answer]]


class PostgresDatabase:
    """Opens the database and runs calls on it; every wait is bounded."""

    CONNECTIONS = 4
    CONNECT_S = 10
    CONFLICT_LIMIT = 20

    def __init__(self, url: str, *, patience_s: float = 60.0) -> None:
        self.address = read_address(url)
        self.queries = {name: text.encode() for name, text in load_queries(PACKAGE).items()}
        self.migrations = list(load_migrations(PACKAGE))
        self._patience_s = patience_s
        self._pool: AsyncConnectionPool[Connection] | None = None

    async def open(self) -> None:
        """Connect; an empty database gets its schema."""
        async with self.connect() as connection:
            session = PostgresSession(connection, self.queries, again=False)
            if not (await session.row("has_schema"))[0]:
                await self._migrate(session)
            require_current((await session.row("schema"))[0], self.latest_schema)
        self._pool = AsyncConnectionPool(
            self.address.conninfo,
            connection_class=psycopg.AsyncConnection[tuple[Any, ...]],
            kwargs=self._options(),
            configure=self._configure if self.address.notify else None,
            min_size=1,
            max_size=self.CONNECTIONS,
            reconnect_timeout=self._patience_s,
            name="headgate",
            open=False,
        )
        await self._pool.open()

    async def close(self) -> None:
        if self._pool is not None:
            await self._pool.close()
            self._pool = None

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[Connection]:
        """A separate connection, outside the pool."""
        try:
            connection = await psycopg.AsyncConnection.connect(
                self.address.conninfo, **self._options()
            )
        except psycopg.OperationalError as error:
            raise self._unreachable(error) from error
        except psycopg.ProgrammingError as error:
            raise StoreError(f"{self.address.shown} is not a database URL: {error}") from error
        async with connection:
            yield connection

    async def write(self, work: SessionWork[Answer], *, repeatable: bool = True) -> Answer:
        """Run `work` in one transaction: all of it is committed, or nothing.

        If the server goes away, `work` is tried again; with `repeatable` off, only if it cannot
        have been committed.
        """

        async def in_transaction(session: PostgresSession) -> Answer:
            async with session.connection.transaction():
                return await work(session)

        return await self._patiently(in_transaction, repeatable=repeatable)

    async def single(self, work: SessionWork[Answer]) -> Answer:
        """Run `work`, whose statements are each their own transaction."""
        return await self._patiently(work, repeatable=True)

    read = write_one = single

    def waited_ms(self) -> int:
        """Milliseconds that calls of this process have waited for a connection, in total."""
        return 0 if self._pool is None else self._pool.get_stats().get("requests_wait_ms", 0)

    async def migrate(self) -> list[str]:
        """Apply missing migrations; returns their names."""
        async with self.connect() as connection:
            return await self._migrate(PostgresSession(connection, self.queries, again=False))

    async def info(self) -> DatabaseInfo:
        version, size = await self.single(lambda session: session.row("server_info"))
        return DatabaseInfo(
            kind="postgresql",
            location=self.address.shown,
            version=version,
            size_bytes=size,
            schema=await self.schema(),
            latest_schema=self.latest_schema,
        )

    async def schema(self) -> int:
        """The number of the last migration that was applied."""
        return int((await self.single(lambda session: session.row("schema")))[0])

    @property
    def latest_schema(self) -> int:
        """The number of the newest migration that this program knows."""
        return self.migrations[-1].number

    def _options(self) -> dict[str, Any]:
        return {
            "autocommit": True,
            "application_name": "headgate",
            "connect_timeout": self.CONNECT_S,
            "client_encoding": "utf8",
            "prepare_threshold": 5 if self.address.notify else None,
        }

    async def _configure(self, connection: Connection) -> None:
        await connection.execute(self.queries["configure"])

    async def _migrate(self, session: PostgresSession) -> list[str]:
        applied = []
        async with session.connection.transaction():
            await session.rows("lock_migrations")
            await session.change("create_migrations")
            done = (await session.row("schema"))[0]
            for migration in self.migrations:
                if migration.number > done:
                    await self._apply(session, migration.sql)
                    await session.change(
                        "record_migration", number=migration.number, name=migration.name
                    )
                    applied.append(migration.name)
        return applied

    async def _apply(self, session: PostgresSession, sql: str) -> None:
        try:
            await session.connection.execute(sql.encode())
        except (errors.DuplicateTable, errors.DuplicateFunction) as error:
            raise StoreMismatch(
                f"{self.address.shown} holds tables of another program ({error}). "
                "Give Headgate its own database"
            ) from error

    async def _patiently(self, work: SessionWork[Answer], *, repeatable: bool) -> Answer:
        """Retry through a restart of the server; raise errors that users can act on."""
        give_up_at = time.monotonic() + self._patience_s
        again = False
        conflicts = 0
        while True:
            try:
                return await self._attempt(work, again=again, give_up_at=give_up_at)
            except CONFLICTS as error:
                # The other side has committed; our transaction was rolled back.
                conflicts += 1
                if conflicts > self.CONFLICT_LIMIT:
                    raise StoreError(f"{self.address.shown}: {error}") from error
            except errors.DiskFull as error:
                raise StoreFull(
                    f"no space left for {self.address.shown}. "
                    "Make space and run the same command again"
                ) from error
            except (PoolTimeout, TooManyRequests) as error:
                raise self._unreachable(error) from error
            except psycopg.OperationalError as error:
                if not is_lost(error):
                    raise StoreError(f"{self.address.shown}: {error}") from error
                if not repeatable or time.monotonic() > give_up_at:
                    raise self._unreachable(error) from error
                again = True

    async def _attempt(
        self, work: SessionWork[Answer], *, again: bool, give_up_at: float
    ) -> Answer:
        if self._pool is None:
            raise StoreError("the store is not open")
        timeout = max(give_up_at - time.monotonic(), 0.1)
        task = asyncio.current_task()
        cancelled = task.cancelling() if task else 0
        async with self._pool.connection(timeout) as connection:
            # Before Python 3.12 the pool loses a cancellation that comes with a connection.
            if task is not None and task.cancelling() > cancelled:
                raise asyncio.CancelledError
            return await work(PostgresSession(connection, self.queries, again=again))

    def _unreachable(self, error: Exception) -> StoreUnreachable:
        return StoreUnreachable(f"{self.address.shown} does not answer: {error}")


def is_lost(error: psycopg.OperationalError) -> bool:
    """True if the connection was lost, rather than the statement being wrong."""
    state = error.sqlstate
    return state is None or state.startswith(("08", "57P")) or state == "53300"
