"""Mirrors for the commands, over HTTP."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from headgate.app.service import FIRST_PAGE, PageOf, PassPair, StreamPlace
from headgate.client import Client
from headgate.client.mirrors import StreamClient
from headgate.schema.mirrors import (
    DifferenceView,
    FieldView,
    Forgotten,
    MirrorDetail,
    MirrorView,
    PassReport,
    PassView,
    RowChangeView,
    RowDetail,
    RowView,
)
from headgate.schema.values import Page

LARGEST_PAGE = 1_000
Value = TypeVar("Value")


class RemoteMirrors:
    """Implements MirrorVerbs."""

    def __init__(self, client: Client) -> None:
        self._mirrors = client.mirrors

    async def ls(self) -> list[MirrorView]:
        return await self._mirrors.ls()

    async def get(self, mirror_id: int) -> MirrorDetail:
        return await self._mirrors.get(str(mirror_id))

    async def passes(self, mirror_id: int, page: PageOf = FIRST_PAGE) -> Page[PassView]:
        name = str(mirror_id)
        return await _joined(
            page,
            lambda size, after: self._mirrors.passes(name, page_size=size, after=after),
        )

    async def show(self, job_id: int) -> PassView:
        return await self._mirrors.show(str(job_id))

    async def report(self, job_id: int) -> PassReport:
        return await self._mirrors.report(str(job_id))

    async def rows(
        self, place: StreamPlace, page: PageOf = FIRST_PAGE, *, deleted: bool = False
    ) -> Page[RowView]:
        stream = self._stream(place)
        return await _joined(
            page,
            lambda size, after: stream.page(deleted=deleted, page_size=size, after=after),
        )

    async def row(self, place: StreamPlace, row_id: str) -> RowDetail:
        return await self._stream(place).row(row_id)

    async def changes(self, place: StreamPlace, page: PageOf = FIRST_PAGE) -> Page[RowChangeView]:
        stream = self._stream(place)
        return await _joined(page, lambda size, after: stream.changes(page_size=size, after=after))

    async def fields(self, place: StreamPlace) -> list[FieldView]:
        return await self._stream(place).fields()

    async def differences(
        self, place: StreamPlace, between: PassPair, page: PageOf = FIRST_PAGE
    ) -> Page[DifferenceView]:
        stream, (older, newer) = self._stream(place), map(str, between)
        return await _joined(
            page,
            lambda size, after: stream.differences(older, newer, page_size=size, after=after),
        )

    async def forget(self, mirror_id: int) -> Forgotten:
        return await self._mirrors.forget_some(str(mirror_id))

    def _stream(self, place: StreamPlace) -> StreamClient:
        return self._mirrors.stream(str(place.mirror_id), str(place.stream_id))


async def _joined(
    wanted: PageOf, ask: Callable[[int, str | None], Awaitable[Page[Value]]]
) -> Page[Value]:
    """One page that may be larger than the pages of a server."""
    found: list[Value] = []
    after = wanted.after
    while True:
        page = await ask(min(wanted.limit - len(found), LARGEST_PAGE), after)
        found += page.items
        after = page.next
        if after is None or len(found) >= wanted.limit or not page.items:
            return Page(items=found, next=after)
