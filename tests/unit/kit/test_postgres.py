import contextlib
from pathlib import Path

import psutil
import psycopg
import pytest

from tests.kit import postgres
from tests.kit.postgres import PostgresMissing, PostgresServer

pytestmark = pytest.mark.postgres


@pytest.fixture(scope="module")
def own_server(postgres_server):
    """Apart from the shared server, which no test may stop."""
    with PostgresServer(durable=True, settings={"max_connections": "20"}) as server:
        yield server


def ask(url, statement):
    with psycopg.connect(url) as connection:
        return connection.execute(statement).fetchone()[0]


def write_a_row(url):
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE kept (n int)")
        connection.execute("INSERT INTO kept VALUES (1)")


def test_every_database_is_new_and_apart(postgres_server, postgres_url):
    write_a_row(postgres_url)
    other = postgres_server.create_database()
    try:
        assert ask(postgres_server.url(other), "SELECT to_regclass('kept')") is None
    finally:
        postgres_server.drop_database(other)


def test_a_database_can_be_copied_from_a_template(postgres_server, postgres_url):
    write_a_row(postgres_url)
    copy = postgres_server.create_database(template=postgres_url.rpartition("/")[2])
    try:
        assert ask(postgres_server.url(copy), "SELECT count(*) FROM kept") == 1
    finally:
        postgres_server.drop_database(copy)


@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_a_restart_cuts_connections_and_keeps_port_and_data(own_server, mode):
    url = own_server.url(own_server.create_database())
    write_a_row(url)
    with contextlib.closing(psycopg.connect(url)) as connection:
        before = own_server.pid
        own_server.restart(mode)
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
    assert own_server.pid != before
    assert ask(url, "SELECT count(*) FROM kept") == 1


def test_a_stopped_server_refuses_connections_until_it_is_started(own_server):
    own_server.stop()
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(own_server.url())
    own_server.start()
    assert ask(own_server.url(), "SELECT 1") == 1


def test_durability_is_a_choice(postgres_server, own_server):
    assert ask(postgres_server.url(), "SHOW fsync") == "off"
    for setting in ("fsync", "synchronous_commit", "full_page_writes"):
        assert ask(own_server.url(), f"SHOW {setting}") == "on"
    assert ask(own_server.url(), "SHOW max_connections") == "20"


def test_a_stranger_on_this_machine_is_refused(postgres_server):
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(postgres_server.url().replace("headgate:", "headgate:guess"))


def test_nothing_is_left_when_it_is_closed(postgres_server):
    server = PostgresServer()
    server.start()
    pid = server.pid
    data = Path(ask(server.url(), "SHOW data_directory"))
    assert psutil.Process(pid).uids().effective != 0
    server.close()
    assert not psutil.pid_exists(pid)
    assert not data.parent.exists()


def test_a_connection_left_open_is_named(postgres_server):
    database = postgres_server.create_database()
    with contextlib.closing(psycopg.connect(postgres_server.url(database))) as connection:
        connection.execute("SELECT 'forgotten'")
        with pytest.raises(AssertionError, match="forgotten"):
            postgres_server.assert_unused(database, patience_s=0)
    postgres_server.assert_unused(database)
    postgres_server.drop_database(database)


def test_a_taken_port_is_abandoned_for_another(monkeypatch, postgres_server):
    ports = [postgres_server.port, *(postgres.free_port() for _ in range(4))]
    monkeypatch.setattr(postgres, "free_port", iter(ports).__next__)
    with PostgresServer() as server:
        assert server.port != postgres_server.port
        assert ask(server.url(), "SELECT 1") == 1


@pytest.mark.parametrize(
    ("ci", "outcome"), [("true", pytest.fail.Exception), ("", pytest.skip.Exception)]
)
def test_without_binaries_a_laptop_skips_and_ci_fails(monkeypatch, ci, outcome):
    monkeypatch.setenv("CI", ci)
    with pytest.raises(outcome, match="make services"):
        postgres.skip_or_fail(PostgresMissing(PostgresMissing.__doc__))
