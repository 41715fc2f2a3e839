"""One suite of laws, run on every ledger."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from headgate.ports.limits import LimitLedger
from headgate.stores.postgres import PostgresStore
from tests.kit.ledgers import KINDS, LedgerPlace
from tests.kit.postgres import PostgresServer
from tests.kit.redis import RedisServer
from tests.kit.stores import PostgresPlace, SqlitePlace

MARKS = {"postgres": [pytest.mark.postgres]}
EVERY_LEDGER = [pytest.param(kind, marks=MARKS.get(kind, [])) for kind in KINDS]


@pytest.fixture(scope="session")
def migrated(postgres_server: PostgresServer) -> Iterator[PostgresPlace]:
    """One database for all tests: making one for each takes longer than most of them."""
    name = postgres_server.create_database()
    lying = PostgresPlace(postgres_server.url(name))
    asyncio.run(PostgresStore(lying.url).migrate())
    yield lying
    lying.close()
    postgres_server.drop_database(name)


@pytest.fixture(params=EVERY_LEDGER)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LedgerPlace]:
    """A ledger that knows nothing; the test must have closed its connections when it ends."""
    if request.param == "sqlite":
        file = SqlitePlace(tmp_path / "store.db")
        yield LedgerPlace("sqlite", str(file.path))
        file.assert_closed()
    elif request.param == "postgres":
        shared: PostgresPlace = request.getfixturevalue("migrated")
        shared.empty()
        yield LedgerPlace("postgres", shared.url)
        server: PostgresServer = request.getfixturevalue("postgres_server")
        server.assert_unused(shared.url.rpartition("/")[2])
    else:
        redis: RedisServer = request.getfixturevalue("redis_server")
        redis.empty()
        yield LedgerPlace("redis", redis.url())
        redis.assert_unused()


@pytest.fixture
async def ledger(place: LedgerPlace) -> AsyncIterator[LimitLedger]:
    """An open ledger."""
    async with place.open() as opened:
        yield opened


@pytest.fixture
async def other(place: LedgerPlace, ledger: LimitLedger) -> AsyncIterator[LimitLedger]:
    """A second client of the same ledger, as another process would be."""
    async with place.open() as opened:
        yield opened
