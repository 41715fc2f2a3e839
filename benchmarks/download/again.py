"""The same command once more, when nothing has changed; the server's log tells what it cost."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.download import files
from benchmarks.download.checking import check
from benchmarks.download.ours import Download
from benchmarks.download.site import serving
from benchmarks.download.small import originals
from benchmarks.harness import Bench, Contender
from benchmarks.measurement import Values

FRESH, STALE = "max-age=3600", "no-cache"


def again(cache_control: str) -> Callable[[Bench], Values]:
    def run(bench: Bench) -> Values:
        count = bench.sizes.files_again
        served = files.small(bench, count)
        home = bench.lasting()
        with serving(served, cache_control=cache_control) as site:
            wanted = originals(site, served, count)
            download = Download(home)
            download.prepare(wanted, wide_open=True)
            download.run()
            first = len(site.log(count))
            report = download.run()
            check(download.files("skipped"), wanted)
            asked = site.log()[first:]
        return {
            "requests_per_file": len(asked) / count,
            "confirmed_share": sum(each.status == 304 for each in asked) / count,
            "items_per_s": count / report.seconds,
        }

    return run


OURS_FRESH = Contender("headgate download again, fresh", again(FRESH))
OURS_STALE = Contender("headgate download again, stale", again(STALE))
