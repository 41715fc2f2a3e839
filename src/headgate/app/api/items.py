"""Items of a job, one item with its history, and why an item waits."""

from typing import Annotated

from fastapi import APIRouter, Query

from headgate.app.api.bodies import BoundedRoute
from headgate.app.api.identity import CurrentUser
from headgate.app.api.params import (
    After,
    ItemId,
    KeysetOnly,
    OwnItem,
    OwnJob,
    PageSize,
    Since,
    Statuses,
    Until,
    error_class_in,
    job_named,
    moment_in,
    statuses_in,
)
from headgate.app.api.problems import documented
from headgate.app.api.state import AppState, State
from headgate.app.handler_finder import item_wait
from headgate.app.schema_values import item_view, item_whole, page_view, wait_view, why_view
from headgate.core.errors import UnknownItem, UnknownJob
from headgate.core.job import Job
from headgate.core.paging import SortOrder
from headgate.engine.why import wait_of_item, waits_of_items
from headgate.ports.reads import ItemDetail, ItemQuery, ItemRows
from headgate.schema.items import ItemView, ItemWhole, Why
from headgate.schema.values import Page

router = APIRouter(prefix="/api", tags=["items"], route_class=BoundedRoute)

ErrorClass = Annotated[str | None, Query(alias="errorClass", max_length=100)]
Signature = Annotated[
    str | None, Query(max_length=400, description="Signature of an error group, from `/errors`.")
]
Text = Annotated[
    str | None,
    Query(
        max_length=200,
        description="Text in the key or the summary. Pages may then be short: continue while `next`"
        " is set.",
    ),
]


@router.get("/jobs/{jobId}/items", responses=documented(), dependencies=[KeysetOnly])
async def ls(
    job: OwnJob,
    app_state: State,
    statuses: Statuses = None,
    q: Text = None,
    error_class: ErrorClass = None,
    signature: Signature = None,
    order: Annotated[SortOrder, Query(description="Input order, or longest unchanged first.")] = (
        SortOrder.INPUT
    ),
    since: Since = None,
    until: Until = None,
    waits: Annotated[
        bool, Query(description="Also return why each item waits, as `waiting`.")
    ] = False,
    page_size: PageSize = 100,
    after: After = None,
) -> Page[ItemView]:
    """List the items of a job with their stored results. `from` and `to` need `order=updated`."""
    query = ItemQuery(
        job_id=job.id,
        statuses=statuses_in(statuses),
        error_class=error_class_in(error_class),
        signature=signature,
        text=q or None,
        changed_from=moment_in(since, "from"),
        changed_to=moment_in(until, "to"),
        with_result=True,
        order=order,
        after=after,
        limit=page_size,
        tail=True,
    )
    page = await app_state.store.reads.items(query)
    return await _with_waits(app_state, job, page) if waits else page_view(page)


async def _with_waits(app_state: AppState, job: Job, page: ItemRows) -> Page[ItemView]:
    reading = await app_state.limit_cache.read(job.id)
    at = await app_state.limit_cache.situation(job.id)
    found = await waits_of_items(app_state.store, job, at, reading, page.items)
    views = [item_view(row, wait_view(wait)) for row, wait in zip(page.items, found, strict=True)]
    return Page(items=views, next=page.next)


async def with_waits_across(app_state: AppState, page: ItemRows) -> Page[ItemView]:
    """Add waits to items of several jobs. The order of the page is kept."""
    views: dict[int, ItemView] = {}
    for job_id in dict.fromkeys(row.job_id for row in page.items):
        rows = [row for row in page.items if row.job_id == job_id]
        try:
            job = await app_state.store.reads.job(job_id)
            part = await _with_waits(app_state, job, ItemRows(rows, None))
        except UnknownJob:  # deleted since the page was read
            part = page_view(ItemRows(rows, None))
        views |= {int(view.id): view for view in part.items}
    return Page(items=[views[row.id] for row in page.items], next=page.next)


@router.get("/jobs/{jobId}/items/{itemId}", responses=documented())
async def show_of_job(job: OwnJob, item: OwnItem, item_id: ItemId, app_state: State) -> ItemWhole:
    """Show an item of a job with its input, attempts and calls."""
    if item.row.job_id != job.id:
        raise UnknownItem(f"job {job.id} has no item {item_id}")
    return await _whole(item, app_state)


@router.get("/items", responses=documented())
async def by_key(
    app_state: State,
    who: CurrentUser,
    key: Annotated[str, Query(max_length=2_000, description="The whole key.")],
    job_id: Annotated[str | None, Query(alias="jobId", max_length=40)] = None,
) -> Page[ItemView]:
    """Find items by key, newest jobs first. Returns at most 100, without a next page."""
    job = await job_named(app_state, who.sees, job_id)
    found = await app_state.store.rows.by_key(key, job, who.sees)
    return Page(items=[item_view(row) for row in found], next=None)


@router.get("/items/{itemId}", responses=documented())
async def show(item: OwnItem, app_state: State) -> ItemWhole:
    """Show an item with its input, attempts and calls."""
    return await _whole(item, app_state)


async def _whole(item: ItemDetail, app_state: AppState) -> ItemWhole:
    attempts = await app_state.store.reads.attempts(item.row.id)
    return item_whole(item, attempts, await app_state.store.rows.decision(item.row.id))


@router.get("/items/{itemId}/why", responses=documented())
async def why(item: OwnItem, app_state: State) -> Why:
    """Explain why an item waits, or how it ended."""
    row = item.row
    gates = await app_state.limit_cache.gates_of(row.job_id)
    attempts = await app_state.store.reads.attempts(row.id)
    wait = await wait_of_item(app_state.store, gates, item, attempts)
    wait = item_wait(await app_state.store.reads.job(row.job_id), wait)
    return why_view(row, wait)
