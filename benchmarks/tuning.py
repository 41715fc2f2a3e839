"""Look for a peer's best settings, so that it is compared at its best and not at its defaults."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.download.small import run_aria2, run_curl, run_scrapy
from benchmarks.harness import Bench, Say
from benchmarks.measurement import FailedError, Spread
from benchmarks.theirs import run_huey, run_pgqueuer

Settings = Mapping[str, object]
Runner = Callable[[Bench, Settings], Mapping[str, Any]]


def grid(**choices: Sequence[object]) -> list[Settings]:
    names = [name.replace("_", "-") for name in choices]
    return [
        dict(zip(names, values, strict=True)) for values in itertools.product(*choices.values())
    ]


HUEY_GRID = [
    *grid(worker_type=["thread", "process"], workers=[1, 2, 4], storage=["sqlite3"]),
    *grid(worker_type=["thread", "process"], workers=[1, 2], storage=["cysqlite"]),
    *grid(worker_type=["greenlet"], workers=[1, 4], storage=["sqlite3"]),
    *grid(worker_type=["thread"], workers=[1], storage=["sqlite3"], no_fsync=[True]),
]
PGQUEUER_GRID = [
    *grid(
        driver=["asyncpg", "asyncpg-pool"],
        processes=[1, 2],
        batch_size=[100, 500, 1_000, 2_000],
        analyze=[False, True],
    ),
    *grid(driver=["asyncpg-pool"], processes=[1], batch_size=[1_000], managers=[2]),
    *grid(driver=["asyncpg-pool"], processes=[1], batch_size=[1_000], max_concurrent=[2_000]),
    *grid(driver=["psycopg"], processes=[1, 2], batch_size=[1_000]),
]
AIOHTTP = "scrapy.core.downloader.handlers._aiohttp.AiohttpDownloadHandler"
SCRAPY_GRID = [
    *grid(reactor=["asyncio"], loop=["uvloop.Loop", ""], urls_an_item=[1, 64, 1_000]),
    *grid(reactor=["epoll"], urls_an_item=[1, 64]),
    *grid(reactor=["asyncio"], loop=["uvloop.Loop"], urls_an_item=[1, 64], handler=[AIOHTTP]),
]
ARIA2_GRID = [
    *grid(enable_http_pipelining=["false", "true"], disk_cache=["0", "16M"]),
    *grid(deferred_input=["true"]),
    *grid(enable_mmap=["true"]),
]
CURL_GRID = grid(parallel_immediate=[False, True])
PEERS: dict[str, tuple[Runner, list[Settings]]] = {
    "aria2": (run_aria2, ARIA2_GRID),
    "curl": (run_curl, CURL_GRID),
    "huey": (run_huey, HUEY_GRID),
    "pgqueuer": (run_pgqueuer, PGQUEUER_GRID),
    "scrapy": (run_scrapy, SCRAPY_GRID),
}


def tune(bench: Bench, peer: str, rounds: int, console: Console, say: Say) -> None:
    """Every setting once a round, and the table sorted by the median of the rounds."""
    run, settings = PEERS[peer]
    samples: dict[int, list[float]] = {number: [] for number in range(len(settings))}
    for turn in range(rounds):
        say(f"round {turn + 1} of {rounds}")
        for number, setting in enumerate(settings):
            try:
                rate = run(bench, setting)["items_per_s"]
            except FailedError as error:
                say(f"  {words(setting)}: {error}")
                continue
            samples[number].append(rate)
            say(f"  {words(setting)}: {rate:,.0f} items/s")
    print_settings(peer, settings, samples, console)


def words(setting: Settings) -> str:
    return " ".join(f"{name}={value}" for name, value in setting.items())


def print_settings(
    peer: str,
    settings: Sequence[Settings],
    samples: Mapping[int, Sequence[float]],
    console: Console,
) -> None:
    table = Table(title=f"{peer}: items/s by setting, best median first")
    table.add_column("setting")
    for heading in ("median", "lowest", "highest"):
        table.add_column(heading, justify="right")
    measured = {number: Spread.of(rates) for number, rates in samples.items() if rates}
    for number, spread in sorted(measured.items(), key=lambda pair: -pair[1].median):
        rates = (f"{value:,.0f}" for value in (spread.median, spread.low, spread.high))
        table.add_row(words(settings[number]), *rates)
    console.print(table)
