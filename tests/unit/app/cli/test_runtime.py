"""The edge: errors become one line and an exit code, and never a traceback."""

from pathlib import Path

import pytest

from headgate.app.cli.exit_codes import Exit, known_error, of_error
from headgate.app.cli.output import Output, printable
from headgate.app.cli.render.times import ago, span
from headgate.app.cli.run_options import config_in
from headgate.app.cli.run_result import FailOn, exit_code, summary_text, totals
from headgate.app.cli.runtime import Flags
from headgate.app.cli.supervise import command_here, same_command, stopping
from headgate.core import errors
from headgate.core.job import Counts
from headgate.core.time_text import moment


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.UsageError(), 2),
        (errors.UnknownHandler(), 2),
        (errors.SourceChanged(), 2),
        (errors.BadSetting(), 2),
        (errors.BadSource(), 2),
        (errors.StoreFull(), 4),
        (errors.StaleIngest(), 4),
        (errors.StoreUnreachable(), 5),
        (errors.StoreMismatch(), 5),
        (errors.HeadgateError(), 1),
    ],
)
def test_exit_codes_of_errors(error: errors.HeadgateError, code: int):
    assert of_error(error) == code


def test_an_error_is_found_inside_groups():
    inner = errors.StoreFull("full")
    group = ExceptionGroup("tasks", [ValueError("x"), ExceptionGroup("more", [inner])])
    assert known_error(group) is inner
    assert known_error(ValueError("x")) is None


def test_a_defect_is_one_line_unless_debugging(headgate, monkeypatch: pytest.MonkeyPatch):
    def broken(*_: object) -> None:
        raise RuntimeError("oh, password=hunter2")

    monkeypatch.setattr("headgate.app.cli.runtime.load", broken)
    result = headgate("config", "show")
    assert result.code == 1
    assert result.err.startswith("error: RuntimeError: oh, password=*** (a bug in Headgate;")
    assert result.err.count("\n") == 1
    monkeypatch.setenv("HEADGATE_DEBUG", "1")
    with pytest.raises(RuntimeError):
        headgate("config", "show")


def test_a_file_that_cannot_be_written_is_wrong_usage(headgate):
    headgate.job()
    result = headgate("db", "backup", "no/such/folder/x.db")
    assert result.code == 2
    assert "does not exist" in result.err


def test_flags_nearer_to_the_command_win():
    outer = Flags(db="a", quiet=True)
    assert Flags(db="b").over(outer) == Flags(db="b", quiet=True)
    assert Flags().over(None) == Flags()
    assert Flags(config_file=Path("x")).over(outer).db == "a"


@pytest.mark.parametrize(
    ("parts", "config"),
    [
        ([], {}),
        (["region=eu", "n=3", "flag=true"], {"region": "eu", "n": 3, "flag": True}),
        (['{"a": {"b": 1}}', "a=2"], {"a": 2}),
        (["url=http://x/?a=b"], {"url": "http://x/?a=b"}),
        (["empty="], {"empty": ""}),
    ],
)
def test_config(parts: list[str], config: dict[str, object]):
    assert config_in(parts) == config


@pytest.mark.parametrize("part", ["{not json", "novalue", "=x"])
def test_bad_config(part: str):
    with pytest.raises(errors.UsageError, match="--config"):
        config_in([part])


FAILED = Counts(done=5, not_found=1, error=2)
MISSED = Counts(done=5, not_found=1)


@pytest.mark.parametrize(
    ("counts", "fail_on", "finished", "code"),
    [
        (Counts(done=5), FailOn.ERROR, True, Exit.OK),
        (MISSED, FailOn.ERROR, True, Exit.OK),
        (MISSED, FailOn.NOT_FOUND, True, Exit.FAILED_ITEMS),
        (FAILED, FailOn.ERROR, True, Exit.FAILED_ITEMS),
        (FAILED, FailOn.NOT_FOUND, True, Exit.FAILED_ITEMS),
        (FAILED, FailOn.NONE, True, Exit.OK),
        (FAILED, FailOn.NONE, False, Exit.STOPPED),
    ],
)
def test_exit_code_of_a_run(counts: Counts, fail_on: FailOn, finished: bool, code: Exit):
    assert exit_code(counts, fail_on, finished=finished) is code


def test_totals_add_up():
    counts = Counts(1, 2, 3, 4, 5, 6, 7, 8)
    named = totals(counts)
    assert named.pop("total") == sum(named.values()) == 36
    assert named["pending"] == 3


def test_counts_in_words():
    assert summary_text(Counts(), finished=True) == "finished: no rows"
    counts = Counts(done=1200, error=1)
    assert summary_text(counts, finished=True) == "finished 1,201 rows: 1,200 done, 1 error"
    counts = Counts(done=1, pending=2)
    assert summary_text(counts, finished=False) == "stopped at 1 of 3 rows: 1 done, 2 left"


def test_the_command_that_continues_leaves_out_options_that_start_over():
    words = ["run", "a.py:f", "my file.csv", "--new", "--retry-failed", "--out", "o.csv"]
    assert same_command(words) == "headgate run a.py:f 'my file.csv' --out o.csv"


def test_a_command_that_is_advised_names_the_store_that_was_given():
    assert command_here("items ls 1", ["run", "a.py:f", "in.csv", "--key", "x"]) == (
        "headgate items ls 1"
    )
    words = ["run", "a.py:f", "--db", "sqlite:///my store.db", "in.csv", "-c", "h.toml"]
    assert command_here("items ls 1", words) == (
        "headgate items ls 1 --db 'sqlite:///my store.db' -c h.toml"
    )
    secret = ["--db=postgresql://ann:hunter2secret@db.example/hg", "run"]
    advised = command_here("items ls 1", secret)
    assert advised.startswith("headgate items ls 1 ")
    assert "ann:***@db.example/hg" in advised


def test_messages_of_an_interrupt():
    assert stopping(1, 32).startswith("finishing 32 running items")
    assert "run again later" in stopping(2, 32)
    assert stopping(1, 0) == "stopping…"


def test_times_in_words():
    assert moment(None) is None
    assert moment(1_700_000_000_123_456) == "2023-11-14T22:13:20.123456Z"
    assert span(0.0204) == "20 ms"
    assert span(2.34) == "2.3 s"
    assert span(59) == "59 s"
    assert span(600) == "10 min"
    assert span(3_700) == "1 h 1 min"
    assert span(400_000) == "4 days"
    assert ago(None, 0) == ""
    assert ago(0, 5_000_000) == "5.0 s ago"
    assert ago(5_000_000, 0) == "in 5.0 s"


def test_control_characters_are_made_visible():
    assert printable("plain ünïcode ✓") == "plain ünïcode ✓"
    assert printable("a\x1b[0m\tb\nc") == "a\\x1b[0m\\tb\nc"


def test_a_pipe_gets_the_whole_text(capsys: pytest.CaptureFixture[str]):
    long = "x" * 500
    Output().table(("A", "#N"), [(long, 1_000)])
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == f"{long}  1,000"
    assert lines[0].split() == ["A", "N"]
