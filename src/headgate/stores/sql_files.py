"""Loads the named queries and numbered migrations of a store."""

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from headgate.core.errors import StoreMismatch
from headgate.core.named_queries import named_queries


def folder_of(package: str) -> Path:
    """The folder of a package; `importlib.resources` would load the whole of zipfile."""
    return Path(import_module(package).__path__[0])


@cache
def load_queries(package: str) -> dict[str, str]:
    """The named statements of a store's `queries.sql`."""
    return named_queries((folder_of(package) / "queries.sql").read_text("utf-8"))


class Migration(NamedTuple):
    number: int
    name: str
    sql: str


@cache
def load_migrations(package: str) -> tuple[Migration, ...]:
    return tuple(
        Migration(int(file.name[:4]), file.stem, file.read_text("utf-8"))
        for file in sorted((folder_of(package) / "migrations").glob("*.sql"))
    )


def require_current(schema: int, latest: int) -> None:
    """Raise StoreMismatch unless the database has exactly the schema of this program."""
    if schema < latest:
        raise StoreMismatch(
            f"the database has schema {schema}, this version of Headgate needs {latest}. "
            "Run `headgate db migrate`",
        )
    if schema > latest:
        raise StoreMismatch(
            f"the database has schema {schema}, newer than the {latest} that this version of "
            "Headgate knows. Upgrade Headgate",
        )
