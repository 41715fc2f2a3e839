"""5,000 files over 50 hosts, five of which close for a while, and whether the others feel it."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.download import files, peers
from benchmarks.download.checking import check
from benchmarks.download.ours import Download
from benchmarks.download.site import Site, serving
from benchmarks.harness import Bench, Contender
from benchmarks.measurement import FailedError, Values
from benchmarks.scripts import LIMIT_S
from tests.kit.access_log import Logged

HOSTS = [f"127.0.1.{number}" for number in range(1, 51)]
CLOSING = HOSTS[4::10]
OPEN = [host for host in HOSTS if host not in CLOSING]
CLOSE_AFTER = 10
"""They close when one in so many files was asked for."""
LOOK_S, REST_S = 0.02, 0.5
UNDERWAY_S = 0.1
"""What was sent before the first refusal could be read may arrive so much later."""


def alone(bench: Bench) -> Values:
    """The files of the hosts that stay open, and no others."""
    with scattered(bench, OPEN) as (_, download, wanted):
        download.run()
        check(download.files(), wanted)
        return {"open_s": seconds_of(download, OPEN)}


def together(bench: Bench) -> Values:
    """All of them, until the open ones are through and the others are open again.

    What is then left of those five comes at the pace that they have taught, which may take long.
    """
    pause_s = bench.sizes.retry_after_s
    with scattered(bench, HOSTS, pause_s) as (site, download, wanted):
        with download.running() as process:
            close_for_a_while(site, process, len(wanted) // CLOSE_AFTER, pause_s)
            mine = {url: file for url, file in wanted.items() if host_of(url) in OPEN}
            wait(process, lambda: served_by(site, OPEN) >= len(mine), REST_S)
        check(download.files(), mine)
        return {"open_s": seconds_of(download, OPEN), **refusals(site.log(), pause_s)}


@contextmanager
def scattered(
    bench: Bench, hosts: Sequence[str], pause_s: int = 0
) -> Iterator[tuple[Site, Download, dict[str, Path]]]:
    """A site of all hosts, and a download of what some of them have."""
    served = files.small(bench, bench.sizes.scattered)
    home = bench.lasting()
    with serving(served, HOSTS, retry_after_s=pause_s) as site:
        wanted = spread(site, served, hosts, bench.sizes.scattered)
        download = Download(home)
        download.prepare(wanted)
        peers.flush()
        yield site, download, wanted


def spread(site: Site, served: Path, hosts: Sequence[str], count: int) -> dict[str, Path]:
    """The files go round the hosts, so that each stretch of the list has all of them."""
    every = {number: HOSTS[number % len(HOSTS)] for number in range(count)}
    return {
        site.url(files.name(number), host): served / files.name(number)
        for number, host in every.items()
        if host in hosts
    }


def close_for_a_while(
    site: Site, process: subprocess.Popen[bytes], after: int, pause_s: float
) -> None:
    """Five hosts close after this number of requests, and open again later."""
    wait(process, lambda: len(site.log()) >= after, LOOK_S)
    for host in CLOSING:
        site.close_host(host)
    opens_at = time.monotonic() + pause_s
    wait(process, lambda: time.monotonic() > opens_at, REST_S)
    for host in CLOSING:
        site.open_host(host)


def wait(process: subprocess.Popen[bytes], over: Callable[[], bool], look_s: float) -> None:
    """Until it is over, or until the command has ended."""
    deadline = time.monotonic() + LIMIT_S
    while not over() and process.poll() is None:
        if time.monotonic() > deadline:
            raise FailedError(f"headgate was not through within {LIMIT_S} s")
        time.sleep(look_s)


def served_by(site: Site, hosts: Sequence[str]) -> int:
    """How many files these hosts have sent."""
    sent = [each.path for each in site.log() if each.status == 200]
    return sum(path.endswith(".pdf") and path.partition("/")[0] in hosts for path in sent)


def host_of(url: str) -> str:
    return urlsplit(url).hostname or ""


def seconds_of(download: Download, hosts: Sequence[str]) -> float:
    """From the first start of any file to the last end of one of these hosts."""
    lines = list(download.manifest())
    first = min(datetime.fromisoformat(line["started_at"]) for line in lines)
    ends = [
        datetime.fromisoformat(line["finished_at"])
        for line in lines
        if host_of(line["url"]) in hosts
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
