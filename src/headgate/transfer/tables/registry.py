"""The kinds of files with several tables, by the endings of their names."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

from headgate.ports.tables import TableWriter
from headgate.transfer.formats.registry import need

SQLITE = "sqlite_file:SqliteWriter"
DUCKDB = "duckdb_file:DuckdbWriter"
WRITERS: Mapping[str, str] = {
    ".sqlite": SQLITE,
    ".sqlite3": SQLITE,
    ".db": SQLITE,
    ".duckdb": DUCKDB,
}
"""Classes of writers as `module:name`, which are imported when they are used."""


def is_tables(path: Path) -> bool:
    """Whether a file of this name holds several tables."""
    return path.suffix.lower() in WRITERS


def open_tables(path: Path) -> TableWriter:
    """The writer for a file; UsageError if a library is missing."""
    reference = WRITERS[path.suffix.lower()]
    if reference == DUCKDB:
        need("duckdb", "duckdb")
    module, _, name = reference.partition(":")
    found = import_module(f"headgate.transfer.tables.{module}")
    writer: TableWriter = getattr(found, name)(path)
    return writer
