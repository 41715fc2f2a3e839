"""What waits or runs, across jobs."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query

from headgate.app.api.asking import (
    After,
    KeysetOnly,
    PageSize,
    Since,
    Statuses,
    Until,
    job_named,
    moment_in,
    statuses_in,
)
from headgate.app.api.bodies import BoundedRoute
from headgate.app.api.identity import Principal, Someone
from headgate.app.api.item_view import ItemPage
from headgate.app.api.items import with_waits_across
from headgate.app.api.office import AtOffice, Office
from headgate.app.api.problems import Refusal, documented
from headgate.core.paging import SortOrder
from headgate.core.status import OPEN
from headgate.core.user import Role
from headgate.ports.reads import ItemQuery

router = APIRouter(prefix="/api/pending", tags=["items"], route_class=BoundedRoute)

Whose = Annotated[Literal["me", "all"], Query(alias="userId", description="`all` is for admins.")]


@router.get("", responses=documented(), dependencies=[KeysetOnly])
async def ls(
    who: Someone,
    office: AtOffice,
    statuses: Statuses = None,
    user_id: Whose = "me",
    job_type: Annotated[str | None, Query(alias="jobType", max_length=200)] = None,
    job_id: Annotated[str | None, Query(alias="jobId", max_length=40)] = None,
    since: Since = None,
    until: Until = None,
    page_size: PageSize = 100,
    after: After = None,
) -> ItemPage:
    """List what waits or runs and why, longest unchanged first; every row is seen at least once."""
    demand_switched_on(office)
    owner = owner_meant(who, user_id)
    query = ItemQuery(
        job_id=await job_named(office, owner, job_id),
        statuses=statuses_in(statuses) or OPEN,
        owner=owner,
        handler=job_type,
        changed_from=moment_in(since, "from"),
        changed_to=moment_in(until, "to"),
        order=SortOrder.UPDATED,
        after=after,
        limit=page_size,
    )
    return await with_waits_across(office, await office.store.reads.items(query))


def demand_switched_on(office: Office) -> None:
    """404 where the view across jobs is switched off."""
    if not office.settings.server.pending_view:
        raise Refusal(404, "the view across jobs is switched off here (`server.pending_view`)")


def owner_meant(who: Principal, user_id: str) -> str | None:
    """Whose items are asked for; None: everybody's."""
    if user_id == "me":
        return who.name
    if not who.may(Role.ADMIN):
        raise Refusal(403, "only admins see what belongs to others; ask for `userId=me`")
    return None
