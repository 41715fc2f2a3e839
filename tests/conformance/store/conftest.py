"""One suite of laws, run on every store."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from headgate.ports.store import Store
from tests.kit.stores import KINDS, Place, PostgresPlace, SqlitePlace

MARKS = {"postgres": [pytest.mark.postgres]}


@pytest.fixture(params=[pytest.param(kind, marks=MARKS.get(kind, [])) for kind in KINDS])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """An empty database; the test must have closed its connections when it ends."""
    if request.param == "postgres":
        # Checks on its own exit that nobody is connected any more.
        yield PostgresPlace(request.getfixturevalue("postgres_url"))
        return
    lying = SqlitePlace(tmp_path / "store.db")
    yield lying
    lying.assert_closed()


@pytest.fixture
def another_place(place: Place, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Place]:
    """A second database of the same kind."""
    if place.kind == "sqlite":
        yield SqlitePlace(tmp_path / "another.db")
        return
    server = request.getfixturevalue("postgres_server")
    name = server.create_database()
    yield PostgresPlace(server.url(name))
    server.assert_unused(name)
    server.drop_database(name)


@pytest.fixture
async def store(place: Place) -> AsyncIterator[Store]:
    """An open store; what it did must have left the database lawful."""
    async with place.store() as opened:
        yield opened
        assert await opened.reads.check(repair=False) == []


@pytest.fixture
async def other(place: Place, store: Store) -> AsyncIterator[Store]:
    """A second client of the same database, as another process would be."""
    async with place.store() as opened:
        yield opened
