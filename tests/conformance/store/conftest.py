"""One suite of laws, run on every store."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from headgate.ports.store import Store
from tests.kit.postgres import PostgresServer
from tests.kit.stores import KINDS, Place, PostgresPlace, SqlitePlace

MARKS = {"postgres": [pytest.mark.postgres]}
EVERY_STORE = [pytest.param(kind, marks=MARKS.get(kind, [])) for kind in KINDS]


@pytest.fixture(scope="session")
def migrated(postgres_server: PostgresServer) -> Iterator[PostgresPlace]:
    """One database for all tests that find it empty: making one for each takes longer than most."""
    name = postgres_server.create_database()
    lying = PostgresPlace(postgres_server.url(name))
    asyncio.run(lying.store().migrate())
    yield lying
    lying.close()
    postgres_server.drop_database(name)


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file without rows, to be copied: migrating one takes longer than most tests."""
    path = tmp_path_factory.mktemp("migrated") / "store.db"
    asyncio.run(SqlitePlace(path).store().migrate())
    return path


@pytest.fixture(params=EVERY_STORE)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """A database without rows; the test must have closed its connections when it ends."""
    if request.param == "sqlite":
        empty: Path = request.getfixturevalue("migrated_file")
        lying = SqlitePlace(shutil.copy(empty, tmp_path / "store.db"))
        yield lying
        lying.assert_closed()
        return
    shared: PostgresPlace = request.getfixturevalue("migrated")
    shared.empty()
    yield shared
    server: PostgresServer = request.getfixturevalue("postgres_server")
    server.assert_unused(shared.url.rpartition("/")[2])


@pytest.fixture(params=EVERY_STORE)
def fresh_places(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[Place]]:
    """Two databases of the same kind, not yet migrated."""
    if request.param == "sqlite":
        files = [SqlitePlace(tmp_path / name) for name in ("one.db", "two.db")]
        yield list(files)
        for file in files:
            file.assert_closed()
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    names = [server.create_database() for _ in range(2)]
    places = [PostgresPlace(server.url(name)) for name in names]
    yield list(places)
    for database in places:
        database.close()
    for name in names:
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
