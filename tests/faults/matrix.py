"""On which stores and with which handlers a fault is injected.

In `make test` not every handler meets every store, because starting processes is what these tests
spend their time on. The storms at full size take all combinations.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import pytest

FULL_SIZE = (pytest.mark.soak, pytest.mark.timeout(3_600))


class Storm(NamedTuple):
    """How many items, and how often something is killed."""

    items: int
    kills: int


def crossed(on_sqlite: str, on_postgres: str) -> pytest.MarkDecorator:
    """Give a test `project` and `name`, where kind of handler and store have little in common."""
    pairs = [
        pytest.param("sqlite", on_sqlite, id=f"sqlite-{on_sqlite}"),
        pytest.param(
            "postgres", on_postgres, id=f"postgres-{on_postgres}", marks=pytest.mark.postgres
        ),
    ]
    return pytest.mark.parametrize(("project", "name"), pairs, indirect=["project"])


def with_handlers(
    *names: str, on_postgres: Sequence[pytest.MarkDecorator] = ()
) -> pytest.MarkDecorator:
    """Give a test `project` and `name`: every handler on SQLite, the first on PostgreSQL too."""
    pairs = [pytest.param("sqlite", name, id=f"sqlite-{name}") for name in names]
    marks = (pytest.mark.postgres, *on_postgres)
    pairs.append(pytest.param("postgres", names[0], id=f"postgres-{names[0]}", marks=marks))
    return pytest.mark.parametrize(("project", "name"), pairs, indirect=["project"])


def storming(short: Storm, full: Storm, *names: str) -> pytest.MarkDecorator:
    """Give a test `project`, `name` and `storm`."""
    cases = [*_storms(short, "short", names), *_storms(full, "full", names)]
    return pytest.mark.parametrize(("project", "name", "storm"), cases, indirect=["project"])


def _storms(storm: Storm, size: str, names: tuple[str, ...]) -> Iterator[object]:
    for store in ("sqlite", "postgres"):
        for name in names:
            marks = [pytest.mark.postgres] if store == "postgres" else []
            if size == "full":
                marks += FULL_SIZE
            elif (store, name) not in {("sqlite", names[0]), ("postgres", names[-1])}:
                continue
            yield pytest.param(store, name, storm, id=f"{store}-{name}-{size}", marks=marks)
