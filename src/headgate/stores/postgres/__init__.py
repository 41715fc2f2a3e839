"""Any number of processes on any number of hosts: the same contract on a PostgreSQL server."""

from headgate.stores.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
