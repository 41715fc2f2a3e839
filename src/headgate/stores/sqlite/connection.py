"""The database file: one writing and one reading thread, transactions, and the store's clock."""

import asyncio
import os
import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import apsw

from headgate.core.errors import StoreError, StoreFull, StoreUnreachable, UsageError
from headgate.stores.sql_files import load_migrations, load_queries, require_current
from headgate.stores.sqlite.transaction import (
    AwaitableTransaction,
    SqliteTransaction,
    run_at_once,
)
from headgate.stores.transaction import DatabaseInfo, Work


def anchored_now() -> Callable[[], int]:
    """UTC microseconds that follow the wall clock as it was now, whatever it is set to later."""
    offset = time.time_ns() // 1_000 - time.monotonic_ns() // 1_000
    return lambda: offset + time.monotonic_ns() // 1_000


class StoreClock:
    """Stamps that grow over all processes on one file.

    The last stamp is in the database. A process that finds it ahead of its own time (because a wall
    clock jumped) moves its own time forward permanently, so that due times go on at the normal
    speed instead of standing still until the wall clock has caught up.
    """

    def __init__(self, now: Callable[[], int] | None = None) -> None:
        self._now = now or anchored_now()
        self._ahead = 0

    def now(self) -> int:
        """The time, which may be earlier than another process's stamp."""
        return self._now() + self._ahead

    def not_before(self, last: int) -> int:
        """The time, moved forward if the last stamp is ahead of it."""
        now = self.now()
        if now < last:
            self._ahead += last - now
            return last
        return now

    def stamp_after(self, last: int) -> int:
        return self.not_before(last + 1)


PACKAGE = "headgate.stores.sqlite"
Answer = TypeVar("Answer")


class SqliteDatabase:
    """Opens the file and runs transactions; every wait is bounded."""

    PATIENCE_S = 120.0
    """Seconds to wait for another process's write before an error is raised."""
    STEP_MS = 2_000

    def __init__(self, path: Path, clock: StoreClock) -> None:
        self.path = path
        self.clock = clock
        self.queries = load_queries(PACKAGE)
        self.migrations = list(load_migrations(PACKAGE))
        self._writer_thread = ThreadPoolExecutor(1, thread_name_prefix="sqlite-write")
        self._reader_thread = ThreadPoolExecutor(1, thread_name_prefix="sqlite-read")
        self._writer: apsw.Connection | None = None
        self._reader: apsw.Connection | None = None

    async def open(self) -> None:
        """Connect; an empty file gets its schema."""
        await self._in(self._writer_thread, self._open_writer)
        await self._in(self._reader_thread, self._open_reader)

    async def close(self) -> None:
        await self._in(self._writer_thread, self._close_writer)
        await self._in(self._reader_thread, self._close_reader)
        self._writer_thread.shutdown()
        self._reader_thread.shutdown()

    async def write(self, work: Callable[[SqliteTransaction], Answer]) -> Answer:
        """Run `work` in one write transaction: all of it is committed, or nothing."""
        return await self._in(self._writer_thread, lambda: self._write(work))

    async def read(self, work: Callable[[SqliteTransaction], Answer]) -> Answer:
        """Run `work` on one consistent view, without waiting for writers."""
        return await self._in(self._reader_thread, lambda: self._read(work))

    async def migrate(self) -> list[str]:
        """Apply missing migrations; returns their names. The file need not be open."""
        return await self._in(self._writer_thread, self._migrate_anyway)

    async def schema(self) -> int:
        """The number of the last migration that was applied."""
        return await self._in(self._reader_thread, lambda: _schema(_opened(self._reader)))

    async def data_version(self) -> int:
        """A number that changes with every commit of another connection."""
        return await self._in(self._reader_thread, self._data_version)

    async def backup(self, target: Path) -> None:
        """Copy the database page by page while others write."""
        await self._in(self._reader_thread, lambda: self._backup(target))

    @property
    def latest_schema(self) -> int:
        """The number of the newest migration that this program knows."""
        return self.migrations[-1].number

    async def _in(self, thread: ThreadPoolExecutor, work: Callable[[], Answer]) -> Answer:
        return await asyncio.get_running_loop().run_in_executor(thread, work)

    def _open_writer(self) -> None:
        connection = self._connect_writer()
        try:
            if _schema(connection) == 0:
                self._migrate(connection)
            require_current(_schema(connection), self.latest_schema)
        except BaseException:
            connection.close()
            raise
        self._writer = connection

    def _connect_writer(self) -> apsw.Connection:
        _create_private(self.path)
        connection = self._connect(apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)
        connection.pragma("journal_mode", "wal")
        connection.pragma("synchronous", "full")
        connection.pragma("foreign_keys", True)  # noqa: FBT003  a pragma's value has no name
        return connection

    def _open_reader(self) -> None:
        self._reader = self._connect(apsw.SQLITE_OPEN_READWRITE)
        self._reader.pragma("query_only", True)  # noqa: FBT003  a pragma's value has no name

    def _connect(self, flags: int) -> apsw.Connection:
        def connect() -> apsw.Connection:
            connection = apsw.Connection(str(self.path), flags=flags)
            connection.set_busy_timeout(self.STEP_MS)
            connection.pragma("cache_size", -16_384)
            return connection

        return self._patiently(connect)

    def _close_writer(self) -> None:
        if self._writer is not None:
            self._writer.close()

    def _close_reader(self) -> None:
        if self._reader is not None:
            self._reader.close()

    def _write(self, work: Callable[[SqliteTransaction], Answer]) -> Answer:
        connection = _opened(self._writer)

        def attempt() -> Answer:
            connection.execute("BEGIN IMMEDIATE")
            try:
                answer = work(SqliteTransaction(connection, self.queries, self._stamp(connection)))
                connection.execute("COMMIT")
            except BaseException:
                # A full disk may already have rolled the transaction back.
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            return answer

        return self._patiently(attempt)

    def _read(self, work: Callable[[SqliteTransaction], Answer]) -> Answer:
        connection = _opened(self._reader)

        def attempt() -> Answer:
            connection.execute("BEGIN")
            try:
                now = self.clock.not_before(_last_stamp(connection))
                return work(SqliteTransaction(connection, self.queries, now))
            finally:
                connection.execute("COMMIT")

        return self._patiently(attempt)

    def _stamp(self, connection: apsw.Connection) -> int:
        now = self.clock.stamp_after(_last_stamp(connection))
        connection.execute("UPDATE clock SET last_at = ?", (now,))
        return now

    def _patiently(self, attempt: Callable[[], Answer]) -> Answer:
        """Wait for other writers; raise errors that users can act on."""
        give_up_at = time.monotonic() + self.PATIENCE_S
        while True:
            try:
                return attempt()
            except (apsw.BusyError, apsw.LockedError) as error:
                if time.monotonic() > give_up_at:
                    raise StoreUnreachable(
                        f"{self.path} has been locked by another process for "
                        f"{self.PATIENCE_S:.0f} s",
                    ) from error
                time.sleep(random.uniform(0.001, 0.02))  # noqa: S311  spreads processes, not a secret
            except apsw.FullError as error:
                raise StoreFull(
                    f"no space left for {self.path}. Make space and run the same command again",
                ) from error
            except apsw.CantOpenError as error:
                raise StoreUnreachable(f"cannot open {self.path}: {error}") from error
            except (apsw.IOError, apsw.NotADBError, apsw.CorruptError, apsw.ReadOnlyError) as error:
                raise StoreError(f"{self.path}: {error}{_advice(error)}") from error

    def _migrate_anyway(self) -> list[str]:
        if self._writer is not None:
            return self._migrate(self._writer)
        # A schema that is too old to be opened is exactly the one to migrate.
        connection = self._connect_writer()
        try:
            return self._migrate(connection)
        finally:
            connection.close()

    def _migrate(self, connection: apsw.Connection) -> list[str]:
        def attempt() -> list[str]:
            applied = []
            with connection:
                connection.execute(
                    "CREATE TABLE IF NOT EXISTS schema_migrations "
                    "(number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL)",
                )
                done = _schema(connection)
                for migration in self.migrations:
                    if migration.number > done:
                        for _ in connection.execute(migration.sql):
                            pass
                        connection.execute(
                            "INSERT INTO schema_migrations VALUES (?, ?, ?)",
                            (migration.number, migration.name, self.clock.now()),
                        )
                        applied.append(migration.name)
            return applied

        connection.transaction_mode = "IMMEDIATE"
        return self._patiently(attempt)

    def _data_version(self) -> int:
        return int(_opened(self._reader).pragma("data_version"))

    def _backup(self, target: Path) -> None:
        if target.exists():
            raise UsageError(f"{target} already exists. Name a new file")
        _create_private(target)
        copy = apsw.Connection(str(target))
        with copy.backup("main", _opened(self._reader), "main") as backup:
            while not backup.done:
                backup.step(1_000)
        copy.close()


