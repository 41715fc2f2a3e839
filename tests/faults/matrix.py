"""On which stores and with which handlers a fault is injected.

In `make test` every handler meets SQLite and the first of them PostgreSQL too, because starting
processes is what these tests spend their time on. The storms at full size take all combinations.
"""

from collections.abc import Iterator
from typing import NamedTuple

import pytest

FULL_SIZE = (pytest.mark.soak, pytest.mark.timeout(3_600))


class Storm(NamedTuple):
    """How many items, and how often something is killed."""

    items: int
    kills: int


def with_handlers(*names: str) -> pytest.MarkDecorator:
    """Give a test `project` and `name`."""
    pairs = [pytest.param("sqlite", name, id=f"sqlite-{name}") for name in names]
    first = names[0]
    pairs.append(
        pytest.param("postgres", first, id=f"postgres-{first}", marks=pytest.mark.postgres)
    )
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
            elif store == "postgres" and name != names[0]:
                continue
            yield pytest.param(store, name, storm, id=f"{store}-{name}-{size}", marks=marks)
