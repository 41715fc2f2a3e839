"""Fetch a list of files with Scrapy's FilesPipeline.

Runs under the bench environment's Python, so it imports nothing of ours. Whatever Scrapy does
beyond fetching and keeping is switched off: no delay, no retries, no cookies, no robots, no log.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import scrapy
from scrapy.crawler import AsyncCrawlerProcess, CrawlerProcess

REACTORS = {
    "asyncio": "twisted.internet.asyncioreactor.AsyncioSelectorReactor",
    "epoll": "twisted.internet.epollreactor.EPollReactor",
}
SETTINGS = {
    "AUTOTHROTTLE_ENABLED": False,
    "COOKIES_ENABLED": False,
    "DOWNLOAD_DELAY": 0,
    "EXTENSIONS": {
        "scrapy.extensions.corestats.CoreStats": None,
        "scrapy.extensions.logstats.LogStats": None,
        "scrapy.extensions.memusage.MemoryUsage": None,
    },
    "HTTPPROXY_ENABLED": False,
    "ITEM_PIPELINES": {"scrapy.pipelines.files.FilesPipeline": 1},
    "LOG_ENABLED": False,
    "METAREFRESH_ENABLED": False,
    "REDIRECT_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "RETRY_ENABLED": False,
    "ROBOTSTXT_OBEY": False,
    "STATS_DUMP": False,
    "TELNETCONSOLE_ENABLED": False,
}


class Fetcher(scrapy.Spider):
    """Hands the pipeline its files, a fixed number at a time."""

    name = "fetcher"
    urls = ()
    together = 1

    async def start(self) -> AsyncIterator[Any]:
        for first in range(0, len(self.urls), self.together):
            yield {"file_urls": self.urls[first : first + self.together]}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--urls", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--at-once", type=int, required=True)
    parser.add_argument("--urls-an-item", type=int, default=1)
    parser.add_argument("--reactor", choices=sorted(REACTORS), default="asyncio")
    parser.add_argument("--loop", default="")
    parser.add_argument("--handler", default="")
    options = parser.parse_args()
    kind = AsyncCrawlerProcess if options.reactor == "asyncio" else CrawlerProcess
    process = kind({**SETTINGS, **chosen(options)})
    urls = options.urls.read_text().split()
    crawler = process.create_crawler(Fetcher)
    process.crawl(crawler, urls=urls, together=options.urls_an_item)
    process.start()
    fetched = crawler.stats.get_value("file_status_count/downloaded", 0)
    if fetched != len(urls):
        print(f"Scrapy fetched {fetched} files of {len(urls)}", file=sys.stderr)
        return 1
    return 0


def chosen(options: argparse.Namespace) -> dict[str, Any]:
    handler = {"DOWNLOAD_HANDLERS": {"http": options.handler}} if options.handler else {}
    return {
        "CONCURRENT_ITEMS": 2 * options.at_once,
        "CONCURRENT_REQUESTS": options.at_once,
        "CONCURRENT_REQUESTS_PER_DOMAIN": options.at_once,
        "FILES_STORE": str(options.out),
        "TWISTED_REACTOR": REACTORS[options.reactor],
        "ASYNCIO_EVENT_LOOP": options.loop or None,
        **handler,
    }


if __name__ == "__main__":
    sys.exit(main())
