"""`headgate run` as a user runs it: the real executable, real files, real worker processes."""

import csv
import json
import signal
import subprocess
from pathlib import Path

import psutil
import pytest

from tests.kit.cli import Cli
from tests.kit.command import until

pytestmark = pytest.mark.slow

LOOKUP = """
import asyncio, os, pathlib
from headgate import GiveUp, NotFound, RetryLater, Review, Skipped, handler

FLAG = pathlib.Path("mended")

@handler("price.lookup")
async def price(item, ctx):
    pathlib.Path("executions.log").open("a").write(item.key + "\\n")
    sku = item.input["sku"]
    if sku.startswith("missing"):
        return NotFound("no such sku")
    if sku.startswith("broken") and not FLAG.exists():
        return GiveUp("cannot be priced")
    if sku.startswith("skip"):
        return Skipped("not sold")
    if sku.startswith("ask"):
        return Review(candidates=[{"id": 1, "name": sku, "score": 0.5, "result": {}}])
    return {"price": len(sku) * ctx.job.config.get("factor", 1)}

def plain(item, ctx):
    return {"length": len(item.input["sku"])}

async def slow(item, ctx):
    await asyncio.sleep(0.05)
    return {"ok": True}

async def stuck(item, ctx):
    open(f"started-{item.key}", "w").close()
    await asyncio.sleep(0.3 if FLAG.exists() else 600)
    return {"ok": True}

AGE = {"type": "integer", "minimum": 1, "maximum": 365}

@handler("price.aged", config_schema={"properties": {"max_age_days": AGE}})
async def aged(item, ctx):
    return {"ok": True}

async def waits(item, ctx):
    return RetryLater(after=3600, reason="closed for the day")
"""
KEYS = {
    "job_id",
    "total",
    "done",
    "not_found",
    "skipped",
    "review",
    "error",
    "cancelled",
    "pending",
    "resumed",
    "ingest_seconds",
    "drain_seconds",
    "items_per_s",
    "warnings",
    "exit",
}


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    cli = Cli(tmp_path, {"HEADGATE_WORKER__POLL_S": "0.05"})
    cli.write("lookup.py", LOOKUP)
    return cli


def products(cli: Cli, *skus: str, name: str = "products.csv") -> None:
    cli.write(name, "sku,note\n" + "".join(f"{sku},n\n" for sku in skus))


def executions(cli: Cli) -> list[str]:
    log = cli.folder / "executions.log"
    return log.read_text().split() if log.exists() else []


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_from_file_to_file(cli: Cli):
    products(cli, "aa", "missing", "bbb", "skip", "ask")
    said = cli(
        "run", "lookup.py:price", "products.csv", "--out", "priced.csv", "--config", "factor=2"
    )
    assert (said.code, said.out) == (0, "")
    rows = rows_of(cli.folder / "priced.csv")
    assert list(rows[0]) == ["sku", "note", "price", "_status", "_error"]
    assert [row["sku"] for row in rows] == ["aa", "missing", "bbb", "skip", "ask"]
    assert [row["_status"] for row in rows] == ["DONE", "NOT_FOUND", "DONE", "SKIPPED", "REVIEW"]
    assert [row["price"] for row in rows] == ["4", "", "6", "", ""]
    assert "wrote priced.csv (5 rows)" in said.err
    assert "finished 5 rows: 2 done, 1 not found, 1 skipped, 1 to review" in said.err


def test_json_is_the_object_of_the_issue(cli: Cli):
    products(cli, "aa", "missing", "broken", "skip", "ask", "bb")
    said = cli("run", "lookup.py:price", "products.csv", "--json", "--quiet")
    answer = said.json
    assert set(answer) == KEYS
    counted = ("done", "not_found", "skipped", "review", "error", "cancelled", "pending")
    assert [answer[name] for name in counted] == [2, 1, 1, 1, 1, 0, 0]
    assert sum(answer[name] for name in counted) == answer["total"] == 6
    assert (answer["resumed"], answer["exit"], said.code) == (0, 3, 3)
    assert answer["drain_seconds"] > 0
    assert answer["items_per_s"] == pytest.approx(6 / answer["drain_seconds"], rel=0.01)
    assert said.err == ""


