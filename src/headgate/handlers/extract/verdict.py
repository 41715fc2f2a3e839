"""Whether the pages of a stream prove that every row was seen, and what to ask again if not."""

from array import array
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from headgate.core.coverage import (
    Gap,
    LinkedPage,
    Span,
    gaps_between,
    gaps_in_links,
    repair_offsets,
)
from headgate.core.mirror import Proof
from headgate.core.ordering import Compare, Position, position
from headgate.handlers.extract.key_hashes import each_hash
from headgate.handlers.extract.pages import At, Evidence, PageItem
from headgate.handlers.extract.paging.keyset import KeysetPaging
from headgate.handlers.extract.paging.offset import OffsetPaging
from headgate.handlers.extract.stream import StreamSource
from headgate.handlers.extract.tally import PassTally, Results

MOST_ROUNDS = 3
"""Most times that pages around gaps are asked for again."""
MOST_REPAIRS = 500
SHOWN_GAPS = 20
BUCKETS = 256
"""Keys are compared in portions, so that millions of them need little memory."""
TOTAL_AFTER = "total_after"
Count = Callable[[], Awaitable[int | None]]
"""Asks the source how many rows it has now."""


class PassVerdict(NamedTuple):
    proof: Proof
    evidence: Mapping[str, Any]
    repairs: Sequence[At] = ()


async def verdict_of(
    stream: StreamSource, page: PageItem, tally: PassTally, results: Results, count: Count
) -> PassVerdict:
    facts: dict[str, Any] = {"pages": tally.items, "rows": tally.rows, "rounds": tally.rounds}
    if not tally.is_whole:
        return PassVerdict(Proof.UNPROVEN, {**facts, "reason": "a page that was named is missing"})
    if not tally.numbered and not isinstance(stream.paging, KeysetPaging):
        return PassVerdict(Proof.CHAINED, facts)
    reason = ""
    repairs: Sequence[At] = ()
    if stream.is_covered and not stream.parent:
        gaps = await _gaps(stream, results) if tally.is_sorted else None
        if gaps == []:
            return PassVerdict(Proof.COVERED, facts)
        reason = "the rows are not sorted as declared" if gaps is None else "there are gaps"
        repairs = _repairs(stream, gaps or [], tally.rounds + 1)
        facts["gaps"] = [[gap.low, gap.high] for gap in (gaps or [])[:SHOWN_GAPS]]
    if repairs and tally.rounds < MOST_ROUNDS:
        return PassVerdict(Proof.UNPROVEN, facts, repairs)
    after = await count() if page.full and tally.totals else None
    if after is not None:
        facts[TOTAL_AFTER] = after
    counted = await _miscount(stream, tally, results, after)
    if not counted:
        return PassVerdict(Proof.COUNTED, facts)
    if tally.ended < tally.begun:
        reason = "a listing was not followed to its end, as `maximum_…` or a lost page can do"
    elif stream.words.stable and not tally.repairs:
        return PassVerdict(Proof.CHAINED, facts)
    return PassVerdict(Proof.UNPROVEN, {**facts, "reason": reason or counted})


async def _gaps(stream: StreamSource, results: Results) -> list[Gap]:
    if stream.compare is Compare.EQUAL:
        return gaps_in_links(await _links(results))
    spans = []
    async for result in results():
        found = msgspec.convert(result, Evidence)
        span = None if found.detail else _span(stream, found)
        if span is not None:
            spans.append(span)
    return gaps_between(spans)


def _span(stream: StreamSource, page: Evidence) -> Span | None:
    """What a page covers; a page without rows covers something only at the ends of the order."""
    low, high = _place(stream, page.low), _place(stream, page.high)
    if isinstance(stream.paging, KeysetPaging):
        return Span(low, high)
    begin = page.begin or 0
    end = begin + page.rows
    begins, ends = begin == stream.paging.first().get("offset", 0), page.ends
    if low is None or high is None:
        return Span(None, None) if begins and ends else None
    if stream.order and stream.order.direction == "desc":
        # Counted from the end of the order: ranks are negative, so that they grow with the key.
        return Span(None if ends else high, None if begins else low, -end, -begin)
    return Span(None if begins else low, None if ends else high, begin, end)


def _place(stream: StreamSource, key: Any) -> Position | None:
    return None if key is None else position(key, stream.compare)


async def _links(results: Results) -> list[LinkedPage]:
    """The pages of an order that only the source can compare; twice through, to keep it small."""
    lasts: set[str] = set()
    async for result in results():
        page = msgspec.convert(result, Evidence)
        lasts.update(list(each_hash(page.ids))[-1:])
    pages = []
    async for result in results():
        page = msgspec.convert(result, Evidence)
        if page.detail:
            continue
        keys = list(each_hash(page.ids))
        begin = page.begin or 0
        last = keys[-1] if keys else ""
        contains = frozenset(keys) & lasts
        ends = page.ends and (bool(keys) or page.begins)
        pages.append(LinkedPage(last, contains, begin == 0, ends, begin, begin + page.rows))
    return pages


def _repairs(stream: StreamSource, gaps: Sequence[Gap], wide: int) -> list[At]:
    paging = stream.paging
    if not isinstance(paging, OffsetPaging):
        return []
    found: dict[int, At] = {}
    for gap in gaps:
        begin, end = sorted((abs(gap.begin), abs(gap.end)))
        size = paging.first()["limit"]
        for offset in repair_offsets(Gap(None, None, begin, end), size, paging.stride, wide):
            # Another beginning than before: the boundaries of pages must not meet again.
            at = paging.repair(offset + (wide * size) // 4 if offset else 0)
            found[at["offset"]] = at
    return list(found.values())[:MOST_REPAIRS]


async def _miscount(
    stream: StreamSource, tally: PassTally, results: Results, after: int | None
) -> str:
    """Why the number of rows proves nothing; empty if it proves that all were seen.

    `after` is the number that the source says after the last page.
    """
    totals = tally.totals if after is None else tally.totals | {after}
    if stream.parent:
        totals = frozenset() if tally.stated is None else frozenset({tally.stated})
    if not totals:
        return "the source does not say how many rows it has"
    if len(totals) > 1:
        return f"the number of rows changed during the pass ({', '.join(map(str, sorted(totals)))})"
    seen, distinct = await _distinct(results)
    (total,) = totals
    if seen != distinct:
        return f"{seen - distinct:,} rows came twice"
    return "" if distinct == total else f"{distinct:,} rows were seen of {total:,}"


async def _distinct(results: Results) -> tuple[int, int]:
    """How many rows came, and how many different ones."""
    buckets = [array("q") for _ in range(BUCKETS)]
    async for result in results():
        for key in each_hash(msgspec.convert(result, Evidence).ids):
            number = hash(key)
            buckets[number % BUCKETS].append(number)
    return sum(map(len, buckets)), sum(len(set(bucket)) for bucket in buckets)
