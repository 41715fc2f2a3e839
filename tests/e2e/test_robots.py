"""A provider whose robots.txt is obeyed, run as a user runs it."""

import signal
from pathlib import Path

import pytest

from tests.kit.answers import Answer, always, by_path
from tests.kit.cli import Cli
from tests.kit.fetch_handlers import FETCH
from tests.kit.provider import Provider, wait_until

pytestmark = pytest.mark.slow

RULES = b"User-agent: headgate\nDisallow: /private\nAllow: /private/open\n"


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    cli = Cli(tmp_path)
    cli.write("fetch.py", FETCH)
    return cli


def site(robots: Answer) -> Provider:
    return Provider(by_path({"/robots.txt": always(robots)}, otherwise=always(Answer(200))))


def declare(cli: Cli, provider: Provider, paths: list[str]) -> str:
    host = f"127.0.0.1:{provider.port}"
    cli.write("headgate.toml", f"[providers.site]\nhosts = ['{host}']\nrobots = true\n")
    cli.write("urls.csv", "url\n" + "".join(f"{provider.url(path)}\n" for path in paths))
    return host


@pytest.mark.parametrize("name", ["fetch", "plain"])
def test_what_robots_txt_does_not_allow_is_skipped_and_accounted_for(cli: Cli, name: str):
    with site(Answer(200, body=RULES)) as provider:
        host = declare(cli, provider, ["/a", "/private/b", "/private/open/c", "/private"])
        said = cli("run", f"fetch.py:{name}", "urls.csv", "--json", "--quiet")
        assert said.code == 0, said.err
        asked = sorted(seen.request.target for seen in provider.seen)
    assert (said.json["done"], said.json["skipped"]) == (2, 2)
    assert asked == ["/a", "/private/open/c", "/robots.txt"]
    (attempt,) = cli("items", "show", "2", "--json").json["history"]
    assert attempt["reason"] == f"robots.txt of {host} does not allow this path"
    assert attempt["calls"][-1]["kind"] == "barred"
    (account,) = cli("report", "politeness", "1", "--json").json["providers"]
    assert (account["name"], account["requests"], account["barred"]) == ("site", 3, 2)
    assert "not allowed, so not sent: 2 requests" in cli("report", "politeness", "1").out


def test_items_wait_for_a_robots_txt_that_cannot_be_read(cli: Cli):
    with site(Answer(503)) as provider:
        host = declare(cli, provider, [f"/{row}" for row in range(40)])

        def sent_back() -> bool:
            said = cli("items", "show", "40", "--json")
            return said.code == 0 and bool(said.json["history"])

        with cli.start("run", "fetch.py:fetch", "urls.csv", "--quiet") as run:
            wait_until(sent_back, patience_s=120)
            run.send_signal(signal.SIGINT)
            run.communicate(timeout=120)
        asked = {seen.request.target for seen in provider.seen}
        assert len(provider.seen) <= 3  # one of the forty, and its repetitions
    assert asked == {"/robots.txt"}
    item = cli("items", "show", "40", "--json").json
    assert (item["status"], item["attempts"]) == ("PENDING", 0)
    assert f"robots.txt of {host} is fetched again in" in item["history"][0]["reason"]
