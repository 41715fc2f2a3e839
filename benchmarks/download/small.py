"""20,000 files of 20 kB from one host, 64 at a time. The clock runs for the whole program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks.download import files, peers
from benchmarks.download.checking import check
from benchmarks.download.ours import AT_ONCE, Download
from benchmarks.download.site import Site, serving
from benchmarks.harness import Bench, Contender
from benchmarks.measurement import Values

Where = Callable[[Sequence[str], Path], Mapping[str, Path]]


def originals(site: Site, folder: Path, count: int) -> dict[str, Path]:
    """The file behind each URL."""
    names = [files.name(number) for number in range(count)]
    return {site.url(name): folder / name for name in names}


def ours(bench: Bench) -> Values:
    count = bench.sizes.files
    served = files.small(bench, count)
    home = bench.lasting()
    with serving(served) as site:
        wanted = originals(site, served, count)
        download = Download(home, lanes=2 * AT_ONCE, processes=2, eager=True)
        download.prepare(wanted, wide_open=True)
        peers.flush()
        report = download.run()
        check(download.files(), wanted)
    return {
        "items_per_s": count / report.seconds,
        "drain_items_per_s": report.totals["items_per_s"],
        "worker_rss_mb": report.worker_rss_mb,
    }


def peer(fetch: peers.Fetch, where: Where) -> Callable[[Bench, peers.Settings], Values]:
    def run(bench: Bench, settings: peers.Settings) -> Values:
        count = bench.sizes.files
        served = files.small(bench, count)
        home = bench.lasting()
        with serving(served) as site:
            wanted = originals(site, served, count)
            urls, out = list(wanted), home / "out"
            peers.flush()
            seconds = fetch(urls, out, settings)
            check(where(urls, out), wanted)
        return {"items_per_s": count / seconds}

    return run


run_curl = peer(peers.curl, peers.by_name)
run_aria2 = peer(peers.aria2, peers.by_name)
run_scrapy = peer(peers.scrapy, peers.by_digest)

OURS = Contender("headgate download, 20 kB", ours)
CURL = Contender("curl --parallel, 20 kB", lambda bench: run_curl(bench, peers.CURL))
ARIA2 = Contender("aria2c -j64, 20 kB", lambda bench: run_aria2(bench, peers.ARIA2))
SCRAPY = Contender("Scrapy FilesPipeline, 20 kB", lambda bench: run_scrapy(bench, peers.SCRAPY))
