"""Every fault is injected into a real command on a real store."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kit.postgres import PostgresMissing, PostgresServer, skip_or_fail
from tests.kit.project import Project

SETTINGS = {
    # The tests count redone work, so the bound on what is unflushed is a small one.
    "worker__flush_items": "50",
    "worker__concurrency": "16",
    "retry__backoff_base_s": "0",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Project]:
    """A project on each store."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path}/headgate.db"
    else:
        url = request.getfixturevalue("postgres_url")
    return Project(tmp_path, url, SETTINGS)


@pytest.fixture
def sqlite_project(tmp_path: Path) -> Project:
    """A project on SQLite, for faults that only a file can have."""
    return Project(tmp_path, f"sqlite:///{tmp_path}/headgate.db", SETTINGS)


@pytest.fixture
def own_server() -> Iterator[PostgresServer]:
    """A server that the test may stop, and that keeps what it said it has kept."""
    try:
        server = PostgresServer(durable=True)
    except PostgresMissing as missing:
        skip_or_fail(missing)
    with server:
        yield server