class SqliteTransactions:
    """The file for modules that both databases share, whose transactions are coroutines."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def write(self, work: Work[Answer], *, repeatable: bool = True) -> Answer:  # noqa: ARG002  a file is never cut off
        return await self.write_one(work)

    async def write_one(self, work: Work[Answer]) -> Answer:
        return await self._database.write(lambda tx: run_at_once(work(AwaitableTransaction(tx))))

    async def read(self, work: Work[Answer]) -> Answer:
        return await self._database.read(lambda tx: run_at_once(work(AwaitableTransaction(tx))))

    async def info(self) -> DatabaseInfo:
        path = self._database.path
        files = (path, path.with_name(path.name + "-wal"))
        return DatabaseInfo(
            kind="sqlite",
            location=str(path),
            version=apsw.sqlite_lib_version(),
            size_bytes=sum(file.stat().st_size for file in files if file.exists()),
            schema=await self._database.schema(),
            latest_schema=self._database.latest_schema,
        )


def _create_private(path: Path) -> None:
    """Make an empty file that only its owner may read; SQLite gives -wal and -shm the same mode.

    A file that exists keeps its mode. An error is ignored here, because opening the file reports
    it.
    """
    with suppress(OSError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def _last_stamp(connection: apsw.Connection) -> int:
    """The store's own time, which a reader must not be behind."""
    return int(next(connection.execute("SELECT last_at FROM clock"))[0])


def _opened(connection: apsw.Connection | None) -> apsw.Connection:
    if connection is None:
        raise StoreError("the store is not open")
    return connection


def _schema(connection: apsw.Connection) -> int:
    known = connection.execute(
        "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'schema_migrations'",
    )
    if next(known, None) is None:
        return 0
    return int(
        next(connection.execute("SELECT coalesce(max(number), 0) FROM schema_migrations"))[0]
    )


def _advice(error: apsw.Error) -> str:
    """What to do about a file that cannot be used."""
    match error:
        case apsw.CorruptError():
            return (
                "; it is damaged. Stop all commands on it and keep a copy of it with its -wal file."
                " Then put a backup in its place, or save what can be read:"
                ' sqlite3 DAMAGED ".recover" | sqlite3 NEW, then `headgate db check` on NEW'
            )
        case apsw.NotADBError():
            return "; check --db. If it was a store, put a backup in its place"
        case apsw.ReadOnlyError():
            return "; it cannot be written. Check the permissions of the file and its folder"
        case _:
            return "; check its disk, then run the same command again"
