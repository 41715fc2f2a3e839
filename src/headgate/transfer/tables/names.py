"""Names of tables and columns that a database can tell apart."""

from collections.abc import Iterable


def distinct(names: Iterable[str]) -> list[str]:
    """The names in order; one that differs from another only by case gets a number."""
    taken: set[str] = set()
    return [take(name, taken) for name in names]


def take(name: str, taken: set[str]) -> str:
    """The name, or the name with a number if it is taken; it is taken from then on."""
    wanted = name.replace("\x00", "") or "_"
    found, number = wanted, 1
    while found.casefold() in taken:
        number += 1
        found = f"{wanted}_{number}"
    taken.add(found.casefold())
    return found


def quoted(name: str) -> str:
    """A name in SQL."""
    return '"' + name.replace('"', '""') + '"'
