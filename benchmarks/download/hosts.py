"""5,000 files over 50 hosts, five of which close for a while, and whether the others feel it."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from benchmarks.download import files
from benchmarks.download.checking import check
from benchmarks.download.ours import Download
from benchmarks.download.site import Site, serving
from benchmarks.harness import Bench, Contender
from benchmarks.measurement import Values
from tests.kit.access_log import Logged

HOSTS = [f"127.0.1.{number}" for number in range(1, 51)]
CLOSING = HOSTS[4::10]
OPEN = [host for host in HOSTS if host not in CLOSING]
CLOSE_AFTER = 10
"""They close when one in so many files was asked for."""
LOOK_S = 0.02
UNDERWAY_S = 0.1
"""What was sent before the first refusal could be read may arrive so much later."""


def alone(bench: Bench) -> Values:
    """The files of the hosts that stay open, and no others."""
    return scattered(bench, OPEN)


def together(bench: Bench) -> Values:
    return scattered(bench, HOSTS)


def scattered(bench: Bench, hosts: Sequence[str]) -> Values:
    count, pause_s = bench.sizes.scattered, bench.sizes.retry_after_s
    served = files.small(bench, count)
    with bench.scratch() as home, serving(served, HOSTS, retry_after_s=pause_s) as site:
        wanted = spread(site, served, hosts, count)
        download = Download(home)
        download.prepare(wanted)
        with closing(site, count // CLOSE_AFTER, pause_s):
            report = download.run()
        check(download.files(), wanted)
        return {
            "open_s": seconds_of(download, OPEN),
            "seconds": report.seconds,
            **refusals(site.log(), pause_s),
        }


def spread(site: Site, served: Path, hosts: Sequence[str], count: int) -> dict[str, Path]:
    """The files go round the hosts, so that each stretch of the list has all of them."""
    every = {number: HOSTS[number % len(HOSTS)] for number in range(count)}
    return {
        site.url(files.name(number), host): served / files.name(number)
        for number, host in every.items()
        if host in hosts
    }


@contextmanager
def closing(site: Site, after: int, pause_s: float) -> Iterator[None]:
    """Beside the run: the five close when so many requests have come, and open again later."""
    over = threading.Event()

    def watch() -> None:
        while len(site.log()) < after:
            if over.wait(LOOK_S):
                return
        for host in CLOSING:
            site.close_host(host)
        over.wait(pause_s)
        for host in CLOSING:
            site.open_host(host)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


def seconds_of(download: Download, hosts: Sequence[str]) -> float:
    """From the first start of any file to the last end of one of these hosts."""
    lines = list(download.manifest())
    first = min(datetime.fromisoformat(line["started_at"]) for line in lines)
    ends = [
        datetime.fromisoformat(line["finished_at"])
        for line in lines
        if line["url"].split("/")[2].split(":")[0] in hosts
    ]
    return (max(ends) - first).total_seconds()


def refusals(log: Sequence[Logged], pause_s: float) -> Values:
    """How often a closed host said no, and how often it was asked although it had said so."""
    found = [each for each in log if each.status == 429]
    early = 0
    for host in CLOSING:
        own = [each for each in log if each.path.startswith(f"{host}/")]
        told = [each.ended_s for each in own if each.status == 429]
        if told:
            first = min(told)
            times = (each.arrived_s for each in own)
            early += sum(first + UNDERWAY_S < at < first + pause_s for at in times)
    return {"refused": float(len(found)), "early": float(early)}


ALONE = Contender("headgate download, 45 hosts", alone)
TOGETHER = Contender("headgate download, 45 hosts and 5 that close", together)
