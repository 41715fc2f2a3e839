"""`headgate db`, `config` and `doctor`."""

import json
from pathlib import Path

import pytest

from headgate.app import doctor
from headgate.app.doctor import Grade
from headgate.core.status import ItemStatus


def test_migrate_creates_a_store_and_is_idempotent(headgate):
    first = headgate("db", "migrate")
    assert first.code == 0
    assert "0001_initial" in first.out
    assert headgate("db", "migrate", "--json").json == {"applied": []}


def test_status(headgate):
    headgate.job(rows=3)
    answer = headgate("db", "status", "--json").json
    assert (answer["kind"], answer["jobs"], answer["items"]) == ("sqlite", 1, 3)
    assert answer["schema"] == answer["latest_schema"]
    assert "headgate.db" in headgate("db", "status").out


def test_check_finds_and_repairs_counters(headgate):
    job_id = headgate.job()

    async def spoil(store) -> None:
        await store._database.write(
            lambda tx: tx._connection.execute("UPDATE job_counts SET n = n + 1")
        )

    headgate.store(spoil)
    found = headgate("db", "check")
    assert found.code == 6
    assert "repairable: " in found.out
    assert "--repair" in found.err
    assert headgate("db", "check", "--repair").code == 0
    clean = headgate("db", "check")
    assert (clean.code, clean.err) == (0, "no problems found\n")
    assert headgate("jobs", "show", job_id, "--json").json["counts"]["pending"] == 5


def test_a_backup_is_a_complete_store(headgate):
    headgate.job(rows=3)
    assert headgate("db", "backup", "copy.db").code == 0
    refused = headgate("db", "backup", "copy.db")
    assert refused.code == 2
    assert "copy.db exists; add --yes" in refused.err
    assert headgate("db", "backup", "copy.db", "--yes").code == 0
    assert headgate("db", "status", "--db", "copy.db", "--json").json["items"] == 3


def test_a_store_that_is_not_a_database(headgate):
    (headgate.folder / "headgate.db").write_text("this is not a database at all " * 100)
    result = headgate("jobs", "ls")
    assert result.code == 5
    assert result.err.startswith("error: ")
    assert result.err.count("\n") == 1


def test_config_shows_every_setting_with_its_origin(headgate, monkeypatch):
    monkeypatch.setenv("HEADGATE_RETRY__MAX_ATTEMPTS_ERROR", "5")
    Path("headgate.toml").write_text("[worker]\nconcurrency = 7\n")
    url = "postgresql://me:s3cret@host/db"
    result = headgate("config", "show", "--origin", "--db", url)
    assert "s3cret" not in result.out
    rows = {line.split()[0]: line.split()[1:] for line in result.out.splitlines()}
    assert rows["database_url"] == ["postgresql://me:***@host/db", "flag", "--db"]
    assert rows["worker.concurrency"] == ["7", "file", "headgate.toml"]
    variable = "HEADGATE_RETRY__MAX_ATTEMPTS_ERROR"
    assert rows["retry.max_attempts_error"] == ["5", "environment", variable]
    assert rows["retry.max_attempts_not_found"] == ["null", "default"]
    answer = headgate("config", "show", "--json").json
    assert answer["worker.concurrency"] == 7
    both = headgate("config", "show", "--json", "--origin").json
    assert both["worker.concurrency"] == {"value": 7, "origin": "file headgate.toml"}


def test_an_unknown_variable_warns_but_does_not_stop(headgate, monkeypatch):
    monkeypatch.setenv("HEADGATE_CONCURRENCY", "5")
    result = headgate("config", "show", "-q")
    assert result.code == 0
    assert "did you mean HEADGATE_WORKER__CONCURRENCY?" in result.err


def test_a_bad_setting_is_one_line_and_exit_2(headgate):
    Path("other.toml").write_text("[worker]\nconcurrenc = 7\n")
    result = headgate("config", "show", "-c", "other.toml")
    assert result.code == 2
    assert result.err == (
        "error: other.toml: unknown setting 'worker.concurrenc'; did you mean worker.concurrency?\n"
    )


