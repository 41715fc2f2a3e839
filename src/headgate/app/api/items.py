"""Items: a job's grid, single rows with their history, and why they wait."""

from typing import Annotated

from fastapi import APIRouter, Query

from headgate.app.api.asking import (
    After,
    ItemId,
    KeysetOnly,
    OwnItem,
    OwnJob,
    PageSize,
    Since,
    Statuses,
    Until,
    moment_in,
    statuses_in,
)
from headgate.app.api.item_view import ItemPage, ItemWhole, item_view, item_whole
from headgate.app.api.job_view import WaitView, wait_view
from headgate.app.api.office import AtOffice, Office
from headgate.app.api.problems import documented
from headgate.app.api.wire import Identifier, Wire
from headgate.core.errors import UnknownItem
from headgate.core.job import Job
from headgate.core.paging import Order
from headgate.engine.limiting import wait_of, waits_of
from headgate.ports.reads import ItemQuery, Page

router = APIRouter(prefix="/api", tags=["items"])

ErrorClass = Annotated[str | None, Query(alias="errorClass", max_length=100)]
Signature = Annotated[
    str | None, Query(max_length=400, description="A kind of failure, from `/errors`.")
]
Text = Annotated[
    str | None,
    Query(
        max_length=200,
        description="In the key or the summary. Pages may then be short: go on while `next` is"
        " there.",
    ),
]


@router.get("/jobs/{jobId}/items", responses=documented(), dependencies=[KeysetOnly])
async def ls(
    job: OwnJob,
    office: AtOffice,
    statuses: Statuses = None,
    q: Text = None,
    error_class: ErrorClass = None,
    signature: Signature = None,
    order: Annotated[Order, Query(description="Input order, or longest unchanged first.")] = (
        Order.INPUT
    ),
    since: Since = None,
    until: Until = None,
    waits: Annotated[
        bool, Query(description="Also say of each what it waits for, as `waiting`.")
    ] = False,
    page_size: PageSize = 100,
    after: After = None,
) -> ItemPage:
    """List a job's items from their stored results; `from` and `to` need `order=updated`."""
    query = ItemQuery(
        job_id=job.id,
        statuses=statuses_in(statuses),
        error_class=error_class,
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
    page = await office.store.reads.items(query)
    return await _with_waits(office, job, page) if waits else page_view(page)


async def _with_waits(office: Office, job: Job, page: Page) -> ItemPage:
    reading = await office.gauges.read(job.id)
    found = await waits_of(office.store, job, reading, page.items, office.clock.now())
    views = [item_view(row, wait_view(wait)) for row, wait in zip(page.items, found, strict=True)]
    return ItemPage(items=views, next=page.next)


@router.get("/jobs/{jobId}/items/{itemId}", responses=documented())
async def show_of_job(job: OwnJob, item: OwnItem, item_id: ItemId, office: AtOffice) -> ItemWhole:
    """Show an item of a job with its input, its attempts and their calls."""
    if item.row.job_id != job.id:
        raise UnknownItem(f"job {job.id} has no item {item_id}")
    return item_whole(item, await office.store.reads.attempts(item.row.id))


@router.get("/items/{itemId}", responses=documented())
async def show(item: OwnItem, office: AtOffice) -> ItemWhole:
    """Show an item with its input, its attempts and their calls."""
    return item_whole(item, await office.store.reads.attempts(item.row.id))


class Why(Wire):
    """What an item waits for."""

    item_id: Identifier
    status: str
    waiting: WaitView | None
    """None: it is finished."""


@router.get("/items/{itemId}/why", responses=documented())
async def why(item: OwnItem, office: AtOffice) -> Why:
    """Why an item is waiting."""
    row = item.row
    gates = await office.gauges.gates_of(row.job_id)
    attempts = await office.store.reads.attempts(row.id)
    wait = await wait_of(office.store, gates, item, attempts, office.clock.now())
    return Why(item_id=str(row.id), status=str(row.status), waiting=wait_view(wait))


def page_view(page: Page) -> ItemPage:
    """A page of items."""
    return ItemPage(items=[item_view(row) for row in page.items], next=page.next)
