"""`headgate plan` on the command line, and how close a forecast is to the run."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.kit.answers import Answer, Bucket
from tests.kit.cli import Cli
from tests.kit.provider import Provider

pytestmark = pytest.mark.slow

FETCH = """
from headgate import handler

@handler("fetch", provider="shop")
async def fetch(item, ctx):
    reply = await ctx.http.get(item.input["url"])
    return {"bytes": len(reply.raise_for_status().content)}

@handler("fetch.twice")
async def twice(item, ctx):
    for part in ("a", "b"):
        (await ctx.http.get(f"{item.input['url']}/{part}")).raise_for_status()
    return {}

@handler("fetch.slowly", rate="5/s")
async def slowly(item, ctx):
    return {"status": (await ctx.http.get(item.input["url"])).status_code}
"""
SHOP = "[providers.shop]\nhosts = ['127.0.0.1:{port}']\n"


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    cli = Cli(tmp_path)
    cli.write("fetch.py", FETCH)
    return cli


def rows(cli: Cli, provider: Provider, count: int) -> Path:
    lines = [json.dumps({"url": provider.url(f"/{row}")}) for row in range(count)]
    return cli.write("urls.jsonl", "\n".join(lines))


def plan(cli: Cli, *words: str | Path) -> dict[str, Any]:
    said = cli("plan", *words, "--json")
    assert said.code == 0, said.err
    found: dict[str, Any] = said.json
    return found


def test_a_plan_comes_close_to_the_run_that_follows(cli: Cli, provider: Provider):
    cli.write("headgate.toml", SHOP.format(port=provider.port))
    file = rows(cli, provider, 300)
    planned = plan(cli, file, "--provider", "shop", "--limit", "25/s", "--latency", "20ms")
    (likely,) = planned["plans"]
    provider.script = Bucket(25.0, burst=25.0, answer=Answer(200, body=b"x"))
    ran = cli("run", "fetch.py:fetch", file, "--json", "--quiet").json
    refused = sum(seen.status == 429 for seen in provider.seen)
    assert ran["done"] == planned["requests"] == likely["requests"] == 300
    assert abs(refused - likely["refused"]) <= 15
    # The bucket alone makes both last (300 - 25) / 25 seconds; machines that are busy take longer.
    assert likely["seconds"]["low"] > 10
    assert 0.5 < ran["drain_seconds"] / likely["seconds"]["likely"] < 3
    assert likely["limited_by"] == "rate"


def test_a_job_is_planned_by_what_it_learned_and_measured(cli: Cli, provider: Provider):
    provider.script = Bucket(15.0, burst=5.0, answer=Answer(200, body=b"x", delay_s=0.1))
    file = rows(cli, provider, 60)
    assert cli("run", "fetch.py:twice", file, "--quiet").code == 0
    done = plan(cli, "1")
    assert (done["rows"], done["plans"]) == (0, [])
    assert cli("jobs", "reprocess", "1", "--status", "DONE").code == 0
    planned = plan(cli, "1")
    assert planned["provider"] == f"127.0.0.1:{provider.port}"
    assert planned["calls_per_item"] == 2.0
    assert planned["requests"] == 120
    assert planned["latency_measured"]
    assert planned["latency_s"] > 0.09
    assert planned["limit"]["origin"] == "learned"
    (limit,) = planned["limit"]["limits"]
    assert 8 < float(limit.removesuffix("/s")) < 25
    assert 4 < planned["plans"][0]["seconds"]["likely"] < 20


def test_a_handlers_own_rate_is_planned_with(cli: Cli, provider: Provider):
    file = rows(cli, provider, 100)
    assert cli("queue", "import", file, "--handler", "fetch.py:slowly").code == 0
    planned = plan(cli, "1")
    assert planned["provider"] == "fetch.slowly"
    assert planned["limit"] == {
        "origin": "configured",
        "limits": [],
        "in_flight": None,
        "configured": ["5/s"],
    }
    (likely,) = planned["plans"]
    assert likely["limited_by"] == "ceiling"
    assert 19 < likely["seconds"]["likely"] < 22


def test_options_override_measured_values(cli: Cli):
    cli.write("rows.csv", "id\n" + "".join(f"{row}\n" for row in range(1_000)))
    planned = plan(
        cli,
        "rows.csv",
        *("--limit", "10/s, 100/min", "--credentials", "4", "--processes", "2"),
        *("--calls-per-item", "2", "--cache-hits", "50%", "--latency", "1.5s"),
        *("--concurrency", "8"),
    )
    assert planned["requests"] == 1_000
    assert (planned["concurrency"], planned["processes"]) == (8, 2)
    assert planned["latency_s"] == 1.5
    assert planned["limit"]["limits"] == ["10/s", "100/min"]
    times = [row["seconds"]["likely"] for row in planned["plans"]]
    assert [row["credentials"] for row in planned["plans"]] == [1, 2, 4]
    assert times[0] > times[1] > times[2] >= 1_000 / (8 / 1.5) * 0.9
    assert planned["helps"]


def test_nothing_known_is_said_and_shown_for_some_limits(cli: Cli):
    cli.write("rows.csv", "id\n" + "".join(f"{row}\n" for row in range(200)))
    said = cli("plan", "rows.csv", "--provider", "openai")
    assert said.code == 0
    assert "the limit of openai is unknown" in said.err
    assert [line.split()[0] for line in said.out.splitlines()[-4:]] == [
        "1/s",
        "10/s",
        "100/s",
        "none",
    ]


def test_a_budget_is_planned_with(cli: Cli):
    cli.write(
        "headgate.toml",
        "[providers.model]\nhosts = ['model.example']\nbudget = {tokens = '60000/min'}\n",
    )
    cli.write("rows.csv", "id\n" + "".join(f"{row}\n" for row in range(300)))
    words = ("rows.csv", "--provider", "model", "--limit", "50/s")
    without = plan(cli, *words)
    assert any("--cost tokens=N" in note for note in without["notes"])
    planned = plan(cli, *words, "--cost", "tokens=1000")
    (likely,) = planned["plans"]
    assert likely["limited_by"] == "budget"
    assert 4 * 60 - 10 < likely["seconds"]["likely"] < 6 * 60


def test_the_global_limits_are_part_of_the_plan(cli: Cli):
    cli.write("headgate.toml", "[gates]\nrate = '4/s'\n")
    cli.write("rows.csv", "id\n" + "".join(f"{row}\n" for row in range(100)))
    planned = plan(cli, "rows.csv", "--limit", "50/s")
    assert planned["limit"]["configured"] == ["4/s"]
    assert planned["plans"][0]["limited_by"] == "ceiling"


def test_people_see_a_table_with_what_would_help(cli: Cli):
    cli.write("rows.csv", "id\n" + "".join(f"{row}\n" for row in range(600)))
    said = cli("plan", "rows.csv", "--limit", "10/s")
    assert said.code == 0
    lines = said.out.splitlines()
    assert lines[0] == "Plan for rows.csv"
    heading = next(line for line in lines if line.startswith("CREDENTIALS"))
    assert heading.split() == [
        *("CREDENTIALS", "DURATION", "ENDS", "STEADY", "REFUSED", "FOUND", "LIMITED", "BY")
    ]
    assert any(line.strip().startswith("a second credential: ") for line in lines)
    assert "every request was simulated" in said.err


@pytest.mark.parametrize(
    ("words", "story"),
    [
        (("rows.csv", "--provider", "wikidatta"), "did you mean 'wikidata'?"),
        (("rows.csv", "--limit", "fast"), "--limit 'fast' is not a limit"),
        (("rows.csv", "--limit", " "), "--limit is empty"),
        (("rows.csv", "--latency", "5"), "as 200ms or 1.5s"),
        (("rows.csv", "--cache-hits", "130%"), "as 30% or 0.3"),
        (("rows.csv", "--calls-per-item", "0"), "a number above 0"),
        (("rows.csv", "--cost", "tokens"), "as tokens=1200"),
        (("rows.csv", "--cost", "tokens=5"), "the provider has no such budget"),
        (("nothing.csv",), "the file nothing.csv does not exist"),
    ],
)
def test_an_impossible_plan_is_refused_in_one_line(cli: Cli, words: tuple[str, ...], story: str):
    cli.write("rows.csv", "id\n1\n")
    said = cli("plan", *words)
    assert said.code == 2
    assert story in said.err
    assert said.out == ""
    assert len(said.err.splitlines()) == 1


def test_a_job_that_is_not_there(cli: Cli, provider: Provider):
    assert cli("plan", "7").code == 5
    rows(cli, provider, 1)
    cli("run", "fetch.py:fetch", "urls.jsonl", "--quiet")
    said = cli("plan", "7")
    assert said.code == 2
    assert "7" in said.err


def test_a_plan_says_that_the_finished_rows_sent_no_request(cli: Cli):
    cli.write("plain.py", "def plain(item, ctx):\n    return {}\n")
    cli.write("rows.csv", "id\n1\n2\n")
    cli("run", "plain.py:plain", "rows.csv", "--limit", "1")
    said = cli("plan", "1")
    assert "none of its 1 finished row sent a request through `ctx.http`" in said.err
