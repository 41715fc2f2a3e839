"""Trying a handler on a few rows, and stopping early when it fails."""

import csv
from pathlib import Path

import pytest

from tests.kit.cli import Cli

HANDLER = """\
def price(item, ctx):
    if item.input["n"] == "BAD":
        return {"price": item.input["prise"]}
    return {"price": int(item.input["n"]) * 2}
"""
PATIENT = {"HEADGATE_RETRY__BACKOFF_BASE_S": "500"}
"""A row that failed waits for so long that nothing is tried twice."""


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    cli = Cli(tmp_path, PATIENT)
    cli.write("lookup.py", HANDLER)
    return cli


def rows(cli: Cli, file: str) -> list[dict[str, str]]:
    with (cli.folder / file).open(newline="") as opened:
        return list(csv.DictReader(opened))


def test_a_few_rows_are_tried_and_the_same_command_runs_the_others(cli: Cli):
    cli.write("in.csv", "n\n" + "".join(f"{n}\n" for n in range(1, 41)))
    words = ("run", "lookup.py:price", "in.csv", "--out", "out.csv")
    tried = cli(*words, "--limit", "3")
    assert tried.code == 0
    assert "finished 3 rows: 3 done" in tried.err
    assert "37 other rows were not run" in tried.err
    assert tried.err.endswith(f"run all: headgate {' '.join(words)}\n")
    assert [row["n"] for row in rows(cli, "out.csv")] == ["1", "2", "3"]

    sample = cli(*words, "--sample=4", "--json")
    assert (sample.code, sample.json["chosen"]) == (0, 4)
    spread = [int(row["n"]) for row in rows(cli, "out.csv")]
    assert len(spread) == 4
    assert [(n - 1) // 10 for n in spread] == [0, 1, 2, 3]
    again = cli(*words, "--sample", "4", "--json")
    assert [int(row["n"]) for row in rows(cli, "out.csv")] == spread
    assert again.json["done"] == sample.json["done"]

    whole = cli(*words)
    assert whole.code == 0
    assert f"resuming job 1: {sample.json['done']} rows are already finished" in whole.err
    assert [row["price"] for row in rows(cli, "out.csv")] == [str(2 * n) for n in range(1, 41)]
    assert cli("jobs", "ls", "--json").json["jobs"][0]["id"] == 1


def test_failing_rows_are_shown_immediately_and_can_stop_a_run(cli: Cli):
    cli.write("in.csv", "n\n" + "BAD\n" * 30)
    words = ("run", "lookup.py:price", "in.csv")
    stopped = cli(*words, "--max-errors", "25")
    assert stopped.code == 4
    assert "30 rows failed and wait for a retry: KeyError: 'prise' (lookup.py:3)" in stopped.err
    assert (
        "30 rows of 30 failed, which reaches --max-errors 25: KeyError: 'prise' at" in stopped.err
    )
    assert "fix the handler, then continue with: headgate run lookup.py:price in.csv" in stopped.err
    assert cli("jobs", "ls", "--json").json["jobs"][0]["counts"]["pending"] == 30


FAST = """\
import os
from headgate import handler

failed = os.open("failed.txt", os.O_CREAT | os.O_APPEND | os.O_WRONLY)

def fail(*items):
    os.write(failed, "".join(f"{item.input['n']}\\n" for item in items).encode())
    raise ValueError("wrong")

async def each(item, ctx):
    fail(item)

async def some(item, ctx):
    return fail(item) if int(item.input["n"]) % 10 == 0 else {"price": 1}

@handler("packed", pack=20)
async def packed(items, ctx):
    fail(*items)
"""
MENDED = """\
from headgate import handler

async def each(item, ctx):
    return {"price": 2}

some = each

@handler("packed", pack=20)
async def packed(items, ctx):
    return [{"price": 2} for item in items]
"""


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def database(request: pytest.FixtureRequest) -> str:
    if request.param == "postgres":
        return str(request.getfixturevalue("postgres_url"))
    return "headgate.db"


@pytest.mark.parametrize(
    ("handler", "limit", "processes", "most"),
    [
        ("each", "5", 1, 5 + 8),
        ("each", "5", 4, 5 + 8),
        ("packed", "5", 2, 5 + 8 * 20),
        ("some", "5%", 2, 2 + 8),
    ],
)
def test_fast_rows_are_stopped_within_those_in_flight(
    tmp_path: Path, database: str, handler: str, limit: str, processes: int, most: int
):
    """A check once a second let 1,002 of 30,000 rows fail."""
    cli = Cli(tmp_path, {"HEADGATE_RETRY__BACKOFF_BASE_S": "1"})
    cli.write("fast.py", FAST)
    cli.write("in.csv", "n\n" + "".join(f"{n}\n" for n in range(3_000)))
    lanes = ("--concurrency", "8", "--processes", str(processes), "--db", database)
    words = ("run", f"fast.py:{handler}", "in.csv", *lanes, "--max-errors", limit, "--json")
    stopped = cli(*words)
    assert stopped.code == 4, stopped.err
    assert f"which reaches --max-errors {limit}: ValueError: wrong at fast.py:" in stopped.err
    failed = set((tmp_path / "failed.txt").read_text().split())
    assert 1 <= len(failed) <= most

    cli.write("fast.py", MENDED)
    resumed = cli(*words)
    assert (resumed.code, resumed.json["done"]) == (0, 3_000), resumed.err


def test_a_hint_appears_if_the_first_rows_all_fail_in_the_same_way(cli: Cli):
    cli.write("in.csv", "n\n" + "BAD\n" * 40)
    process = cli.start("run", "lookup.py:price", "in.csv")
    assert process.stderr is not None
    said = ""
    for line in process.stderr:
        said = line
        if line.startswith("the first"):
            break
    process.terminate()
    process.communicate(timeout=50)
    assert said == (
        "the first 40 rows all failed in the same way: KeyError: 'prise' at lookup.py:3;"
        " press Ctrl-C, fix the handler, and run the same command\n"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--limit", "2", "--sample", "2"], "--limit and --sample exclude each other"),
        (["--max-errors", "lots"], "--max-errors 'lots': write a number of rows"),
    ],
)
def test_choices_that_cannot_be_are_refused(cli: Cli, words: list[str], message: str):
    cli.write("in.csv", "n\n1\n")
    said = cli("run", "lookup.py:price", "in.csv", *words)
    assert said.code == 2
    assert message in said.err
