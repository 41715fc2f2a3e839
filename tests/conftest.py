"""Fixtures that every test may ask for."""

import gc
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from xdist.scheduler import LoadScopeScheduling

from headgate.app import telemetry
from tests.kit import service
from tests.kit.datasette import DatasetteServer
from tests.kit.json_server import JsonServer
from tests.kit.kinto import KintoServer
from tests.kit.looker_client import LookerClient
from tests.kit.postgres import PostgresMissing, PostgresServer, find_binaries, skip_or_fail
from tests.kit.redis import RedisServer
from tests.kit.service import ServiceMissing

SOAKING = os.environ.get("HEADGATE_SOAK") == "1"
MEMORY = Path("/dev/shm")
ENOUGH_BYTES = 4 * 1024**3
"""Free there, so that the files of a whole run fit many times."""


LONGEST = (
    "browser/test_looks.py",
    "docs/test_commands.py",
    "faults/test_api.py",
    "e2e/test_benchmarks.py",
    "faults/test_extract.py",
    "e2e/test_extract_sources.py",
    "faults/test_ledger.py",
    "docs/test_examples.py",
    "faults/test_poison.py",
    "e2e/test_budgets.py",
    "docs/test_site.py",
    "e2e/test_api_uploads.py",
    "e2e/test_cli_run.py",
    "e2e/test_api_operations.py",
    "e2e/test_api_access.py",
    "e2e/test_api_places.py",
    "conformance/place/test_place.py",
    "e2e/test_api_bodies.py",
    "e2e/test_api_schema.py",
    "faults/test_kill.py",
    "e2e/test_http.py",
)
"""Files that take longest, the longest first: whatever begins late would be waited for alone."""


def work_in_memory() -> None:
    """Put what tests write into memory, where there is enough of it and no folder was named.

    A store waits for the disk at each commit. No test cuts the power, so none can tell the
    difference, but together they waited for minutes.
    """
    with_room = MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ENOUGH_BYTES
    if "TMPDIR" not in os.environ and with_room and os.access(MEMORY, os.W_OK):
        os.environ["TMPDIR"] = str(MEMORY)
        tempfile.tempdir = None  # it may have been asked for already


gc.disable()  # until all tests are collected, see `pytest_collection_finish`
work_in_memory()
# The tests start hundreds of processes: without bytecode each would compile all it imports.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# How long an example takes says how busy the machine is, not whether the law holds.
hypothesis.settings.register_profile(
    "suite", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("suite")


class FileScheduling(LoadScopeScheduling):
    """Runs the tests of a file in one process, and those of the browser, which share it, too.

    Groups that tests are marked with do not hold: xdist 3.8 writes them where pytest 9.2 does not
    read them. Each process then started the servers of each file.
    """

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        folder = file.rpartition("/")[0]
        return folder if folder.endswith("/browser") else file


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> FileScheduling | None:
    return FileScheduling(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    places = {Path(__file__).parent / name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path, len(LONGEST)))
    for item in items:
        if "postgres_server" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.postgres)
        if not SOAKING and item.get_closest_marker("soak"):
            item.add_marker(pytest.mark.skip(reason="a storm at full size: `make soak`"))


def pytest_collection_finish() -> None:
    """Spare each search for garbage the thousands of tests, which stay until the end.

    Without this, a third of the time of a collection went into such searches.
    """
    gc.freeze()
    gc.enable()


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
    for kind in (DatasetteServer, KintoServer, JsonServer, LookerClient):
        try:
            kind.find()
        except ServiceMissing as absent:
            line = f"!! Nothing was tested with {kind.program}. {absent}"
            terminalreporter.write_line(line, red=True)


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

    A test that asks for it by `request.getfixturevalue` marks the parameter:
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
