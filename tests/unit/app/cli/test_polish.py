"""Small things that people see: numbers, hints, completion, closed pipes."""

import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from headgate.app.cli.output import Output
from headgate.app.cli.render.gates import show_gates
from headgate.app.cli.run_result import summary_text
from headgate.app.cli.supervise import same_command, stopping
from headgate.app.cli.trial import command_for_all_rows
from headgate.app.schema_values import gate_list
from headgate.core.gates.view import GateView
from headgate.core.job import Counts
from headgate.core.words import agreeing, counted
from headgate.engine.gate_control import GateReading
from headgate.stores.postgres.store import PostgresStore

HEADGATE = Path(sys.executable).with_name("headgate")


def test_numbers_agree_with_their_nouns():
    assert [counted(n, "item") for n in (0, 1, 2, 1_200)] == [
        "0 items",
        "1 item",
        "2 items",
        "1,200 items",
    ]
    assert counted(2, "process", "processes") == "2 processes"
    assert (agreeing(1, "is", "are"), agreeing(0, "is", "are")) == ("is", "are")
    assert summary_text(Counts(done=1), finished=True) == "finished 1 row: 1 done"
    assert stopping(1, 1) == "finishing 1 running item… press Ctrl-C again to stop it now"


def test_the_command_for_all_rows_leaves_out_what_chose_some():
    words = ["run", "a.py:f", "in.csv", "--limit", "5", "--key", "x", "--sample=3", "--new"]
    assert command_for_all_rows(words) == "headgate run a.py:f in.csv --key x"
    assert same_command(words) == "headgate run a.py:f in.csv --limit 5 --key x --sample=3"


def test_a_value_that_is_not_a_number_is_reported_with_its_option(headgate):
    said = headgate("items", "ls", 1, "--limit", "lots")
    assert said.code == 2
    assert "'lots' is not a valid whole number" in said.err


def test_shipped_providers_need_no_store(headgate):
    listed = headgate("providers", "ls", "--all", "--json")
    assert listed.code == 0
    assert any(gate["name"].startswith("openai") for gate in listed.json["gates"])
    shown = headgate("providers", "show", "openai")
    assert shown.code == 0
    assert "openai" in shown.out
    assert headgate("providers", "ls", "--all", "--db", "sqlite:///typo.db").code == 5
    assert headgate("providers", "show", "opnai").code == 2
    assert not (headgate.folder / "headgate.db").exists()


def test_a_host_and_its_domain_are_distinguished(capsys):
    views = [
        GateView(key=f"{kind}:{name}", kind=kind, name=name)
        for kind, name in (
            ("domain", "example.org"),
            ("host", "example.org"),
            ("host", "example.net"),
        )
    ]
    show_gates(Output(), gate_list(GateReading(1.0, views)))
    gates = [line.split("  ")[0] for line in capsys.readouterr().out.splitlines()[1:]]
    assert gates == ["example.org (domain)", "example.org (host)", "example.net"]


def test_the_advice_for_postgresql_names_the_file_that_was_asked_for(headgate, monkeypatch):
    async def open_nothing(store):
        return store

    async def close_nothing(store, *_):
        return None

    monkeypatch.setattr(PostgresStore, "__aenter__", open_nothing)
    monkeypatch.setattr(PostgresStore, "__aexit__", close_nothing)
    said = headgate("db", "backup", "x.dump", "--db", "postgresql://me@localhost/shop")
    assert said.code == 2
    assert "--file=x.dump " in said.err
    assert ".part" not in said.err


def test_the_driver_of_postgresql_is_silent(capfd):
    logging.getLogger("psycopg.pool").warning("error connecting in 'pool-1'")
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("headgate jobs show ", ["1"]),
        ("headgate items ls 1 --status DONE,E", ["DONE,ERROR"]),
        ("headgate items ls 1 --status RE", ["REVIEW"]),
        ("headgate dlq ls --error-class po", ["poison"]),
        ("headgate items why x --job ", ["1"]),
    ],
)
def test_the_shell_completes_jobs_statuses_and_classes(headgate, monkeypatch, words, offered):
    headgate.finished_job()
    monkeypatch.setenv("_HEADGATE_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split(" ")) - 1))
    assert headgate().out.split() == offered


@pytest.mark.parametrize("words", [["config", "show"], ["--help"], ["jobs", "ls", "--json"]])
@pytest.mark.parametrize("closed", ["stdout", "stderr"])
def test_a_closed_pipe_ends_quietly(headgate, words, closed):
    if closed == "stderr" and words != ["jobs", "ls", "--json"]:
        pytest.skip("it says nothing there")
    if closed == "stderr":
        words = ["jobs", "ls"]  # with no job, it says so
    headgate.store(_nothing)
    reading, writing = os.pipe()
    os.close(reading)
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, closed: writing}
    with subprocess.Popen([HEADGATE, *words], cwd=headgate.folder, **streams) as process:
        os.close(writing)
        out, err = process.communicate(timeout=50)
    assert process.returncode == 141
    assert not (out or b"").strip()
    assert not err


def test_a_run_whose_reader_has_gone_ends_as_documented_and_continues_later(headgate):
    (headgate.folder / "lookup.py").write_text("def f(item, ctx):\n    return {}\n")
    (headgate.folder / "rows.csv").write_text("id\n1\n2\n")
    command = [HEADGATE, "run", "lookup.py:f", "rows.csv"]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(command, cwd=headgate.folder, bufsize=0, **streams) as process:
        assert process.stdout is not None
        assert process.stdout.read(1)  # as `| head -c 1` does
        process.stdout.close()
        assert process.wait(timeout=50) == 141
    again = subprocess.run(
        [*command, "--json"], cwd=headgate.folder, capture_output=True, check=False
    )
    assert again.returncode == 0
    assert json.loads(again.stdout)["done"] == 2


async def _nothing(store):
    return None
