"""Fixtures that every test may ask for."""

import os
from collections.abc import Iterator

import pytest

from headgate.app import telemetry
from tests.kit import service
from tests.kit.postgres import PostgresMissing, PostgresServer, find_binaries, skip_or_fail
from tests.kit.redis import RedisServer
from tests.kit.service import ServiceMissing

SOAKING = os.environ.get("HEADGATE_SOAK") == "1"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "postgres_server" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.postgres)
        if not SOAKING and item.get_closest_marker("soak"):
            item.add_marker(pytest.mark.skip(reason="a storm at full size: `make soak`"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """A skipped store must not pass for a tested one."""
    try:
        find_binaries()
    except PostgresMissing as missing:
        terminalreporter.write_line(f"!! Nothing was tested on PostgreSQL. {missing}", red=True)
    for program in ("redis-server", "nginx", "haproxy", "sshd", "vsftpd", "chromium"):
        try:
            service.find_program(program)
        except ServiceMissing as absent:
            terminalreporter.write_line(f"!! Nothing was tested on {program}. {absent}", red=True)


@pytest.fixture(autouse=True)
def fresh_log() -> Iterator[None]:
    """A command under test sets the log up for its own streams, which are closed afterwards."""
    yield
    telemetry.configure("warning", "text")


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """One server for the whole run. A test that stops or restarts one starts its own."""
    try:
        server = PostgresServer()
    except PostgresMissing as missing:
        skip_or_fail(missing)
    with server:
        yield server


@pytest.fixture(scope="session")
def redis_server() -> Iterator[RedisServer]:
    """One server for the whole run. A test that stops or restarts one starts its own."""
    service.need(RedisServer.program)
    with RedisServer() as server:
        yield server


@pytest.fixture
def postgres_url(request: pytest.FixtureRequest, postgres_server: PostgresServer) -> Iterator[str]:
    """A new, empty database; the test must have closed its connections when it ends.

    Whoever asks for it by `request.getfixturevalue` marks the parameter:
    `pytest.param("postgres", marks=pytest.mark.postgres)`.
    """
    if not request.node.get_closest_marker("postgres"):
        pytest.fail("mark this test `postgres`: without it, `make check` would need a server")
    database = postgres_server.create_database()
    yield postgres_server.url(database)
    try:
        postgres_server.assert_unused(database)
    finally:
        postgres_server.drop_database(database)