def test_the_summary_warns_of_a_handler_that_drops_rows_of_a_pack(cli: Cli):
    cli.write(
        "short.py",
        "from headgate import handler\n\n"
        "@handler('short', pack=3)\n"
        "def short(items, ctx):\n"
        "    return [{} for _ in items][: max(len(items) - 1, 1)]\n",
    )
    products(cli, "aa", "bb", "cc")
    said = cli("run", "short.py:short", "products.csv", "--json")
    told = "handler short was given a pack of 3 rows and returned 2 results"
    assert (said.code, said.json["done"]) == (0, 3)
    (warning,) = said.json["warnings"]
    assert warning.startswith(told)
    assert f"warning: {told}" in said.err


def test_a_second_run_resumes_and_touches_nothing(cli: Cli):
    products(cli, "aa", "bb", "broken")
    first = cli("run", "lookup.py:price", "products.csv")
    assert first.code == 3
    retry = "headgate run lookup.py:price products.csv --retry-failed"
    assert f"run it again: {retry}" in first.err
    second = cli("run", "lookup.py:price", "products.csv", "--json")
    assert (second.code, second.json["resumed"], second.json["job_id"]) == (3, 3, 1)
    assert "resuming job 1: 3 rows are already finished" in second.err
    assert "products.csv --json --retry-failed" in second.err
    assert len(executions(cli)) == 3


def test_retry_failed_tries_only_the_failures(cli: Cli):
    products(cli, "aa", "broken", "bb")
    cli("run", "lookup.py:price", "products.csv")
    (cli.folder / "mended").touch()
    said = cli("run", "lookup.py:price", "products.csv", "--retry-failed", "--json")
    assert (said.code, said.json["done"], said.json["resumed"]) == (0, 3, 2)
    assert "running 1 failed row again" in said.err
    assert sorted(executions(cli)) == ["1", "2", "2", "3"]


def test_new_begins_a_new_job(cli: Cli):
    products(cli, "aa")
    cli("run", "lookup.py:price", "products.csv")
    said = cli("run", "lookup.py:price", "products.csv", "--new", "--json")
    assert (said.json["job_id"], said.json["resumed"]) == (2, 0)


def test_a_changed_source_is_refused_without_a_key(cli: Cli):
    products(cli, "aa", "bb")
    cli("run", "lookup.py:price", "products.csv")
    products(cli, "aa", "bb", "cc")
    said = cli("run", "lookup.py:price", "products.csv")
    assert said.code == 2
    assert "--key" in said.err
    assert "--new" in said.err
    assert said.err.count("\n") == 1


def test_a_changed_source_adds_its_new_keys(cli: Cli):
    products(cli, "aa", "bb")
    cli("run", "lookup.py:price", "products.csv", "--key", "sku")
    cli.write("products.csv", "sku,note\naa,n\nbb,changed\ncc,n\n")
    said = cli("run", "lookup.py:price", "products.csv", "--key", "sku", "--json")
    assert (said.code, said.json["total"], said.json["resumed"]) == (0, 3, 2)
    assert "1 row changed since the job was created" in said.err
    assert "lines 3" in said.err
    assert sorted(executions(cli)) == ["aa", "bb", "cc"]


@pytest.mark.parametrize(("fail_on", "code"), [("error", 0), ("not-found", 3), ("none", 0)])
def test_fail_on(cli: Cli, fail_on: str, code: int):
    products(cli, "aa", "missing")
    assert cli("run", "lookup.py:price", "products.csv", "--fail-on", fail_on).code == code


