"""The event stream (server-sent events) and the event log."""

from collections.abc import AsyncIterator
from contextlib import AbstractContextManager
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.responses import Response

from headgate.app.api.bodies import BoundedRoute
from headgate.app.api.change_feed import ChangeFeed, Topic
from headgate.app.api.identity import CurrentUser, is_still
from headgate.app.api.params import job_named, number_in
from headgate.app.api.problems import ProblemResponse, documented
from headgate.app.api.state import State
from headgate.app.schema_values import event_view
from headgate.ports.reads import EventQuery
from headgate.schema.events import EventView
from headgate.schema.values import Page

router = APIRouter(prefix="/api/events", tags=["events"], route_class=BoundedRoute)


JobChoice = Annotated[
    str | None, Query(alias="jobId", max_length=40, description="Only events of this job.")
]


@router.get(
    "",
    responses={**documented(), 200: {"content": {"text/event-stream": {}}}},
    response_class=Response,
)
async def stream(
    request: Request,
    who: CurrentUser,
    app_state: State,
    job_id: JobChoice = None,
    last_event_id: Annotated[
        str | None,
        Header(alias="Last-Event-ID", max_length=40, description="Resume after this event."),
    ] = None,
) -> Response:
    """Stream counters, changes, events and gate changes (of the job, or for admins of all).

    The stream ends when the token or the session ends, or when the role of the user changes.
    """
    number = await job_named(app_state, who.sees, job_id)
    after = _after(last_event_id)
    topic = Topic(job_id=number, owner=who.sees, gates=who.sees is None)
    app_state.streams.require_room(who.name)
    feed = ChangeFeed(app_state, topic, partial(is_still, who, request, app_state))
    return EventSourceResponse(_stream(feed, after, app_state.streams.held(who.name)), ping=15)


@router.get("/log", responses=documented())
async def log(
    who: CurrentUser,
    app_state: State,
    job_id: JobChoice = None,
    page_size: Annotated[int, Query(alias="pageSize", ge=1, le=1_000)] = 100,
    after: Annotated[
        str | None, Query(max_length=40, description="`next` of the previous page.")
    ] = None,
) -> Page[EventView]:
    """List events, newest first."""
    query = EventQuery(
        job_id=await job_named(app_state, who.sees, job_id),
        owner=who.sees,
        after_id=_after(after) or 0,
        newest_first=True,
        limit=page_size,
    )
    rows = await app_state.store.reads.events(query)
    more = len(rows) == page_size
    return Page(items=[event_view(row) for row in rows], next=str(rows[-1].id) if more else None)


def _after(text: str | None) -> int | None:
    if text is None:
        return None
    number = 0 if text == "0" else number_in(text) if text else None
    if number is None:
        raise ProblemResponse(400, "the event id is not valid; start without one")
    return number


async def _stream(
    feed: ChangeFeed, after: int | None, place: AbstractContextManager[None]
) -> AsyncIterator[ServerSentEvent]:
    with place:
        async for kind, event_id, data in feed.messages(after):
            yield ServerSentEvent(data=data, event=kind, id=event_id)
