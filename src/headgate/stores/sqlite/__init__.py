"""The embedded default: one file, one writer at a time, many readers."""

from headgate.stores.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
