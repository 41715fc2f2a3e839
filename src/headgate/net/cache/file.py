"""The index of the cache: one SQLite file that several processes share."""

import fcntl
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import resources
from pathlib import Path
from typing import Any

import apsw
import msgspec

from headgate.core.named_queries import named_queries
from headgate.net.cache.entry import WriteBatch, as_parameters
from headgate.net.cache.request import digest

SCHEMA = 1
PAGE = 16_384
"""Bytes per page: a small body fits on one or two, and reads twice as fast as from 4 kB pages."""

_encode = msgspec.json.Encoder().encode

TROUBLE = (apsw.Error, OSError)
"""Errors that an unusable file raises."""
DAMAGE = (apsw.CorruptError, apsw.NotADBError, apsw.SchemaChangeError)
"""Errors that do not go away by themselves."""


class CacheFile:
    """Reads take microseconds and run on the calling thread; writes belong in a worker thread."""

    BUSY_READ_MS = 20
    BUSY_WRITE_MS = 10_000

    def __init__(self, path: Path, max_bytes: int) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._queries = load_queries()
        self._find = self._queries["find"]
        self._reader: apsw.Connection | None = None
        self._writer: apsw.Connection | None = None
        self._inode = 0

    @property
    def is_open(self) -> bool:
        return self._reader is not None

    def open(self) -> Exception | None:
        """Open the file. Set a damaged file aside first, and return its error."""
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with self._only_one():
            try:
                self._connect()
            except DAMAGE as error:
                self._set_aside()
                self._connect()
                return error
        return None

    def renew(self) -> None:
        """Start with an empty file, unless another process has already done so."""
        self.close()
        with self._only_one():
            if self._path.exists() and self._path.stat().st_ino == self._inode:
                self._set_aside()
        self.open()

    def close(self) -> None:
        reader, writer = self._reader, self._writer
        self._reader = self._writer = None
        for connection in (reader, writer):
            if connection is not None:
                connection.close()

    def find(self, key: str) -> list[Any]:
        """Return all variants of a key, with the body only if there is one variant."""
        return [] if self._reader is None else list(self._reader.execute(self._find, (key,)))

    def body(self, number: int) -> bytes | None:
        row = self._row("body", id=number)
        return None if row is None else row[0]

    def knows_url(self, url: str) -> bool:
        return self._row("knows_url", url=digest(url)) is not None

    def write(self, batch: WriteBatch) -> list[str]:
        """Commit a batch, evict down to the size limit, and return the unreferenced blobs."""
        with self._transaction() as connection:
            freed = self._change(connection, batch)
            freed += self._evict(connection)
            blobs = [blob for (blob,) in freed if blob is not None]
            return self.loose(blobs) if blobs else []

    def begin_sweep(self, now: int, before: int) -> bool:
        """Whether a sweep is due and no other process has begun it."""
        with self._transaction() as connection:
            return bool(self._run(connection, "begin_sweep", now=now, before=before))

    def loose(self, blobs: Sequence[str]) -> list[str]:
        return [name for (name,) in self._run(self._opened(), "loose", blobs=_json(blobs))]

    def _change(self, connection: apsw.Connection, batch: WriteBatch) -> list[Any]:
        freed: list[Any] = []
        if batch.forgotten:
            urls = [digest(url) for url in sorted(batch.forgotten)]
            freed += self._run(connection, "forget", urls=_json(urls))
        if batch.discarded:
            dropped = [(*place, number) for place, number in batch.discarded.items()]
            freed += self._run(connection, "discard", dropped=_json(dropped))
        if freshened := batch.freshened:
            self._run(connection, "freshen", **as_parameters(freshened))
        if new := batch.new:
            parameters = as_parameters(new)
            freed += self._run(connection, "make_room", entries=parameters["entries"])
            self._run(connection, "put", **parameters)
        if batch.used:
            self._run(connection, "use", used=_json(batch.used))
        return freed

    def _evict(self, connection: apsw.Connection) -> list[Any]:
        """Drop the least recently used entries, and 5 % more so that evictions stay rare."""
        surplus = self._run(connection, "bytes")[0][0] - self._max_bytes
        if surplus <= 0:
            return []
        surplus += self._max_bytes // 20
        victims = []
        for number, size in connection.execute(self._queries["least_used"]):
            victims.append(number)
            surplus -= size
            if surplus <= 0:
                break
        return self._run(connection, "evict", ids=_json(victims))

    def _row(self, name: str, /, **values: Any) -> Any | None:
        rows = [] if self._reader is None else self._run(self._reader, name, **values)
        return rows[0] if rows else None

    def _run(self, connection: apsw.Connection, name: str, /, **values: Any) -> list[Any]:
        return list(connection.execute(self._queries[name], values))

    @contextmanager
    def _transaction(self) -> Iterator[apsw.Connection]:
        connection = self._opened()
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            # A full disk may already have rolled the transaction back.
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def _opened(self) -> apsw.Connection:
        if self._writer is None:
            raise OSError("the cache's index is not open")
        return self._writer

    def _connect(self) -> None:
        # Only the owner may read the file; SQLite gives its other files the same mode.
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
        try:
            self._writer = self._connection(self.BUSY_WRITE_MS)
            self._writer.pragma("page_size", PAGE)
            self._writer.pragma("journal_mode", "wal")
            # A power cut may lose the last writes of a cache, as long as the file is not damaged.
            self._writer.pragma("synchronous", "normal")
            self._require_schema(self._writer)
            self._reader = self._connection(self.BUSY_READ_MS)
            self._reader.pragma("query_only", True)  # noqa: FBT003  a pragma's value has no name
            self._inode = self._path.stat().st_ino
        except BaseException:
            self.close()
            raise

    def _connection(self, busy_ms: int) -> apsw.Connection:
        with suppress(OSError):  # it exists, or cannot be made, which the next line reports
            os.close(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        connection = apsw.Connection(str(self._path))
        connection.set_busy_timeout(busy_ms)
        connection.pragma("cache_size", -8_192)
        return connection

    def _require_schema(self, connection: apsw.Connection) -> None:
        version = connection.pragma("user_version")
        if version == 0:
            schema = resources.files(__package__).joinpath("schema.sql").read_text("utf-8")
            with connection:
                for _ in connection.execute(schema):
                    pass
                connection.pragma("user_version", SCHEMA)
        elif version != SCHEMA:
            raise apsw.SchemaChangeError(f"the file has schema {version}, not {SCHEMA}")

    def _set_aside(self) -> None:
        """Rename the file, for inspection. Processes that have it open keep their data."""
        for suffix in ("", "-wal", "-shm"):
            path = self._path.with_name(self._path.name + suffix)
            if path.exists():
                path.replace(self._path.with_name(f"{self._path.name}.damaged{suffix}"))

    @contextmanager
    def _only_one(self) -> Iterator[None]:
        """Only one process at a time may decide that the file is damaged."""
        lock = self._path.with_name(self._path.name + ".lock")
        number = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(number, fcntl.LOCK_EX)
            yield
        finally:
            os.close(number)


def load_queries() -> Mapping[str, str]:
    return named_queries(resources.files(__package__).joinpath("queries.sql").read_text("utf-8"))


def _json(value: Any) -> str:
    return _encode(value).decode()
