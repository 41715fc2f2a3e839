"""Whether the HTTP cache is cheaper than what it spares: another cache, and the network itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from benchmarks import environment
from benchmarks.harness import Bench, Contender, Figure
from benchmarks.measurement import Round, UnavailableError, Values
from benchmarks.ratios import ratio
from benchmarks.scripts import ROOT, numbers, run_module, run_script
from tests.kit.nginx import HUGE, MEDIUM, SIZES, NginxServer
from tests.kit.service import ServiceMissing

HISHEL = ROOT / "benchmarks" / "peers" / "hishel_hits.py"
HITS = 10_000
FRESH, STALE = "max-age=3600", "no-cache"


@contextmanager
def nginx(cache_control: str) -> Iterator[NginxServer]:
    try:
        server = NginxServer(cache_control=cache_control)
    except ServiceMissing as error:
        raise UnavailableError(str(error)) from error
    with server:
        yield server


def hits_of(bench: Bench) -> dict[str, int]:
    """Each answer is asked for five times; a smoke has few of them."""
    hits = min(HITS, bench.sizes.drain)
    return {"entries": hits // 5, "hits": hits}


def ours(bench: Bench) -> Values:
    with bench.scratch() as folder, nginx(FRESH) as server:
        arguments = {"folder": folder, "url": server.url(MEDIUM), **hits_of(bench)}
        found = run_module("benchmarks.cache.hits", arguments)
    return numbers(found, "answers_per_s", "stores_per_s", "requests")


def hishel(bench: Bench) -> Values:
    python = environment.require()
    with bench.scratch() as folder:
        arguments = {"folder": folder, "size": SIZES[MEDIUM], **hits_of(bench)}
        return numbers(run_script(python, HISHEL, arguments), "answers_per_s", "stores_per_s")


def uncached(bench: Bench) -> Values:
    with nginx(FRESH) as server:
        arguments = {"url": server.url(MEDIUM), **hits_of(bench)}
        return numbers(run_module("benchmarks.cache.fetches", arguments), "answers_per_s")


def crowd(bench: Bench) -> Values:
    """The server's own log is the witness."""
    entries = hits_of(bench)["entries"]
    with bench.scratch() as folder, nginx(FRESH) as fresh, nginx(STALE) as stale:
        arguments = {"folder": folder, "fresh": fresh.url(MEDIUM), "stale": stale.url(MEDIUM)}
        found = run_module("benchmarks.cache.crowd", {**arguments, "entries": entries})
        confirmed = [line for line in stale.log(2 * entries) if line.status == 304]
        return {
            "cold_requests": float(len(fresh.log(1))),
            "confirmed_share": len(confirmed) / entries,
            "confirmed_per_s": float(found["confirmed_per_s"]),
        }


def body(bench: Bench) -> Values:
    large = HUGE if bench.sizes.drain >= HITS else MEDIUM
    with bench.scratch() as folder, nginx(FRESH) as server:
        urls = {"small": f"{server.url(MEDIUM)}?small", "large": server.url(large)}
        found = run_module("benchmarks.cache.body", {"folder": folder, **urls})
    return numbers(found, "mb", "kept_grown_mb", "grown_mb", "kept_mb_per_s", "served_mb_per_s")


OURS = Contender("headgate, fresh hits of 20 kB", ours)
THEIRS = Contender("hishel on its SQLite storage", hishel)
BARE = Contender("bare aiohttp, 20 kB from nginx", uncached)
CROWD = Contender("headgate, cold and stale answers", crowd)
BODY = Contender("headgate, one body of 500 MB", body)


def value(contender: Contender, name: str) -> Callable[[Round], float]:
    return lambda one: one.values[contender.name][name]


FIGURES = (
    Figure(
        name="cache-hishel",
        title="fresh hits of 20 kB ÷ hishel's SQLite storage",
        contenders=(OURS, THEIRS),
        value=ratio(OURS, THEIRS, "answers_per_s"),
        must=5,
        aim=20,
    ),
    Figure(
        name="cache-uncached",
        title="fresh hits of 20 kB ÷ bare aiohttp without a cache",
        contenders=(OURS, BARE),
        value=ratio(OURS, BARE, "answers_per_s"),
        must=1,
        aim=3,
    ),
    Figure(
        name="cache-requests",
        title="requests for fresh hits",
        contenders=(OURS,),
        value=value(OURS, "requests"),
        must=0,
        aim=0,
        at_most=True,
    ),
    Figure(
        name="cache-cold",
        title="requests of 64 callers of one cold URL",
        contenders=(CROWD,),
        value=value(CROWD, "cold_requests"),
        must=1,
        aim=1,
        at_most=True,
    ),
    Figure(
        name="cache-stale",
        title="304s ÷ stale answers",
        contenders=(CROWD,),
        value=value(CROWD, "confirmed_share"),
        must=1,
        aim=1,
    ),
    Figure(
        name="cache-body",
        title="memory for a body of 500 MB, kept and served",
        contenders=(BODY,),
        value=value(BODY, "grown_mb"),
        must=30,
        aim=10,
        at_most=True,
        unit="MB",
    ),
)
