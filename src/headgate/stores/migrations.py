"""The schema as numbered SQL files, applied in order."""

from functools import cache
from typing import NamedTuple

from headgate.core.errors import StoreMismatch
from headgate.stores.queries import folder_of


class Migration(NamedTuple):
    """One step of the schema."""

    number: int
    name: str
    sql: str


@cache
def load_migrations(package: str) -> tuple[Migration, ...]:
    """The migrations of a store, in order."""
    return tuple(
        Migration(int(file.name[:4]), file.stem, file.read_text("utf-8"))
        for file in sorted((folder_of(package) / "migrations").glob("*.sql"))
    )


def demand_current(schema: int, latest: int) -> None:
    """Raise StoreMismatch unless the database has exactly the schema of this program."""
    if schema < latest:
        raise StoreMismatch(
            f"the database has schema {schema}, this version of Headgate needs {latest}: "
            "run `headgate db migrate`",
        )
    if schema > latest:
        raise StoreMismatch(
            f"the database has schema {schema}, newer than the {latest} that this version of "
            "Headgate knows: upgrade Headgate",
        )
