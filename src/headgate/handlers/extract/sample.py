"""One page of each stream, to see before a pass what a source answers."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from headgate.core.errors import HeadgateError
from headgate.core.item import NewItem
from headgate.core.mirror import Proof
from headgate.handlers.extract.detail import fetch_detail
from headgate.handlers.extract.fetching import FetchedPage, fetch_page
from headgate.handlers.extract.handler import BoundSource
from headgate.handlers.extract.listing import count_rows
from headgate.handlers.extract.pages import PageItem
from headgate.handlers.extract.reading import ReadRow
from headgate.handlers.extract.stream import StreamSource
from headgate.ports.handler import Context

Seconds = Callable[[], float]


class StreamSample(msgspec.Struct, frozen=True, kw_only=True):
    """What the first page of a stream shows."""

    stream: str
    paging: str
    """The kind of its paginator."""
    is_parallel: bool
    """Its pages can be fetched side by side."""
    parent: str = ""
    proof: Proof = Proof.UNPROVEN
    """The best proof that a pass can reach."""
    has_detail: bool = False
    rows: int = 0
    total: int | None = None
    """What the source says that there are, or what is certain; None: it does not say."""
    row_bytes: float = 0.0
    """The mean size of a row as it is kept."""
    seconds: float = 0.0
    """How long the answer took."""
    problem: str = ""
    """Why it cannot be listed; empty if it can."""

    @property
    def is_asked(self) -> bool:
        """False: a stream of children whose parent has no row yet."""
        return bool(self.seconds) or bool(self.problem)


class SourceSample:
    """Asks for one page of each stream; a stream of children is asked for one parent's row."""

    def __init__(self, source: BoundSource, ctx: Context, clock: Seconds = time.monotonic) -> None:
        self._source = source
        self._ctx = ctx
        self._clock = clock
        self._waiting: dict[str, PageItem] = {}
        """The first page of a child's stream, found in its parent's page."""
        self.rows: dict[str, Sequence[ReadRow]] = {}
        """The rows of each page, by stream."""

    async def take(self, names: Sequence[str], items: Sequence[NewItem]) -> list[StreamSample]:
        """A sample of each stream, parents before their children; `items` are those of a pass."""
        for item in items:
            page = msgspec.json.decode(item.input, type=PageItem)
            self._waiting[page.stream] = page
        return [await self._stream(self._source.streams[name]) for name in names]

    async def _stream(self, stream: StreamSource) -> StreamSample:
        facts = _facts(stream)
        page = self._waiting.get(stream.name)
        if page is None:
            return StreamSample(**facts)
        began_s = self._clock()
        try:
            total = await count_rows(stream, page, self._ctx) if page.full else None
            asked_s = self._clock()
            fetched = await fetch_page(stream, page, stream.paging.first(), self._ctx, first=True)
            ended_s = self._clock()
            self.rows[stream.name] = fetched.rows
            self._find_children(stream, page, fetched)
            row_bytes = await self._row_bytes(stream, page, fetched)
        except HeadgateError as error:
            seconds = self._clock() - began_s
            return StreamSample(**facts, seconds=seconds, problem=str(error))
        known = total if total is not None else fetched.total
        if known is None and fetched.step.ends:
            known = len(fetched.rows)
        return StreamSample(
            **facts,
            proof=_best_proof(stream, has_total=known is not None),
            rows=fetched.listed,
            total=known,
            row_bytes=row_bytes,
            seconds=ended_s - asked_s,
        )

    def _find_children(self, stream: StreamSource, page: PageItem, fetched: FetchedPage) -> None:
        for row in fetched.rows:
            for follow in stream.children_of(row, page):
                child = msgspec.convert(follow.input, PageItem)
                self._waiting.setdefault(child.stream, child)
            if all(child.name in self._waiting for child in stream.children):
                return

    async def _row_bytes(self, stream: StreamSource, page: PageItem, fetched: FetchedPage) -> float:
        if not fetched.rows:
            return 0.0
        if stream.detail is None:
            return sum(len(bytes(row.body)) for row in fetched.rows) / len(fetched.rows)
        follow = stream.detail_of(fetched.rows[0], page)
        detail = msgspec.convert(follow.input, PageItem)
        kept: Any = await fetch_detail(stream, detail, self._ctx)
        return float(sum(len(bytes(row.body)) for row in getattr(kept, "rows", ())))


def _facts(stream: StreamSource) -> dict[str, Any]:
    return {
        "stream": stream.name,
        "paging": str(stream.words.__struct_config__.tag),
        "is_parallel": not stream.paging.is_chain,
        "parent": stream.parent,
        "has_detail": stream.detail is not None,
    }


def _best_proof(stream: StreamSource, *, has_total: bool) -> Proof:
    if stream.is_covered and not stream.parent:
        return Proof.COVERED
    if stream.paging.is_chain or stream.words.stable or stream.paging.proof is Proof.CHAINED:
        return Proof.CHAINED
    return Proof.COUNTED if has_total else Proof.UNPROVEN
