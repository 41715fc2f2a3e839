"""Folders of files: beside what people use, once more, without end, and from many hosts."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.download import again, endless, hosts, large, small
from benchmarks.harness import Contender, Figure
from benchmarks.measurement import Round
from benchmarks.ratios import ratio


def beside(name: str, title: str, theirs: Contender, must: float, aim: float) -> Figure:
    value = ratio(small.OURS, theirs, "items_per_s")
    return Figure(name, title, (small.OURS, theirs), value, must, aim)


def measured(contender: Contender, value: str) -> Callable[[Round], float]:
    return lambda one: one.values[contender.name][value]


FIGURES = (
    beside("download-scrapy", "files of 20 kB ÷ Scrapy's FilesPipeline", small.SCRAPY, 2, 4),
    beside("download-curl", "files of 20 kB ÷ curl --parallel, unsynced", small.CURL, 0.35, 0.7),
    beside("download-aria2", "files of 20 kB ÷ aria2c -j64", small.ARIA2, 1, 2),
    Figure(
        name="download-large",
        title="bytes of 500 MB files ÷ curl --parallel, then sync",
        contenders=(large.OURS, large.CURL),
        value=ratio(large.OURS, large.CURL, "mb_per_s"),
        must=0.7,
        aim=0.95,
    ),
    Figure(
        name="download-again-fresh",
        title="requests ÷ files of a second run, all fresh",
        contenders=(again.OURS_FRESH,),
        value=measured(again.OURS_FRESH, "requests_per_file"),
        must=0,
        aim=0,
        at_most=True,
    ),
    Figure(
        name="download-again-stale",
        title="304s ÷ files of a second run, all stale",
        contenders=(again.OURS_STALE,),
        value=measured(again.OURS_STALE, "confirmed_share"),
        must=1,
        aim=1,
    ),
    Figure(
        name="download-endless",
        title="RSS of command and workers with 64 endless streams",
        contenders=(endless.ENDLESS,),
        value=measured(endless.ENDLESS, "together_rss_mb"),
        must=150,
        aim=100,
        at_most=True,
        unit="MB",
    ),
    Figure(
        name="download-closed-hosts",
        title="time of 45 open hosts, beside 5 that close ÷ alone",
        contenders=(hosts.TOGETHER, hosts.ALONE),
        value=ratio(hosts.TOGETHER, hosts.ALONE, "open_s"),
        must=1.1,
        aim=1.0,
        at_most=True,
    ),
    Figure(
        name="download-closed-hosts-early",
        title="requests to those 5 before their time",
        contenders=(hosts.TOGETHER,),
        value=measured(hosts.TOGETHER, "early"),
        must=0,
        aim=0,
        at_most=True,
    ),
)
