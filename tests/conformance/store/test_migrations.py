import asyncio
import re

import apsw
import psycopg
import pytest

from headgate.core.errors import StoreMismatch, UsageError
from headgate.ports.reads import EventQuery, ItemQuery, JobQuery
from headgate.stores.sql_files import Migration, load_migrations, load_queries
from tests.kit import factories

PACKAGES = {"sqlite": "headgate.stores.sqlite", "postgres": "headgate.stores.postgres"}
SCHEMA = {
    "sqlite": "SELECT name, sql FROM sqlite_master ORDER BY name",
    "postgres": """
        SELECT table_name || '.' || column_name, data_type || is_nullable || column_default
        FROM information_schema.columns WHERE table_schema = 'public'
        UNION ALL SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'
        UNION ALL SELECT conrelid::regclass || conname, pg_get_constraintdef(oid)
        FROM pg_constraint WHERE connamespace = 'public'::regnamespace
        ORDER BY 1, 2
    """,
}
TABLES = re.compile(r"CREATE TABLE (\w+)")
COLUMNS = re.compile(r"^    ([a-z_]+) (?:\w+)", re.MULTILINE)


REFUSALS = (apsw.ConstraintError, psycopg.errors.IntegrityError)
LATER = Migration(9000, "9000_later", "CREATE TABLE later (n integer)")


def with_a_later_step(place):
    """The store of a program that knows one migration more."""
    store = place.store()
    store._database.migrations.append(LATER)
    return store


def own_schema(place):
    return [row for row in place.execute(SCHEMA[place.kind]) if "sqlite_stat" not in str(row[0])]


@pytest.fixture
def place(fresh_places):
    return fresh_places[0]


@pytest.fixture
def another_place(fresh_places):
    return fresh_places[1]


async def test_an_empty_database_is_migrated_when_it_is_opened(place):
    async with place.store() as store:
        assert await store.reads.jobs(JobQuery()) == []
        names = [migration.name for migration in load_migrations(PACKAGES[place.kind])]
        applied = place.execute("SELECT name FROM schema_migrations ORDER BY number")
        assert [name for (name,) in applied] == names


async def test_a_migrated_database_equals_a_fresh_one(place, another_place):
    async with place.store():
        pass
    assert await with_a_later_step(place).migrate() == [LATER.name]
    async with with_a_later_step(another_place):
        pass
    assert own_schema(place) == own_schema(another_place)


OLD_ROWS = (
    """
    INSERT INTO jobs (owner, name, handler, source, state, created_at, updated_at)
    VALUES ('ann', 'old', 'h', 'f.csv', 'INGESTING', 1, 1)
    """,
    """
    INSERT INTO items (job_id, key, status, updated_at, owner, handler, error_class, input)
    VALUES (1, 'a', 'ERROR', 1, 'ann', 'h', 'timeout', '{}'),
        (1, 'b', 'PENDING', 1, 'ann', 'h', NULL, '{}')
    """,
    "INSERT INTO events (at, job_id, kind, message) VALUES (1, 1, 'k', 'm'), (1, NULL, 'k', 'm')",
)


async def test_a_database_from_before_the_service_keeps_its_rows(place, another_place):
    before = place.store()
    del before._database.migrations[4:]
    await before.migrate()
    for statement in OLD_ROWS:
        place.execute(statement)
    assert await place.store().migrate() == [
        "0005_service",
        "0006_results",
        "0007_claim_size",
        "0008_variants",
        "0009_traces",
        "0010_options",
        "0011_access",
        "0012_mirrors",
    ]
    async with another_place.store():
        pass
    assert own_schema(place) == own_schema(another_place)
    async with place.store() as store:
        job = await store.reads.job(1, "ann")
        assert (job.reading, job.file, job.client, job.ingest) == (None, "", "", {})
        (group,) = await store.reads.error_groups(1)
        assert (group.signature, group.count) == ("timeout", 1)
        query = ItemQuery(1, signature="timeout")
        assert [row.key for row in (await store.reads.items(query)).items] == ["a"]
        assert len(await store.reads.events(EventQuery(owner="ann"))) == 1


async def test_a_database_from_before_every_end_had_a_result_takes_them(place):
    before = place.store()
    del before._database.migrations[5:]
    await before.migrate()
    for statement in OLD_ROWS[:2]:
        place.execute(statement)
    told = "UPDATE items SET result = '{}' WHERE status = 'ERROR'"
    with pytest.raises(REFUSALS):
        place.execute(told)
    assert await place.store().migrate() == [
        "0006_results",
        "0007_claim_size",
        "0008_variants",
        "0009_traces",
        "0010_options",
        "0011_access",
        "0012_mirrors",
    ]
    place.execute(told)
    async with place.store() as store:
        row = (await store.reads.items(ItemQuery(1, with_result=True))).items[0]
        assert (row.key, row.result) == ("a", "{}")


