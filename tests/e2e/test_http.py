"""Handlers that use `ctx.http`, run as a user runs them, against real servers."""

import json
import time
from pathlib import Path

import pytest

from tests.kit.access_log import peak_rate, refused
from tests.kit.answers import Answer, Bucket, Request, by_path, in_turn, redirect, refusal
from tests.kit.cli import Cli
from tests.kit.fetch_handlers import FETCH
from tests.kit.nginx import SMALL, NginxServer, RequestLimit
from tests.kit.provider import Provider
from tests.kit.service import need

pytestmark = pytest.mark.slow

HANDLERS = (
    FETCH
    + """
@handler("fetch.slowly", rate="20/s")
async def slowly(item, ctx):
    reply = await ctx.http.get(item.input["url"])
    return {"status": reply.status_code}

@handler("fetch.capped", concurrency=2)
async def capped(item, ctx):
    async with ctx.http.stream("GET", item.input["url"]) as reply:
        return {"bytes": len(await reply.aread())}

@handler("fetch.by_host", gate_of=lambda row: row["url"].split("/")[2])
async def by_host(item, ctx):
    reply = await ctx.http.get(item.input["url"])
    return {"status": reply.raise_for_status().status_code}
"""
)


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    cli = Cli(tmp_path)
    cli.write("fetch.py", HANDLERS)
    return cli


def run(cli: Cli, name: str, urls: list[str], *words: str) -> dict[str, int]:
    cli.write("urls.csv", "url\n" + "".join(f"{url}\n" for url in urls))
    said = cli("run", f"fetch.py:{name}", "urls.csv", "--json", "--quiet", *words)
    assert said.code in {0, 3}, said.err
    totals: dict[str, int] = said.json
    return totals


def attempts(cli: Cli, item: int) -> list[dict[str, object]]:
    history: list[dict[str, object]] = cli("items", "show", str(item), "--json").json["history"]
    return history


@pytest.mark.parametrize("name", ["fetch", "plain"])
def test_the_limit_of_a_server_is_found_and_kept(cli: Cli, name: str):
    need("nginx")
    with NginxServer(RequestLimit("40r/s", burst=10)) as nginx:
        totals = run(cli, name, [nginx.url(f"{SMALL}?{row}") for row in range(200)])
        log = nginx.log(at_least=200)
    assert totals["done"] == 200
    assert len(refused(log)) <= 10
    assert peak_rate(log) <= 60
    (account,) = cli("report", "politeness", "1", "--json").json["providers"]
    assert account["requests"] == len(log)
    assert account["refused"] == len(refused(log))


def test_a_handlers_own_rate_is_never_exceeded(cli: Cli, provider: Provider):
    totals = run(cli, "slowly", [provider.url(f"/{row}") for row in range(60)])
    assert totals["done"] == 60
    arrived = sorted(seen.arrived_s for seen in provider.seen)
    busiest = max(sum(at <= other < at + 1.0 for other in arrived) for at in arrived)
    assert busiest <= 22  # what left evenly may arrive a little closer together


def test_a_cap_holds_at_the_server_while_bodies_drip(cli: Cli, provider: Provider):
    provider.script = lambda _: Answer(200, body=b"x" * 20, drip_s=0.005)
    totals = run(cli, "capped", [provider.url(f"/{row}") for row in range(20)])
    assert totals["done"] == 20
    assert provider.overlap(f"127.0.0.1:{provider.port}") == 2


def test_a_cap_is_kept_on_the_host_that_a_redirect_leads_to(cli: Cli, provider: Provider):
    there = provider.url("/there", host="localhost")
    provider.script = by_path(
        {"/there": lambda _: Answer(200, body=b"x" * 20, drip_s=0.005)},
        otherwise=lambda _: redirect(there),
    )
    cli.write(
        "headgate.toml",
        f"[providers.mirror]\nhosts = ['localhost:{provider.port}']\nconcurrency = 1\n",
    )
    totals = run(cli, "fetch", [provider.url(f"/{row}") for row in range(12)])
    assert totals["done"] == 12
    assert provider.overlap(f"localhost:{provider.port}") == 1


