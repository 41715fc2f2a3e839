"""A PostgreSQL server: any number of processes on any number of hosts."""

from headgate.stores.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