def test_bad_rows_are_reported_with_their_lines(cli: Cli):
    cli.write("products.csv", "sku,note\naa,n\nbb\ncc,n\n")
    kept = cli("run", "lookup.py:price", "products.csv", "--json")
    assert (kept.code, kept.json["error"], kept.json["done"]) == (3, 1, 2)
    assert "line 3: " in kept.err
    assert "1 row is bad" in kept.err
    retried = cli("run", "lookup.py:price", "products.csv", "--json", "--retry-failed")
    assert retried.json["error"] == 1
    skipped = cli(
        "run", "lookup.py:price", "products.csv", "--new", "--on-bad-row", "skip", "--json"
    )
    assert (skipped.code, skipped.json["total"]) == (0, 2)
    failed = cli("run", "lookup.py:price", "products.csv", "--new", "--on-bad-row", "fail")
    assert failed.code == 2
    assert "line 3" in failed.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["lookup.py:nothing", "products.csv"], "has no function 'nothing'"),
        (["nowhere.py:price", "products.csv"], "nowhere.py does not exist"),
        (["lookup.py:price", "nowhere.csv"], "the file nowhere.csv does not exist"),
        (["lookup.py:price", "products.bin"], "cannot tell the format of products.bin"),
        (["lookup.py:price", "products.csv", "--out", "x.bin"], "cannot tell the format of x.bin"),
        (["lookup.py:price", "products.csv", "--key", "ean"], "the key column 'ean' is missing"),
        (["lookup.py:price", "products.csv", "--config", "x"], "--config 'x'"),
        (["lookup.py:price", "products.csv", "--item-timeout", "-1"], "flag --item-timeout"),
    ],
)
def test_wrong_usage_is_refused_in_one_line(cli: Cli, words: list[str], message: str):
    products(cli, "aa")
    said = cli("run", *words, "-q")
    assert said.code == 2
    assert message in said.err
    assert said.err.count("\n") == 1
    assert "Traceback" not in said.err


def test_a_wrong_handler_writes_nothing(cli: Cli):
    products(cli, "aa")
    cli("run", "lookup.py:nothing", "products.csv")
    assert not (cli.folder / "headgate.db").exists()


def test_jsonl_plain_handlers_processes_and_eager(cli: Cli):
    cli.write("items.jsonl", "".join(json.dumps({"sku": "x" * n}) + "\n" for n in range(1, 41)))
    said = cli(
        "run",
        "lookup.py:plain",
        "items.jsonl",
        "--processes=2",
        "--eager",
        "--out=out.jsonl",
        "--json",
    )
    assert (said.code, said.json["done"]) == (0, 40)
    rows = [json.loads(line) for line in (cli.folder / "out.jsonl").read_text().splitlines()]
    assert [row["length"] for row in rows] == list(range(1, 41))


def test_a_row_can_be_kept_from_taking_too_long(cli: Cli):
    products(cli, "aa")
    said = cli(
        "run",
        "lookup.py:stuck",
        "products.csv",
        "--item-timeout=0.3",
        "--json",
        "-c",
        cli.write("once.toml", "[retry]\nmax_attempts_error = 1\n"),
    )
    assert (said.code, said.json["error"]) == (3, 1)
    shown = cli("items", "ls", "1", "--json").json["items"][0]
    assert shown["error_class"] == "timeout"


def test_when_nothing_can_progress_it_stops_resumable(cli: Cli):
    products(cli, "aa", "bb")
    said = cli("run", "lookup.py:waits", "products.csv", "--max-stall=1", "--json")
    assert (said.code, said.json["exit"], said.json["pending"]) == (4, 4, 2)
    assert "no row made progress" in said.err
    assert "continue with: headgate run lookup.py:waits products.csv" in said.err


def started(cli: Cli, process: subprocess.Popen[str], *keys: str) -> None:
    """Wait until the handler runs on these rows."""
    while not all((cli.folder / f"started-{key}").exists() for key in keys):
        assert process.poll() is None, process.communicate()


def test_after_one_interrupt_running_items_finish(cli: Cli):
    products(cli, *(f"s{number}" for number in range(50)))
    (cli.folder / "mended").touch()
    with cli.start(
        "run", "lookup.py:stuck", "products.csv", "--concurrency=2", "--out=o.csv", "--json"
    ) as process:
        started(cli, process, "1", "2")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    answer = json.loads(out)
    assert (process.returncode, answer["exit"]) == (4, 4)
    assert answer["done"] >= 2
    assert answer["pending"] == 50 - answer["done"]
    assert "press Ctrl-C again to stop them now" in err
    assert "continue with: headgate run lookup.py:stuck products.csv" in err
    assert not (cli.folder / "o.csv").exists()
    check = cli("db", "check")
    assert check.code == 0