async def test_migrating_again_applies_nothing_and_keeps_the_data(place, store):
    job = await factories.job(store, 3)
    assert await store.migrate() == []
    async with place.store() as again:
        assert (await again.reads.counts(job.id)).pending == 3


async def test_an_older_schema_names_the_command_that_helps(place):
    async with place.store() as store:
        job = await factories.job(store, 3)
    with pytest.raises(StoreMismatch, match="headgate db migrate"):
        async with with_a_later_step(place):
            pass
    assert await with_a_later_step(place).migrate() == [LATER.name]
    async with with_a_later_step(place) as store:
        assert (await store.reads.counts(job.id)).pending == 3
        assert (await store.reads.status()).schema == LATER.number


async def test_several_processes_may_migrate_at_once(place):
    stores = [place.store() for _ in range(4)]
    await asyncio.gather(*(store.__aenter__() for store in stores))
    for store in stores:
        await store.__aexit__(None, None, None)
    applied = place.execute("SELECT number FROM schema_migrations ORDER BY number")
    migrations = load_migrations(PACKAGES[place.kind])
    assert [number for (number,) in applied] == [migration.number for migration in migrations]


async def test_a_newer_schema_asks_for_a_newer_program(place):
    async with place.store():
        pass
    await with_a_later_step(place).migrate()
    with pytest.raises(StoreMismatch, match="Upgrade Headgate"):
        async with place.store():
            pass


async def test_a_backup_is_made_or_its_tool_is_named(place, store, tmp_path):
    job = await factories.job(store, 3)
    target = tmp_path / "copy.db"
    if place.kind == "postgres":
        with pytest.raises(UsageError, match="pg_dump") as refusal:
            await store.backup(str(target))
        assert "***" in str(refusal.value)
        return
    await store.backup(str(target))
    async with type(store)(target) as copy:
        assert (await copy.reads.counts(job.id)).pending == 3
    with pytest.raises(UsageError, match="exists"):
        await store.backup(str(target))


ONLY_SQLITE = {
    # One statement of PostgreSQL does what SQLite does in several, all under its one write lock.
    "worker_alive",
    "select_fresh",
    "select_retries",
    "select_ungated",
    "select_chosen",
    "select_suspects",
    "next_gate",
    "select_fresh_at",
    "select_retries_at",
    "lease_items",
    "insert_attempts",
    "settled_ids",
    "set_gates",
    "set_variants",
    "keep_reusable",
    "add_count",
    # Found out by looking before and after an insert, which COPY does not allow.
    "max_item_id",
    "count_new",
    # PostgreSQL merges the branches of a page inside the statement.
    "owners",
    "unfinished_jobs",
}
ONLY_POSTGRES = {
    "claim",
    "claim_by_gate",
    "undelivered",
    "same_decision",
    "any_export",
    "add_counts",
    # Keys have a table of their own there.
    "newest_item",
    "insert_keys",
    # Where writers work side by side, what is decided on must be kept from changing.
    "lock_job",
    "lock_item",
    "lock_owner",
    "lock_user",
    "lock_logins",
    "lock_counts",
    "lock_mirrors",
    "lock_migrations",
    "server_info",
    "has_schema",
    "schema",
    "create_migrations",
    "record_migration",
    "configure",
    "listen",
    "ring",
}


def test_both_stores_have_the_same_queries_but_for_those_with_a_reason():
    sqlite, postgres = (set(load_queries(PACKAGES[kind])) for kind in ("sqlite", "postgres"))
    assert sqlite - postgres == ONLY_SQLITE
    assert postgres - sqlite == ONLY_POSTGRES


def test_both_schemas_have_the_same_tables_and_columns():
    found = {}
    for kind, package in PACKAGES.items():
        text = "\n".join(migration.sql for migration in load_migrations(package))
        tables = TABLES.split(text)[1:]
        found[kind] = {
            name: set(COLUMNS.findall(body.partition("\n)")[0]))
            for name, body in zip(tables[::2], tables[1::2], strict=True)
        }
    # PostgreSQL has a clock of its own, and an index that every change of an item would write.
    del found["sqlite"]["clock"]
    del found["postgres"]["item_keys"]
    assert found["sqlite"] == found["postgres"]
