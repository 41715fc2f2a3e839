"""Every command explains itself."""

import re
from collections.abc import Iterator

import pytest
import typer.main

from headgate.app.cli import app
from headgate.app.cli.commands import NAMES, SUMMARIES, LazyCommands
from headgate.app.cli.help_page import summary

WANTED = [
    "run",
    "download",
    "download report",
    "download verify",
    "worker",
    "doctor",
    "jobs.ls",
    "jobs.show",
    "jobs.pause",
    "jobs.resume",
    "jobs.cancel",
    "jobs.reprocess",
    "jobs.rm",
    "items.ls",
    "items.show",
    "dlq.ls",
    "dlq.show",
    "dlq.replay",
    "workers.ls",
    "queue.enqueue",
    "queue.import",
    "queue.run",
    "queue.stats",
    "queue.retry-failed",
    "queue.pause",
    "queue.resume",
    "queue.close",
    "db.migrate",
    "db.status",
    "db.check",
    "db.backup",
    "config.show",
]
READS = [
    "run",
    "download",
    "download report",
    "download verify",
    "doctor",
    "jobs.ls",
    "jobs.show",
    "items.ls",
    "items.show",
    "dlq.ls",
    "dlq.show",
    "workers.ls",
    "queue.stats",
    "db.status",
    "db.check",
    "config.show",
    "jobs.reprocess",
    "dlq.replay",
]
DESTRUCTIVE = ["jobs.cancel", "jobs.rm", "queue.close", "dlq.replay"]


def commands() -> dict[str, object]:
    def walk(group: object, prefix: str = "") -> Iterator[tuple[str, object]]:
        for name, one in getattr(group, "commands", {}).items():
            if hasattr(one, "commands"):
                yield from walk(one, f"{prefix}{name}.")
            else:
                yield prefix + name, one

    return dict(walk(typer.main.get_command(app)))


COMMANDS = commands()


def options_of(name: str) -> set[str]:
    return {option for parameter in COMMANDS[name].params for option in parameter.opts}


@pytest.mark.parametrize("name", WANTED)
def test_the_command_exists(name: str):
    assert name in COMMANDS


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_examples_and_says_what_each_option_does(headgate, name: str):
    result = headgate(*name.split("."), "--help")
    assert result.code == 0
    assert f"$ headgate {name.replace('.', ' ')}" in result.out.replace(
        "headgate queue import -", ""
    )
    for parameter in COMMANDS[name].params:
        assert getattr(parameter, "help", None), f"{parameter.name} has no help"


@pytest.mark.parametrize("name", COMMANDS)
def test_shared_options_are_accepted_after_the_command(name: str):
    assert {"-c", "--db", "--log-format", "--log-level", "--quiet", "-q"} <= options_of(name)


@pytest.mark.parametrize("name", READS)
def test_every_command_that_shows_something_takes_json(name: str):
    assert "--json" in options_of(name)


@pytest.mark.parametrize("name", DESTRUCTIVE)
def test_every_destructive_command_has_a_dry_run_and_asks(name: str):
    assert {"--dry-run", "--yes"} <= options_of(name)


@pytest.mark.parametrize(
    "option",
    [
        "--out",
        "--concurrency",
        "--key",
        "--new",
        "--retry-failed",
        "--processes",
        "--item-timeout",
        "--fail-on",
        "--max-stall",
        "--eager",
        "--on-bad-row",
        "--config",
        "--name",
        "--priority",
        "--formulas",
        "--json",
        "--quiet",
    ],
)
def test_run_has_every_option(option: str):
    assert option in options_of("run")


@pytest.mark.parametrize(
    ("words", "usage"),
    [
        (["download"], "headgate download [OPTIONS] {FILE}"),
        (["download", "report"], "headgate download report [OPTIONS] {JOB}"),
        (["download", "verify"], "headgate download verify [OPTIONS] {DIR}"),
        (["-q", "download", "report"], "headgate download report [OPTIONS] {JOB}"),
    ],
)
def test_a_command_of_two_words_comes_before_one_of_the_first(headgate, words, usage: str):
    result = headgate(*words, "--help")
    assert (result.code, usage in result.out) == (0, True), result.out


def test_a_file_may_be_called_like_a_command_of_two_words(headgate):
    result = headgate("download", "./report", "--out", "papers")
    assert (result.code, "report" in result.err) == (2, True)


@pytest.mark.parametrize("name", NAMES)
def test_the_list_of_commands_says_what_the_command_itself_says(name: str):
    assert SUMMARIES[name] == summary(LazyCommands()[name].help)


@pytest.mark.parametrize("columns", [60, 80, 140])
@pytest.mark.parametrize("words", [[], ["run"], ["jobs"], ["jobs", "reprocess"], ["providers"]])
def test_a_page_of_help_fits_its_terminal(headgate, monkeypatch, words: list[str], columns: int):
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = headgate(*words, "--help").out.splitlines()
    frames = [line for line in lines if line.startswith(("╭", "│", "╰"))]
    assert {len(line) for line in frames} == {columns}
    assert not any(line.endswith(" ") for line in lines)


def test_a_page_of_help_is_coloured_on_a_terminal_only(headgate, monkeypatch):
    plain = headgate("jobs", "ls", "--help").out
    assert "\x1b" not in plain
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("FORCE_COLOR", "1")
    context = typer.main.get_command(app).make_context("headgate", ["jobs"])
    page = LazyCommands()["jobs"].get_help(context)
    assert "\x1b[1;36m--server\x1b[0m" in page
    assert re.sub(r"\x1b\[[\d;]*m", "", page).count("│") == page.count("│")


def test_no_command_at_all_shows_help(headgate):
    result = headgate()
    assert "Usage: headgate" in result.out + result.err


def test_version(headgate):
    assert headgate("--version").out.startswith("headgate ")


def test_completion_can_be_installed(headgate):
    assert "--install-completion" in headgate("--help").out


@pytest.mark.parametrize(
    "words", [["nonsense"], ["jobs", "nonsense"], ["jobs", "show"], ["jobs", "show", "x"]]
)
def test_wrong_usage_is_exit_2(headgate, words: list[str]):
    assert headgate(*words).code == 2
