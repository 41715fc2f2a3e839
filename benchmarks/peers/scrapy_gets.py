"""Fetch the same small body many times with Scrapy, and print one JSON line.

Runs under the bench environment's Python, so it imports nothing of ours. Whatever Scrapy does
beyond fetching is switched off: no delay, no retries, no cookies, no robots, no statistics.
The clock runs from the first request to the last answer.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import AsyncIterator
from typing import Any, ClassVar

import scrapy
from scrapy.crawler import CrawlerProcess

SETTINGS = {
    "AUTOTHROTTLE_ENABLED": False,
    "COOKIES_ENABLED": False,
    "DOWNLOAD_DELAY": 0,
    "DUPEFILTER_CLASS": "scrapy.dupefilters.BaseDupeFilter",
    "LOG_ENABLED": False,
    "REDIRECT_ENABLED": False,
    "RETRY_ENABLED": False,
    "ROBOTSTXT_OBEY": False,
    "STATS_DUMP": False,
    "TELNETCONSOLE_ENABLED": False,
    "TWISTED_REACTOR": "twisted.internet.asyncioreactor.AsyncioSelectorReactor",
    "ASYNCIO_EVENT_LOOP": "uvloop.Loop",
}


class Fetcher(scrapy.Spider):
    name = "fetcher"
    url = ""
    requests = 0
    clock: ClassVar[dict[str, float]] = {"answers": 0}

    async def start(self) -> AsyncIterator[Any]:
        self.clock["started"] = time.perf_counter()
        for number in range(self.requests):
            yield scrapy.Request(f"{self.url}?{number}", dont_filter=True)

    def parse(self, response: Any) -> None:
        assert response.body
        self.clock["answers"] += 1
        self.clock["ended"] = time.perf_counter()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--requests", type=int, required=True)
    parser.add_argument("--callers", type=int, required=True)
    options = parser.parse_args()
    together = {
        "CONCURRENT_REQUESTS": options.callers,
        "CONCURRENT_REQUESTS_PER_DOMAIN": options.callers,
    }
    process = CrawlerProcess({**SETTINGS, **together})
    process.crawl(Fetcher, url=options.url, requests=options.requests)
    process.start()
    clock = Fetcher.clock
    if clock["answers"] != options.requests:
        print(f"Scrapy got {clock['answers']} answers of {options.requests}", file=sys.stderr)
        return 1
    seconds = clock["ended"] - clock["started"]
    report = {"requests_per_s": options.requests / seconds, "version": scrapy.__version__}
    print(json.dumps(report))
    return 0


if __name__ == "__main__":
    sys.exit(main())