def test_doctor_finds_no_problem(headgate):
    headgate.job()
    result = headgate("doctor", "--json")
    assert result.code == 0
    checks = {check["what"]: check["grade"] for check in result.json["checks"]}
    wanted = {"Python", "open files", "folder", "filesystem", "disk", "store", "schema", "workers"}
    assert wanted <= set(checks)
    assert checks["store"] == "ok"


def test_doctor_does_not_create_a_store(headgate):
    result = headgate("doctor")
    assert "headgate.db does not exist" in result.out
    assert not Path("headgate.db").exists()


def test_doctor_finds_problems(headgate):
    result = headgate("doctor", "--db", "sqlite:///no/such/folder/x.db", "--handler", "no.py:f")
    assert result.code == 6
    assert "mkdir -p" in result.out
    assert "does not exist" in result.out
    assert headgate("doctor", "--db", "mysql://x").code == 6


@pytest.mark.parametrize(("mode", "grade"), [(0o600, Grade.OK), (0o660, "ok"), (0o644, "warn")])
def test_doctor_warns_of_a_store_that_all_users_can_read(tmp_path: Path, mode: int, grade: str):
    store = tmp_path / "headgate.db"
    store.touch(mode)
    store.chmod(mode)
    assert doctor.file_mode(store).grade == grade


def test_doctor_loads_a_handler(headgate):
    Path("lookup.py").write_text("def price(item, ctx):\n    return {}\n")
    result = headgate("doctor", "--handler", "lookup.py:price", "--json")
    assert result.json["checks"][-1]["grade"] == "ok"


@pytest.mark.parametrize(
    ("line", "grade"),
    [
        (doctor.python_version((3, 10, 1)), Grade.PROBLEM),
        (doctor.python_version((3, 11, 0)), Grade.OK),
        (doctor.open_files(64, 32), Grade.WARN),
        (doctor.open_files(1024, 32), Grade.OK),
        (doctor.disk_space(10 * doctor.MEGABYTE, Path("/x")), Grade.PROBLEM),
        (doctor.disk_space(500 * doctor.MEGABYTE, Path("/x")), Grade.WARN),
        (doctor.disk_space(5_000 * doctor.MEGABYTE, Path("/x")), Grade.OK),
    ],
)
def test_grades(line: doctor.CheckResult, grade: Grade):
    assert line.grade is grade
    assert bool(line.advice) is (grade is not Grade.OK)


def test_json_is_one_document_on_standard_output(headgate):
    headgate.finished_job()
    for words in (["jobs", "ls"], ["db", "status"], ["workers", "ls"], ["dlq", "ls"]):
        result = headgate(*words, "--json")
        assert result.out.count("\n") == 1
        assert isinstance(json.loads(result.out), dict)


def test_every_status_has_a_counter(headgate):
    counts = headgate("jobs", "show", headgate.finished_job(), "--json").json["counts"]
    assert sum(counts[status.lower()] for status in ItemStatus) == counts["total"] == 5


def test_a_damaged_file_says_what_to_do(headgate):
    headgate.job(rows=200)
    path = headgate.folder / "headgate.db"
    path.write_bytes(path.read_bytes()[:100] + b"\x7f" * (path.stat().st_size - 100))
    said = headgate("jobs", "ls")
    assert said.code == 5
    assert "it is damaged" in said.err
    assert "put a backup in its place" in said.err
    assert ".recover" in said.err


def test_using_an_empty_file_as_a_new_store_is_reported(headgate):
    headgate.job()
    path = headgate.folder / "headgate.db"
    path.write_bytes(b"")
    path.with_name("headgate.db-wal").unlink(missing_ok=True)
    assert "has 0 bytes and is used as a new store" in headgate("jobs", "ls").err
    assert "0 bytes" not in headgate("jobs", "ls").err  # it is one by now


def test_changes_beside_a_file_of_0_bytes_are_kept(headgate):
    path = headgate.folder / "headgate.db"
    changes = path.with_name("headgate.db-wal")
    path.write_bytes(b"")
    changes.write_bytes(b"what was committed last")
    said = headgate("jobs", "ls")
    assert said.code == 5
    assert "restore a backup" in said.err
    assert changes.read_bytes() == b"what was committed last"
