"""One private, durable PostgreSQL server for a whole run, started when first asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

from benchmarks.measurement import UnavailableError
from tests.kit.postgres import PostgresMissing, PostgresServer

# The same for every contender: no checkpoint falls into anyone's turn.
SETTINGS = {"shared_buffers": "256MB", "max_wal_size": "4GB", "checkpoint_timeout": "30min"}


class Postgres:
    def __init__(self) -> None:
        self._server: PostgresServer | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._server is not None:
            self._server.close()

    @contextmanager
    def database(self) -> Iterator[str]:
        """The address of a fresh database that is dropped afterwards."""
        server = self._running()
        name = server.create_database()
        try:
            yield server.url(name)
        finally:
            server.drop_database(name)

    def _running(self) -> PostgresServer:
        if self._server is None:
            try:
                server = PostgresServer(durable=True, settings=SETTINGS)
            except PostgresMissing as error:
                raise UnavailableError(str(error)) from error
            server.start()
            self._server = server
        return self._server