def test_retry_after_is_honoured_and_costs_no_attempt(cli: Cli, provider: Provider):
    provider.script = in_turn(refusal("3"), Answer(200))
    totals = run(cli, "fetch", [provider.url(f"/{row}") for row in range(5)])
    assert totals["done"] == 5
    times = [seen.arrived_s for seen in provider.seen]
    assert sum(seen.status == 429 for seen in provider.seen) <= 2
    assert times[-1] - times[0] >= 3.0
    assert {attempt["number"] for item in range(1, 6) for attempt in attempts(cli, item)} == {1}


@pytest.mark.parametrize("value", ["0", "-5", "31536000", "soon", "Mon, 01 Jan 2001 00:00:00 GMT"])
def test_an_absurd_retry_after_does_no_harm(cli: Cli, provider: Provider, value: str):
    cli.environment["HEADGATE_GATES__LONGEST_WAIT_S"] = "2"
    provider.script = in_turn(refusal(value), Answer(200))
    totals = run(cli, "fetch", [provider.url(f"/{row}") for row in range(3)])
    assert totals["done"] == 3


def test_what_a_status_means(cli: Cli, provider: Provider):
    provider.script = by_path(
        {
            f"/{status}": lambda request: Answer(int(request.path[1:]))
            for status in (200, 404, 410, 418)
        }
    )
    cli.environment["HEADGATE_RETRY__BACKOFF_BASE_S"] = "0"
    totals = run(cli, "fetch", [provider.url(f"/{status}") for status in (200, 404, 410, 418)])
    assert (totals["done"], totals["not_found"], totals["error"]) == (1, 2, 1)


def test_a_closed_host_keeps_its_items_while_the_others_continue(cli: Cli, provider: Provider):
    closed = Answer(429, [("Retry-After", "2")], b"later")
    asked_s: list[float] = []

    def script(request: Request) -> Answer:
        if not request.host.startswith("localhost"):
            return Answer(200)
        asked_s.append(time.monotonic())
        return closed if asked_s[-1] - asked_s[0] < 2.0 else Answer(200)

    provider.script = script
    slow = [provider.url(f"/slow/{row}", host="localhost") for row in range(10)]
    fast = [provider.url(f"/fast/{row}") for row in range(40)]
    totals = run(cli, "by_host", [*slow, *fast], "--concurrency", "4")
    assert totals["done"] == 50
    seen = provider.seen
    first_slow_again = min(
        each.arrived_s for each in seen if "/slow/" in each.request.target and each.status == 200
    )
    fast_before = sum(
        each.arrived_s < first_slow_again for each in seen if "/fast/" in each.request.target
    )
    assert fast_before >= 10


def test_calls_are_kept_with_their_attempts(cli: Cli, provider: Provider):
    provider.script = Bucket(1_000, 1_000, answer=Answer(200, body=b"hello"))
    run(cli, "fetch", [provider.url("/one")])
    said = cli("items", "show", "1", "--json").json
    (attempt,) = said["history"]
    (call,) = attempt["calls"]
    assert (call["verb"], call["status"], call["kind"], call["bytes"]) == ("GET", 200, "fetched", 5)
    assert call["host"] == f"127.0.0.1:{provider.port}"
    assert json.dumps(call)


def test_a_cached_answer_is_not_requested_again(cli: Cli):
    need("nginx")
    with NginxServer(cache_control="max-age=600") as nginx:
        urls = [nginx.url(SMALL)] * 30
        assert run(cli, "fetch", urls)["done"] == 30
        assert run(cli, "fetch", urls, "--new")["done"] == 30
        assert len(nginx.log(at_least=1)) == 1
    (first,) = cli("report", "politeness", "1", "--json").json["providers"]
    (second,) = cli("report", "politeness", "2", "--json").json["providers"]
    assert (first["requests"], first["spared"]) == (1, 29)
    assert (second["requests"], second["spared"]) == (0, 30)
