"""Forecast of a pass: requests, time and disk of each stream."""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import NamedTuple

HEAD_BYTES = 250
"""What a stored row needs beside its body: head, keys and indexes."""


class StreamFacts(NamedTuple):
    """What is known of a stream before a pass."""

    name: str
    parent: str = ""
    total: int | None = None
    """Rows that are listed; of children: for one row of the parent."""
    page_rows: int = 0
    """Rows that a page has."""
    row_bytes: float = 0.0
    has_detail: bool = False
    counts: int = 0
    """Requests for the number of rows."""


class StreamForecast(NamedTuple):
    """None: it cannot be known before the pass."""

    name: str
    rows: int | None
    requests: int | None
    bytes: int | None


def forecast(streams: Sequence[StreamFacts]) -> list[StreamForecast]:
    """The forecast of each stream; parents stand before their children."""
    found: dict[str, StreamForecast] = {}
    for each in streams:
        found[each.name] = _stream(each, found)
    return list(found.values())


def _stream(facts: StreamFacts, before: Mapping[str, StreamForecast]) -> StreamForecast:
    listings: int | None = 1
    if facts.parent:
        listings = before[facts.parent].rows if facts.parent in before else None
    if facts.total is None or listings is None:
        return StreamForecast(facts.name, None, None, None)
    rows = facts.total * listings
    pages = max(1, ceil(facts.total / max(facts.page_rows, 1)))
    details = rows if facts.has_detail else 0
    requests = listings * pages + details + facts.counts
    return StreamForecast(facts.name, rows, requests, round(rows * (facts.row_bytes + HEAD_BYTES)))


def seconds_for(
    requests: int, workers: int, answer_s: float, requests_per_s: float | None
) -> float:
    """The time of requests that take `answer_s` each, under a limit if there is one."""
    busy_s = requests * answer_s / workers
    return busy_s if requests_per_s is None else max(busy_s, requests / requests_per_s)
