"""The end of a stream in a pass: whether every row was seen, and what to ask again if not."""

from array import array
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
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
from headgate.core.mirror import Closing, Proof
from headgate.core.ordering import Compare, Position, position
from headgate.core.outcome import Done
from headgate.core.watermark import newest
from headgate.handlers.extract.key_hashes import each_hash
from headgate.handlers.extract.listing import count_rows
from headgate.handlers.extract.pages import At, Evidence, PageItem
from headgate.handlers.extract.paging.keyset import KeysetPaging
from headgate.handlers.extract.paging.offset import OffsetPaging
from headgate.handlers.extract.stream import StreamSource
from headgate.ports.handler import Context

MOST_ROUNDS = 3
MOST_REPAIRS = 500
SHOWN_GAPS = 20
BUCKETS = 256
"""Keys are compared in portions, so that millions of them need little memory."""
TOTAL_AFTER = "total_after"
Count = Callable[[], Awaitable[int | None]]
Results = Callable[[], AsyncIterator[Mapping[str, Any]]]


class PassTally(NamedTuple):
    """What the pages of a pass show together."""

    items: int = 0
    begun: int = 0
    opened: int = 0
    rows: int = 0
    numbered: bool = False
    is_sorted: bool = True
    totals: frozenset[int] = frozenset()
    watermark: str | None = None
    rounds: int = 0
    repairs: int = 0
    ended: int = 0
    stated: int | None = 0
    """The sum of what the listings say they have; None: one of them does not say it."""

    def plus(self, page: Evidence) -> "PassTally":
        total = frozenset() if page.total is None else frozenset({page.total})
        return PassTally(
            self.items + 1,
            self.begun + page.begins,
            self.opened + (0 if page.round else page.opens),
            self.rows + page.rows,
            self.numbered or page.numbered,
            self.is_sorted and not page.unsorted,
            self.totals | total,
            newest((self.watermark, page.stamp)),
            max(self.rounds, page.round),
            self.repairs + (page.round > 0),
            self.ended + page.ends,
            _sum(self.stated, page.total) if page.begins else self.stated,
        )

    @property
    def is_whole(self) -> bool:
        """Every page that was named has been fetched; repairs are named by the closing."""
        return self.items - self.repairs == self.begun + self.opened


class PassVerdict(NamedTuple):
    proof: Proof
    evidence: Mapping[str, Any]
    repairs: Sequence[At] = ()


async def close_stream(stream: StreamSource, page: PageItem, ctx: Context) -> Done:
    """Close the checkpoint with a proof, or ask again for the pages around a gap."""

    def results() -> AsyncIterator[Mapping[str, Any]]:
        return ctx.pages(stream.name)

    async def count() -> int | None:
        return await count_rows(stream, page, ctx)

    tally, watermark = await _tallied(results)
    verdict = await _verdict(stream, page, tally, results, count)
    if verdict.repairs and tally.rounds < MOST_ROUNDS:
        again = msgspec.structs.replace(page, round=tally.rounds + 1, scope="")
        items = [again.follow("page", stream.paging.label(at), at=at) for at in verdict.repairs]
        return Done({"repairs": len(items), **verdict.evidence}, items=items)
    closing = Closing(
        stream.name,
        verdict.proof,
        watermark,
        verdict.evidence,
        _deletes(stream, verdict.proof),
    )
    return Done({"proof": str(verdict.proof), **verdict.evidence}, closing=closing)


async def prove_again(
    stream: StreamSource, page: PageItem, results: Results, evidence: Mapping[str, Any]
) -> PassVerdict:
    """The verdict that the stored pages give; nothing is fetched.

    `evidence` is that of the closing, which has what the source said last.
    """

    async def count() -> int | None:
        return evidence.get(TOTAL_AFTER)

    tally, _ = await _tallied(results)
    return await _verdict(stream, page, tally, results, count)


async def _tallied(results: Results) -> tuple[PassTally, str | None]:
    tally, watermark = PassTally(), None
    async for result in results():
        page = msgspec.convert(result, Evidence)
        if page.detail:
            watermark = newest((watermark, page.stamp))
        else:
            tally = tally.plus(page)
    return tally, newest((watermark, tally.watermark))


async def _verdict(
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


def _deletes(stream: StreamSource, proof: Proof) -> bool:
    wanted = stream.resource.deletes
    if wanted == "never" or proof is Proof.UNPROVEN:
        return False
    return wanted == "counted" or proof is not Proof.COUNTED


def _sum(stated: int | None, total: int | None) -> int | None:
    return None if stated is None or total is None else stated + total