def test_after_two_interrupts_items_go_back_and_the_next_run_finishes(cli: Cli):
    products(cli, "aa", "bb", "cc")
    with cli.start("run", "lookup.py:stuck", "products.csv", "--concurrency=2") as process:
        started(cli, process, "1", "2")
        process.send_signal(signal.SIGTERM)
        process.stderr.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=120)
    assert process.returncode == 4
    (cli.folder / "mended").touch()
    said = cli("run", "lookup.py:stuck", "products.csv", "--json")
    assert (said.code, said.json["done"]) == (0, 3)
    assert all(item["attempts"] == 1 for item in cli("items", "ls", "1", "--json").json["items"])
    assert "they run again later" in err


def test_a_job_that_is_cancelled_or_deleted_while_it_runs(cli: Cli):
    products(cli, "aa", "bb", "cc")
    with cli.start("run", "lookup.py:stuck", "products.csv", "--concurrency=2") as process:
        started(cli, process, "1", "2")
        assert cli("jobs", "cancel", "1", "--yes").code == 0
        _, err = process.communicate(timeout=120)
    assert process.returncode == 4
    assert "run it again with: headgate jobs reprocess 1 --status CANCELLED" in err
    refused = cli("run", "lookup.py:stuck", "products.csv")
    assert (refused.code, "was cancelled" in refused.err) == (2, True)
    for path in cli.folder.glob("started-*"):
        path.unlink()
    with cli.start("run", "lookup.py:stuck", "products.csv", "--new") as process:
        started(cli, process, "1", "2")
        assert cli("jobs", "rm", "2", "--yes").code == 0
        _, err = process.communicate(timeout=120)
    assert process.returncode == 4
    assert "job 2 was deleted while it ran" in err
    assert cli("db", "check").code == 0


def test_a_paused_job_is_not_run(cli: Cli):
    products(cli, "aa", "bb")
    cli("run", "lookup.py:waits", "products.csv", "--max-stall=0.5")
    cli("jobs", "pause", "1")
    said = cli("run", "lookup.py:waits", "products.csv")
    assert said.code == 4
    assert said.err == "error: job 1 is paused: headgate jobs resume 1\n"


def test_the_talk_of_a_handler_stays_off_standard_output(cli: Cli):
    cli.write("chatty.py", "def f(item, ctx):\n    print('hello')\n    return {}\n")
    products(cli, "aa")
    said = cli("run", "chatty.py:f", "products.csv", "--json")
    assert said.json["done"] == 1


@pytest.mark.parametrize("kind", ["async def", "def"])
def test_a_child_that_a_handler_forked_ends_with_it(cli: Cli, kind: str):
    # The child comes back to our code as well, with a copy of the worker.
    cli.write(
        "forking.py",
        f"import os\n{kind} f(item, ctx):\n    child = os.fork()\n    return {{'child': child}}\n",
    )
    products(cli, "aa", "bb")
    said = cli("run", "forking.py:f", "products.csv", "--out", "out.jsonl", "--json")
    assert said.json["done"] == 2
    rows = [json.loads(line) for line in (cli.folder / "out.jsonl").read_text().splitlines()]
    children = [row["child"] for row in rows]
    assert all(children)
    for child in children:
        until(lambda: not psutil.pid_exists(child), what="the child to end")  # noqa: B023


def test_logs_can_be_json(cli: Cli):
    products(cli, "aa", "broken")
    said = cli("run", "lookup.py:price", "products.csv", "--log-format=json", "--log-level=info")
    lines = [json.loads(line) for line in said.err.splitlines()]
    failed = [line for line in lines if line["event"] == "attempt failed"]
    assert [(line["job"], line["item"], line["attempt"]) for line in failed] == [(1, 2, 1)]


def test_a_config_has_at_most_64_kb(cli: Cli) -> None:
    products(cli, "a")
    run = cli("run", "lookup.py:price", "products.csv", "--config", f"factor={'x' * 70_000}")
    assert run.code == 2
    assert "`config` of a job has at most 64 kB" in run.err


def test_a_config_that_the_handler_does_not_declare_is_refused(cli: Cli) -> None:
    products(cli, "a")
    run = cli("run", "lookup.py:aged", "products.csv", "--config", "max_age_days=400")
    assert run.code == 2
    assert "`max_age_days` must be at most 365, not 400" in run.err
    assert not (cli.folder / "headgate.db").exists()
