"""What the polite client costs beside bare ones: 10,000 GETs of 1 kB from one nginx, 64 at a time.

Nothing is cached, no gate makes anybody wait, and every call is recorded.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks import command, environment
from benchmarks.harness import Bench, Contender, Figure
from benchmarks.measurement import UnavailableError, Values
from benchmarks.ratios import ratio
from benchmarks.scripts import ROOT, numbers, run_module, run_script
from tests.kit.nginx import SMALL, NginxServer
from tests.kit.service import ServiceMissing

PEERS = ROOT / "benchmarks" / "peers"
REQUESTS, CALLERS = 10_000, 64


@contextmanager
def nginx() -> Iterator[str]:
    """The URL of the small body."""
    try:
        server = NginxServer()
    except ServiceMissing as error:
        raise UnavailableError(str(error)) from error
    with server:
        yield server.url(SMALL)


def requests_of(bench: Bench) -> int:
    """A smoke makes do with few."""
    return min(REQUESTS, bench.sizes.drain)


def module(name: str) -> Callable[[Bench], Values]:
    def run(bench: Bench) -> Values:
        with nginx() as url:
            arguments = {"url": url, "requests": requests_of(bench), "callers": CALLERS}
            return numbers(run_module(f"benchmarks.fetching.{name}", arguments), "requests_per_s")

    return run


def peer(script: str) -> Callable[[Bench], Values]:
    def run(bench: Bench) -> Values:
        python = environment.require()
        with nginx() as url:
            arguments = {"url": url, "requests": requests_of(bench), "callers": CALLERS}
            return numbers(run_script(python, PEERS / script, arguments), "requests_per_s")

    return run


def in_the_engine(bench: Bench) -> Values:
    """`headgate run` with a handler that fetches its row's URL, until all results are committed."""
    count = requests_of(bench)
    with bench.scratch() as folder, nginx() as url:
        source = write_urls(folder / "urls.csv", url, count)
        job = command.Run("fetch", source, str(folder / "headgate.db"), CALLERS)
        return {"requests_per_s": command.run(job, folder).totals["items_per_s"]}


def write_urls(path: Path, url: str, count: int) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["url"])
        writer.writerows([f"{url}?{number}"] for number in range(count))
    return path


ENGINE = Contender("headgate, ctx.http in the engine", in_the_engine)
CLIENT = Contender("headgate, ctx.http alone", module("client_gets"))
AIOHTTP = Contender("bare aiohttp, 1 kB from nginx", module("aiohttp_gets"))
HTTPX = Contender("bare httpx2, 1 kB from nginx", peer("httpx_gets.py"))
SCRAPY = Contender("Scrapy, 1 kB from nginx", peer("scrapy_gets.py"))


def figure(name: str, title: str, ours: Contender, theirs: Contender, must: float) -> Figure:
    value = ratio(ours, theirs, "requests_per_s")
    return Figure(name, title, (ours, theirs), value, must, aim=max(must, 0.6))


FIGURES = (
    figure("http-aiohttp", "GETs in the engine ÷ bare aiohttp", ENGINE, AIOHTTP, 0.4),
    figure("http-httpx2", "GETs in the engine ÷ bare httpx2", ENGINE, HTTPX, 2.5),
    figure("http-scrapy", "GETs in the engine ÷ Scrapy", ENGINE, SCRAPY, 3),
    figure("http-client", "GETs of the client alone ÷ bare aiohttp", CLIENT, AIOHTTP, 0.6),
)
