"""Streams of a mirror: rows, changes, fields, and differences between two passes."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query

from headgate.app.api.bodies import BoundedRoute
from headgate.app.api.mirrors import MirrorNumber, OwnMirrors
from headgate.app.api.params import After, KeysetOnly, PageSize, number_in
from headgate.app.api.problems import documented
from headgate.app.service import PageOf, PassPair, StreamPlace
from headgate.core.errors import UnknownJob, UnknownMirror
from headgate.schema.mirrors import DifferenceView, FieldView, RowChangeView, RowDetail, RowView
from headgate.schema.values import Listed, Page

router = APIRouter(
    prefix="/api/mirrors/{mirrorId}/streams/{streamId}",
    tags=["mirrors"],
    route_class=BoundedRoute,
)


def stream_place(
    mirror_id: MirrorNumber,
    stream_id: Annotated[str, Path(alias="streamId", description="The id of a stream.")],
) -> StreamPlace:
    number = number_in(stream_id)
    if number is None:
        raise UnknownMirror(f"stream {stream_id[:40]!r} not found")
    return StreamPlace(mirror_id, number)


Place = Annotated[StreamPlace, Depends(stream_place)]
PassId = Annotated[str, Query(max_length=40, description="The id of a pass.")]


@router.get("/rows", responses=documented(), dependencies=[KeysetOnly])
async def rows(
    place: Place,
    mirrors: OwnMirrors,
    deleted: Annotated[bool, Query(description="Also deleted rows.")] = False,
    page_size: PageSize = 100,
    after: After = None,
) -> Page[RowView]:
    """List rows in the order in which they were first seen."""
    return await mirrors.rows(place, PageOf(after, page_size), deleted=deleted)


@router.get("/row", responses=documented())
async def row(
    place: Place,
    mirrors: OwnMirrors,
    row_id: Annotated[
        str, Query(alias="id", max_length=2_000, description="The id of the row at its source.")
    ],
) -> RowDetail:
    """Show a row with the log of its changes."""
    return await mirrors.row(place, row_id)


@router.get("/changes", responses=documented(), dependencies=[KeysetOnly])
async def changes(
    place: Place, mirrors: OwnMirrors, page_size: PageSize = 100, after: After = None
) -> Page[RowChangeView]:
    """List logged changes, oldest first. Additions and deletions by absence are in the rows."""
    return await mirrors.changes(place, PageOf(after, page_size))


@router.get("/fields", responses=documented())
async def fields(place: Place, mirrors: OwnMirrors) -> Listed[FieldView]:
    """List the fields that rows have had, with their JSON types."""
    return Listed(items=await mirrors.fields(place))


@router.get("/differences", responses=documented(), dependencies=[KeysetOnly])
async def differences(
    place: Place,
    mirrors: OwnMirrors,
    older: Annotated[PassId, Query(alias="from")],
    newer: Annotated[PassId, Query(alias="to")],
    page_size: PageSize = 100,
    after: After = None,
) -> Page[DifferenceView]:
    """Compare the ends of two passes. Pages may be short: continue while `next` is set."""
    return await mirrors.differences(
        place, PassPair(_pass(older), _pass(newer)), PageOf(after, page_size)
    )


def _pass(text: str) -> int:
    number = number_in(text) if text else None
    if number is None:
        raise UnknownJob(f"pass {text[:40]!r} not found")
    return number
