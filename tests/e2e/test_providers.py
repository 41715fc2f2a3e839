"""Learned limits of a provider, shown and overridden on the real command line."""

from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.kit.answers import Answer, Bucket, in_turn, refusal
from tests.kit.cli import Cli
from tests.kit.provider import Provider, wait_until

pytestmark = pytest.mark.slow

PATIENCE_S = 120.0
HANDLER = """
from headgate import handler

@handler("label", provider="labels")
async def label(item, ctx):
    reply = await ctx.http.get(item.input["url"])
    return {"status": reply.raise_for_status().status_code}
"""


@pytest.fixture
def cli(tmp_path: Path, provider: Provider) -> Cli:
    cli = Cli(tmp_path)
    cli.write("label.py", HANDLER)
    cli.write("headgate.toml", f"[providers.labels]\nhosts = ['127.0.0.1:{provider.port}']\n")
    return cli


def rows(cli: Cli, provider: Provider, count: int) -> None:
    lines = [provider.url(f"/{row}") for row in range(count)]
    cli.write("urls.csv", "\n".join(["url", *lines]))


def gate(cli: Cli) -> dict[str, Any]:
    said = cli("providers", "show", "labels", "--json")
    assert said.code == 0, said.err
    (found,) = said.json["gates"]
    assert isinstance(found, dict)
    return found


def test_what_was_learned_is_kept_and_shown_with_its_evidence(cli: Cli, provider: Provider):
    provider.script = Bucket(40, 5, answer=Answer(200, body=b"hello"))
    rows(cli, provider, 200)
    assert cli("run", "label.py:label", "urls.csv", "--quiet").code == 0
    found = gate(cli)
    refused = sum(seen.status == 429 for seen in provider.seen)
    assert refused > 0
    assert (found["replies"], found["refusals"]) == (len(provider.seen), refused)
    assert found["learned_per_s"]
    assert len(found["evidence"]) >= 2
    assert found["latency_s"] > 0
    assert found["members"] == []
    shown = cli("providers", "show", "labels").out
    assert f"of which {refused} refused" in shown
    assert found["evidence"][-1]["decided"] in shown
    listed = cli("providers", "ls").out.splitlines()
    assert listed[1].split()[0] == "labels"


def test_single_refusals_are_waited_out_and_prove_no_limit(cli: Cli, provider: Provider):
    numbers = count()
    provider.script = lambda _: refusal("2") if next(numbers) in {60, 200} else Answer(200)
    rows(cli, provider, 300)
    assert cli("run", "label.py:label", "urls.csv", "--quiet").code == 0
    assert len(provider.seen) == 302
    found = gate(cli)
    assert found["refusals"] == 2
    assert found["learned_per_s"] is None, found["evidence"]
    kept = [line for line in found["evidence"] if line["decided"].startswith("rate kept")]
    assert len(kept) == 2


def test_a_running_job_obeys_an_operator_immediately(cli: Cli, provider: Provider):
    rows(cli, provider, 400)
    assert cli("providers", "set", "labels", "--rate", "20/s").code == 0
    with cli.start("run", "label.py:label", "urls.csv", "--json") as run:
        wait_until(lambda: len(provider.seen) > 20, PATIENCE_S)
        assert cli("providers", "pause", "labels").code == 0
        before = len(provider.seen)
        shown = cli("jobs", "show", "1", "--json").json["limited_by"]
        assert (shown["gate"], shown["why"]) == ("provider:labels", "labels: paused by an operator")
        assert len(provider.seen) - before <= 5  # what was on its way when it was said
        waiting = cli("items", "show", "400", "--json").json["waiting"]
        assert waiting["why"] == "labels: paused by an operator"
        paused_with = len(provider.seen)
        assert cli("providers", "set", "labels", "--rate", "1000/s").code == 0
        wait_until(lambda: len(provider.seen) > paused_with, PATIENCE_S)
        out, err = run.communicate(timeout=120)
    assert run.returncode == 0, err
    assert '"done":400' in out
    arrived = sorted(seen.arrived_s for seen in provider.seen)[:20]
    assert arrived[-1] - arrived[0] >= 19 / 20 * 0.8


def test_a_closed_gate_is_named_with_its_end_until_it_is_forgotten(cli: Cli, provider: Provider):
    provider.script = in_turn(Answer(200), Answer(200), refusal("600"))
    rows(cli, provider, 30)
    with cli.start("run", "label.py:label", "urls.csv", "--quiet") as run:
        wait_until(lambda: any(seen.status == 429 for seen in provider.seen), PATIENCE_S)
        shown: dict[str, Any] = {}

        def is_closed() -> bool:
            shown.update(cli("jobs", "show", "1", "--json").json["limited_by"])
            return bool(shown["kind"] == "refused")

        wait_until(is_closed, PATIENCE_S)
        run.terminate()
        _, err = run.communicate(timeout=120)
    assert run.returncode == 4, err
    assert shown["why"] == "labels: the provider asked to wait"
    found = gate(cli)
    assert (found["cause"], found["closed_until"]) == ("retry-after", shown["until"])
    assert cli("providers", "forget", "labels", "--yes").code == 0
    assert gate(cli)["asked"] is False


def test_the_progress_line_names_the_limit(cli: Cli, provider: Provider):
    rows(cli, provider, 90)
    assert cli("providers", "set", "labels", "--rate", "10/s").code == 0
    said = cli("run", "label.py:label", "urls.csv")
    assert said.code == 0
    assert "limited by labels: the rate that an operator set, 10/s" in said.err
