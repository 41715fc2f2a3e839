"""Datasette over a SQLite file, which says what its rows truly are."""

import contextlib
import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

from tests.kit.ports import LOOPBACK
from tests.kit.source_server import SourceServer

DELAY = """
import asyncio
from datasette import hookimpl

@hookimpl
def asgi_wrapper(datasette):
    def wrapped(app):
        async def slow(scope, receive, send):
            if scope["type"] == "http":
                await asyncio.sleep({delay_s})
            await app(scope, receive, send)
        return slow
    return wrapped
"""
"""A plugin that answers late."""


class DatasetteServer(SourceServer):
    """Serves the file `db.db` under `/db`. Rows may change while it runs, through `execute`.

    It gives at most `page_rows` rows at a time, and waits `delay_s` before each answer.
    """

    program = "datasette"
    always = "/-/versions.json"

    def __init__(self, *, page_rows: int = 1000, delay_s: float = 0.0) -> None:
        super().__init__()
        self._page_rows = page_rows
        self._plugins = self.folder / "plugins"
        self._plugins.mkdir()
        if delay_s:
            (self._plugins / "delay.py").write_text(DELAY.format(delay_s=delay_s))
        self.database = self.folder / "db.db"
        self.execute("PRAGMA journal_mode = wal")

    def command(self) -> list[str]:
        words = ["serve", str(self.database), "--host", LOOPBACK, "--port", str(self.port)]
        words += ["--setting", "max_returned_rows", str(self._page_rows)]
        return [*words, "--setting", "suggest_facets", "off", "--plugins-dir", str(self._plugins)]

    def execute(self, *statements: str) -> None:
        """Change rows, in one transaction."""
        with contextlib.closing(sqlite3.connect(self.database)) as connection, connection:
            for statement in statements:
                connection.execute(statement)

    def insert(self, table: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Add rows, all with the columns of the first one."""
        given = list(rows)
        names = ", ".join(given[0])
        marks = ", ".join(f":{name}" for name in given[0])
        with contextlib.closing(sqlite3.connect(self.database)) as connection, connection:
            connection.executemany(f"INSERT INTO {table} ({names}) VALUES ({marks})", given)

    def rows(self, table: str) -> list[dict[str, Any]]:
        """What the file truly holds, in the order of its keys."""
        with contextlib.closing(sqlite3.connect(self.database)) as connection:
            connection.row_factory = sqlite3.Row
            return [dict(row) for row in connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2")]
