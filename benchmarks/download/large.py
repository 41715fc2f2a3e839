"""20 files of 500 MB until they are on the disk: we sync each of them, after curl `sync` does."""

from __future__ import annotations

from benchmarks.download import files, peers
from benchmarks.download.checking import check
from benchmarks.download.ours import Download
from benchmarks.download.site import serving
from benchmarks.download.small import originals
from benchmarks.harness import Bench, Contender
from benchmarks.measurement import Values


def ours(bench: Bench) -> Values:
    served = files.large(bench)
    with bench.scratch() as home, serving(served) as site:
        wanted = originals(site, served, bench.sizes.large_files)
        download = Download(home)
        download.prepare(wanted, wide_open=True)
        peers.flush()
        report = download.run()
        check(download.files(), wanted)
    return {
        "mb_per_s": megabytes(bench) / report.seconds,
        "worker_rss_mb": report.worker_rss_mb,
    }


def curl(bench: Bench) -> Values:
    served = files.large(bench)
    with bench.scratch() as home, serving(served) as site:
        wanted = originals(site, served, bench.sizes.large_files)
        urls, out = list(wanted), home / "out"
        peers.flush()
        fetched_s = peers.curl(urls, out, peers.CURL)
        synced_s = peers.flush()
        check(peers.by_name(urls, out), wanted)
    return {
        "mb_per_s": megabytes(bench) / (fetched_s + synced_s),
        "unsynced_mb_per_s": megabytes(bench) / fetched_s,
    }


def megabytes(bench: Bench) -> float:
    return bench.sizes.large_files * bench.sizes.large_file_bytes / 1e6


OURS = Contender("headgate download, 500 MB", ours)
CURL = Contender("curl --parallel and sync, 500 MB", curl)
