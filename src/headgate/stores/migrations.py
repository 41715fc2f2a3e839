"""The schema as numbered SQL files, applied in order."""

from importlib import resources
from typing import NamedTuple

from headgate.core.errors import StoreMismatch


class Migration(NamedTuple):
    """One step of the schema."""

    number: int
    name: str
    sql: str


def load_migrations(package: str) -> list[Migration]:
    """The migrations of a store, in order."""
    folder = resources.files(package).joinpath("migrations")
    files = sorted(
        (file for file in folder.iterdir() if file.name.endswith(".sql")),
        key=lambda file: file.name,
    )
    return [
        Migration(int(file.name[:4]), file.name.removesuffix(".sql"), file.read_text("utf-8"))
        for file in files
    ]


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
