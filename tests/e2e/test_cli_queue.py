"""Open queues, the worker daemon and the operator's verbs, through the real executable."""

import json
import signal
from pathlib import Path

import pytest

from tests.kit.cli import Cli

pytestmark = pytest.mark.slow

LOOKUP = """
import pathlib
from headgate import GiveUp

def price(item, ctx):
    if item.input["sku"] == "broken" and not pathlib.Path("mended").exists():
        return GiveUp("cannot be priced")
    return {"price": 1}
"""


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    cli = Cli(tmp_path, {"HEADGATE_WORKER__POLL_S": "0.05"})
    cli.write("lookup.py", LOOKUP)
    return cli


def stats(cli: Cli) -> dict[str, int]:
    return cli("queue", "stats", "--json").json["queues"][0]["counts"]


def test_a_queue_is_fed_run_and_closed(cli: Cli):
    first = cli("queue", "enqueue", '{"sku": "a"}', "--handler", "lookup.py:price")
    assert (first.code, first.out) == (0, "added 1 item to queue default\n")
    again = cli("queue", "enqueue", '{"sku": "a"}', "--json")
    assert again.json["added"] == 0
    assert again.json["known"] == 1
    cli.write("more.jsonl", '{"sku": "b"}\n{"sku": "broken"}\nnonsense\n')
    imported = cli("queue", "import", "more.jsonl", "--json")
    assert (imported.json["added"], imported.json["bad"]) == (3, 1)
    piped = cli("queue", "import", "-", stdin='{"sku": "c"}\n\n{"sku": "b"}')
    assert piped.out == "added 1 item to queue default, 1 was already there\n"

    drained = cli("queue", "run", "--drain")
    assert drained.code == 0
    counts = stats(cli)
    assert (counts["done"], counts["error"], counts["pending"]) == (3, 2, 0)

    (cli.folder / "mended").touch()
    assert cli("queue", "retry-failed").out == "set 1 item back to PENDING\n"
    assert cli("queue", "pause").code == 0
    cli("queue", "enqueue", '{"sku": "d"}')
    assert stats(cli)["pending"] == 2
    assert cli("queue", "resume").code == 0
    assert cli("queue", "run", "--drain").code == 0
    assert stats(cli)["done"] == 5

    assert cli("queue", "close", "--yes").code == 0
    assert cli("jobs", "show", "1", "--json").json["state"] == "DONE"
    assert cli("queue", "enqueue", '{"sku": "e"}').code == 2


GATED = """
from headgate import handler

@handler(name="gated", gate_of=lambda row: row.get("host", ""))
async def gated(item, ctx):
    return {"ok": 1}
"""


def test_items_of_a_queue_whose_handler_names_gates_run(cli: Cli):
    cli.write("gated.py", GATED)
    cli.write("rows.jsonl", '{"host": "a.example"}\n{"host": "b.example"}\n{"host": ""}\n')
    fed = cli("queue", "import", "rows.jsonl", "--handler", "gated.py:gated")
    assert fed.code == 0, fed.err
    drained = cli("queue", "run", "--drain", "--max-stall", "20")
    assert drained.code == 0, drained.err
    assert stats(cli)["done"] == 3


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["enqueue", "[1]", "--handler", "lookup.py:price"], "not a JSON object"),
        (["enqueue", '{"sku": "a"}'], "no store exists"),
        (["enqueue", "{}", "--handler", "lookup.py:none"], "has no function 'none'"),
        (
            ["import", "nowhere.jsonl", "--handler", "lookup.py:price"],
            "the file nowhere.jsonl does not exist",
        ),
    ],
)
def test_a_queue_refuses_nonsense(cli: Cli, words: list[str], message: str):
    said = cli("queue", *words)
    assert said.code in {2, 5}
    assert message in said.err
    assert said.err.count("\n") == 1


def test_a_daemon_works_on_all_jobs_until_it_is_stopped(cli: Cli):
    cli("queue", "enqueue", '{"sku": "a"}', "--handler", "lookup.py:price", "--queue", "one")
    cli("queue", "enqueue", '{"sku": "b"}', "--handler", "lookup.py:price", "--queue", "two")
    with cli.start("worker", "--concurrency=2") as process:
        while cli("jobs", "show", "2", "--json").json["counts"]["done"] < 1:
            assert process.poll() is None
        cli("queue", "enqueue", '{"sku": "c"}', "--queue", "one")
        while cli("jobs", "show", "1", "--json").json["counts"]["done"] < 2:
            assert process.poll() is None
        workers = cli("workers", "ls", "--json").json["workers"]
        assert len(workers) == 1
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=120)
    assert process.returncode == 0
    assert "finished 3 items" in err
    assert cli("workers", "ls").err == "No worker is running. Start one with `headgate worker`.\n"


def test_a_job_that_was_requeued_is_drained_by_a_worker(cli: Cli):
    cli.write("products.csv", "sku\na\nbroken\n")
    assert cli("run", "lookup.py:price", "products.csv").code == 3
    (cli.folder / "mended").touch()
    brought = cli("dlq", "replay", "--job", "1")
    assert brought.out == "set 1 item back to PENDING\n"
    assert "headgate worker --jobs 1 --drain" in brought.err
    assert cli("worker", "--jobs", "1", "--drain").code == 0
    shown = cli("jobs", "show", "1", "--json").json
    assert (shown["state"], shown["counts"]["done"]) == ("DONE", 2)
    history = cli("items", "show", "2", "--json").json["history"]
    assert [attempt["outcome"] for attempt in history] == ["error", "done"]


def test_a_worker_refuses_a_job_that_is_not_there(cli: Cli):
    cli("db", "migrate")
    assert cli("worker", "--jobs", "7", "--drain").err == "error: job 7 does not exist\n"
    assert cli("worker", "--jobs", "x").code == 2


def test_a_store_that_cannot_be_reached_is_exit_5(cli: Cli):
    said = cli("jobs", "ls", "--db", "postgresql://me:s3cret@127.0.0.1:1/db")
    assert said.code == 5
    assert "s3cret" not in said.err
    assert said.err.count("\n") == 1
    assert cli("doctor", "--db", "postgresql://me:s3cret@127.0.0.1:1/db").code == 6


@pytest.mark.postgres
def test_only_the_url_changes_to_move_to_postgresql(cli: Cli, postgres_url: str):
    cli.environment["HEADGATE_DATABASE_URL"] = postgres_url
    cli.write("products.csv", "sku\n" + "".join(f"s{n}\n" for n in range(20)) + "broken\n")
    said = cli("run", "lookup.py:price", "products.csv", "--out", "priced.csv", "--json")
    assert (said.code, said.json["done"], said.json["error"]) == (3, 20, 1)
    assert cli("run", "lookup.py:price", "products.csv", "--json").json["resumed"] == 21
    assert cli("jobs", "ls", "--json").json["jobs"][0]["state"] == "DONE"
    assert len(cli("dlq", "ls", "--json").json["items"]) == 1
    assert cli("items", "ls", "1", "--limit", "5", "--json").json["next"]
    assert cli("items", "show", "1").code == 0
    assert cli("db", "status", "--json").json["kind"] == "postgresql"
    assert cli("db", "check").code == 0
    assert cli("doctor").code == 0
    assert "pg_dump" in cli("db", "backup", "x.dump").err
    cli("queue", "enqueue", json.dumps({"sku": "q"}), "--handler", "lookup.py:price")
    assert cli("queue", "run", "--drain").code == 0
    assert cli("jobs", "rm", "1", "--yes").code == 0
    password = postgres_url.partition("@")[0].rpartition(":")[2]
    assert password not in cli("config", "show", "--origin").out
