"""Budgets and pools of credentials, through the real command and against a real server."""

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.kit.answers import Answer
from tests.kit.cli import Cli
from tests.kit.provider import Provider, Seen
from tests.kit.redis import RedisServer
from tests.kit.service import need

pytestmark = pytest.mark.slow

ASK = """
from headgate import handler

@handler("ask", budget={"tokens": "100/4s"})
async def ask(item, ctx):
    reply = await ctx.http.post(item.input["url"], json={}, cost={"tokens": 60})
    ctx.spend(tokens=reply.json()["usage"])
    return {"answer": reply.json()["usage"]}

@handler("ask.blind", budget={"tokens": "100/4s"})
def blind(item, ctx):
    reply = ctx.http.post(item.input["url"], json={})
    ctx.spend(tokens=reply.json()["usage"])
    return {"answer": reply.json()["usage"]}

@handler("paid", provider="paid")
async def paid(item, ctx):
    reply = await ctx.http.get(item.input["url"], fresh=True)
    return {"status": reply.raise_for_status().status_code}
"""


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    cli = Cli(tmp_path)
    cli.write("ask.py", ASK)
    return cli


@pytest.fixture
def provider(provider: Provider) -> Provider:
    provider.script = lambda _: Answer(200, body=json.dumps({"usage": 30}).encode())
    return provider


def run(cli: Cli, name: str, provider: Provider, rows: int, *words: str) -> dict[str, int]:
    urls = [provider.url(f"/{row}") for row in range(rows)]
    cli.write("urls.csv", "url\n" + "".join(f"{url}\n" for url in urls))
    said = cli("run", f"ask.py:{name}", "urls.csv", "--json", "--quiet", *words)
    assert said.code in {0, 3}, said.err
    totals: dict[str, int] = said.json
    return totals


def most_in(seconds: float, seen: list[Seen]) -> int:
    """The most requests in any `seconds`."""
    arrived = sorted(each.arrived_s for each in seen)
    return max(sum(at <= other < at + seconds for other in arrived) for at in arrived)


@pytest.mark.parametrize("processes", ["1", "2"])
def test_a_budget_counts_the_actual_use_of_requests(cli: Cli, provider: Provider, processes: str):
    totals = run(cli, "ask", provider, 9, "--processes", processes)
    assert totals["done"] == 9
    assert most_in(3.9, provider.seen) <= 3, "thirty tokens each, a hundred in four seconds"


def test_without_estimates_the_typical_use_is_reserved(cli: Cli, provider: Provider):
    totals = run(cli, "blind", provider, 9, "--concurrency", "1")
    assert totals["done"] == 9
    # Only before anything is known can one request too many go out.
    assert most_in(3.9, provider.seen) <= 4


def test_a_spent_hard_cap_pauses_the_job_until_the_window_ends(cli: Cli, provider: Provider):
    cli.write(
        "headgate.toml",
        f"""
        [providers.paid]
        hosts = ["127.0.0.1:{provider.port}"]
        patience_s = 0.5
        hard_caps = {{requests = "3/4s"}}
        """,
    )
    totals = run(cli, "paid", provider, 7)
    assert totals["done"] == 7
    assert provider.seen[-1].arrived_s - provider.seen[0].arrived_s > 4, "a whole window between"
    history = cli("items", "show", "7", "--json").json["history"]
    assert {attempt["number"] for attempt in history} == {1}, "waiting costs no attempt"
    events = cli("jobs", "show", "1", "--json").json["events"]
    told = [event["message"] for event in events]
    assert any("PAUSED: requests to paid" in line and "3 requests in 4 s" in line for line in told)
    assert any("the pause is over" in line for line in told)


def test_a_pool_of_credentials_shares_the_work_and_drops_a_rejected_one(
    cli: Cli, provider: Provider
):
    cli.write(
        "headgate.toml",
        f"""
        [providers.paid]
        hosts = ["127.0.0.1:{provider.port}"]
        rate = "5/s"
        credentials = {{a = {{env = "KEY_A"}}, b = {{env = "KEY_B"}}, old = {{env = "KEY_OLD"}}}}
        """,
    )
    cli.environment.update(KEY_A="first", KEY_B="second", KEY_OLD="expired")
    provider.script = lambda asked: Answer(
        401 if asked.headers.get("authorization") == "Bearer expired" else 200
    )
    totals = run(cli, "paid", provider, 24)
    assert totals["done"] == 24
    used = Counter(seen.request.headers["authorization"] for seen in provider.seen)
    assert used["Bearer expired"] <= 2
    assert min(used["Bearer first"], used["Bearer second"]) >= 8


def test_gates_may_be_shared_on_a_redis_server(cli: Cli, provider: Provider):
    need(RedisServer.program)
    with RedisServer() as redis:
        cli.environment["HEADGATE_GATES__LEDGER"] = redis.url()
        totals = run(cli, "ask", provider, 5, "--processes", "2")
        (gate,) = cli("providers", "ls", "--json").json["gates"]
    assert totals["done"] == 5
    assert gate["key"] == "provider:ask"
