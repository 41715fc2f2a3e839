"""Mirrors: their passes, rows, changes and differences."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import msgspec

from headgate.client.errors import JobNotFound, MirrorNotFound
from headgate.client.transport import ApiRequest, Transport, as_json, segment
from headgate.client.values import params, walk
from headgate.schema.mirrors import (
    DifferenceView,
    FieldView,
    Forgotten,
    MirrorDetail,
    MirrorView,
    PassBegun,
    PassReport,
    PassView,
    RowChangeView,
    RowDetail,
    RowView,
)
from headgate.schema.values import Listed, Page, WireValue


class NextPass(WireValue, frozen=True, kw_only=True, omit_defaults=True):
    """What to list; by default what has changed in the selected streams."""

    streams: Sequence[str] = ()
    full: bool = False
    since: str | None = None
    """List from this stamp of the source, whatever is known."""
    new_pass: bool = False
    """Give an interrupted pass up, instead of resuming it."""
    priority: int = 0


class SourcePass(NextPass, frozen=True, kw_only=True, omit_defaults=True):
    """A pass over a source; its mirror is made if there is none of that name."""

    source: str | Mapping[str, Any]
    """The name of a source that the server has, or the description of one."""
    name: str | None = None
    """The name of the mirror; None: that of the source."""
    set: Mapping[str, str] = {}
    """Values for the `{name}` of the source."""
    rate: str | None = None
    """The most requests, such as `100/min`; None: as the source says."""
    batch_size: int | None = None
    """Rows of a page; None: as the source says."""


class StreamClient:
    """One stream of a mirror."""

    def __init__(self, wire: Transport, mirror_id: str, stream_id: str) -> None:
        self._wire = wire
        self._path = f"/api/mirrors/{segment(mirror_id)}/streams/{segment(stream_id)}"

    async def page(
        self, *, deleted: bool = False, page_size: int = 100, after: str | None = None
    ) -> Page[RowView]:
        """A page of rows, in the order in which they were first seen."""
        query = params(deleted=deleted, pageSize=page_size, after=after)
        return await self._wire.value(self._ask("/rows", query), Page[RowView])

    def all(self, *, deleted: bool = False, page_size: int = 500) -> AsyncIterator[RowView]:
        """Every row, page after page."""
        return walk(lambda after: self.page(deleted=deleted, page_size=page_size, after=after))

    async def row(self, row_id: str) -> RowDetail:
        """A row with its changes."""
        return await self._wire.value(self._ask("/row", {"id": row_id}), RowDetail)

    async def changes(
        self, *, page_size: int = 100, after: str | None = None
    ) -> Page[RowChangeView]:
        """A page of logged changes, oldest first."""
        query = params(pageSize=page_size, after=after)
        return await self._wire.value(self._ask("/changes", query), Page[RowChangeView])

    async def fields(self) -> list[FieldView]:
        return (await self._wire.value(self._ask("/fields", {}), Listed[FieldView])).items

    async def differences(
        self, older: str, newer: str, *, page_size: int = 100, after: str | None = None
    ) -> Page[DifferenceView]:
        """A page of rows that differ between the ends of two passes; it may be short."""
        query = {"from": older, "to": newer, **params(pageSize=page_size, after=after)}
        return await self._wire.value(self._ask("/differences", query), Page[DifferenceView])

    def all_differences(
        self, older: str, newer: str, *, page_size: int = 500
    ) -> AsyncIterator[DifferenceView]:
        """Every row that differs between the ends of two passes."""
        return walk(lambda after: self.differences(older, newer, page_size=page_size, after=after))

    def _ask(self, verb: str, query: dict[str, str]) -> ApiRequest:
        return ApiRequest(path=f"{self._path}{verb}", params=query, absent=MirrorNotFound)


class MirrorsClient:
    """Mirrors by id. Pause, resume, cancel and retry a pass as the job of the same id."""

    def __init__(self, wire: Transport) -> None:
        self._wire = wire

    async def ls(self) -> list[MirrorView]:
        """Every mirror, by name."""
        ask = ApiRequest(path="/api/mirrors")
        return (await self._wire.value(ask, Listed[MirrorView])).items

    async def get(self, mirror_id: str) -> MirrorDetail:
        return await self._wire.value(_ask(mirror_id), MirrorDetail)

    async def begin(self, what: SourcePass) -> PassBegun:
        """Begin a pass over a source, or resume the one that was interrupted."""
        return await self._wire.value(_post("/api/mirrors", what), PassBegun)

    async def begin_next(self, mirror_id: str, what: NextPass | None = None) -> PassBegun:
        """Begin the next pass over a mirror, with the source of the last one, or resume that."""
        path = f"/api/mirrors/{segment(mirror_id)}/passes"
        return await self._wire.value(_post(path, what or NextPass()), PassBegun)

    async def passes(
        self, mirror_id: str, *, page_size: int = 20, after: str | None = None
    ) -> Page[PassView]:
        """A page of passes, newest first."""
        query = params(pageSize=page_size, after=after)
        ask = msgspec.structs.replace(_ask(mirror_id, "/passes"), params=query)
        return await self._wire.value(ask, Page[PassView])

    async def show(self, job_id: str) -> PassView:
        """A pass with its checkpoints."""
        return await self._wire.value(_of_pass(job_id), PassView)

    async def report(self, job_id: str) -> PassReport:
        """Sessions, throughput, failures, refusals and pace of a pass."""
        return await self._wire.value(_of_pass(job_id, "/report"), PassReport)

    def stream(self, mirror_id: str, stream_id: str) -> StreamClient:
        return StreamClient(self._wire, mirror_id, stream_id)

    async def forget(self, mirror_id: str) -> None:
        """Remove a mirror with its rows and history."""
        while not (await self.forget_some(mirror_id)).done:
            pass

    async def forget_some(self, mirror_id: str) -> Forgotten:
        """Remove a bounded part of a mirror."""
        return await self._wire.value(_ask(mirror_id, method="DELETE"), Forgotten)


def _ask(mirror_id: str, verb: str = "", method: str = "GET") -> ApiRequest:
    path = f"/api/mirrors/{segment(mirror_id)}{verb}"
    return ApiRequest(method=method, path=path, absent=MirrorNotFound)


def _of_pass(job_id: str, verb: str = "") -> ApiRequest:
    return ApiRequest(path=f"/api/passes/{segment(job_id)}{verb}", absent=JobNotFound)


def _post(path: str, value: NextPass) -> ApiRequest:
    body, headers = as_json(value)
    return ApiRequest(method="POST", path=path, body=body, headers=headers, absent=MirrorNotFound)
