"""Open items across jobs, and the oldest of them per job and per provider."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Literal

import msgspec
from fastapi import APIRouter, Query

from headgate.app.api.bodies import BoundedRoute
from headgate.app.api.identity import CurrentUser, Principal
from headgate.app.api.items import with_waits_across
from headgate.app.api.params import (
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
from headgate.app.api.problems import ProblemResponse, documented
from headgate.app.api.state import AppState, State
from headgate.app.schema_values import counts_view
from headgate.core.gates.keys import gate_name, provider_in
from headgate.core.job import Counts, Job
from headgate.core.paging import SortOrder
from headgate.core.status import OPEN, JobState
from headgate.core.time_text import moment
from headgate.core.user import Role
from headgate.ports.reads import ItemQuery, ItemRow, JobQuery
from headgate.schema.items import ItemView, Oldest, OldestAtProvider, OldestOfJob
from headgate.schema.values import Page

router = APIRouter(prefix="/api/pending", tags=["items"], route_class=BoundedRoute)

OwnerFilter = Annotated[
    Literal["me", "all"], Query(alias="userId", description="`all` is for admins.")
]


@router.get("", responses=documented(), dependencies=[KeysetOnly])
async def ls(
    who: CurrentUser,
    app_state: State,
    statuses: Statuses = None,
    user_id: OwnerFilter = "me",
    job_type: Annotated[str | None, Query(alias="jobType", max_length=200)] = None,
    job_id: Annotated[str | None, Query(alias="jobId", max_length=40)] = None,
    since: Since = None,
    until: Until = None,
    page_size: PageSize = 100,
    after: After = None,
) -> Page[ItemView]:
    """List open items and why they wait, longest unchanged first. Each is listed at least once."""
    require_switched_on(app_state)
    owner = owner_meant(who, user_id)
    query = ItemQuery(
        job_id=await job_named(app_state, owner, job_id),
        statuses=statuses_in(statuses) or OPEN,
        owner=owner,
        handler=job_type,
        changed_from=moment_in(since, "from"),
        changed_to=moment_in(until, "to"),
        order=SortOrder.UPDATED,
        after=after,
        limit=page_size,
    )
    return await with_waits_across(app_state, await app_state.store.reads.items(query))


def require_switched_on(app_state: AppState) -> None:
    """Raise 404 if the view across jobs is switched off."""
    if not app_state.settings.server.pending_view:
        raise ProblemResponse(
            404, "the view across jobs is switched off here (`server.pending_view`)"
        )


def owner_meant(who: Principal, user_id: str) -> str | None:
    """Return the owner to list; None for all owners."""
    if user_id == "me":
        return who.name
    if not who.may(Role.ADMIN):
        raise ProblemResponse(403, "only admins can list other users' items; use `userId=me`")
    return None


JOBS = 200
"""Jobs that are read, newest first."""
ITEMS = 100
"""Items that are read per job, longest unchanged first."""
UNDONE = frozenset(JobState) - {JobState.DONE}


class OldestFacts(msgspec.Struct, frozen=True):
    """An open job with its oldest items, longest unchanged first."""

    job: Job
    counts: Counts
    rows: list[ItemRow]


@router.get("/oldest", responses=documented())
async def oldest(who: CurrentUser, app_state: State, user_id: OwnerFilter = "me") -> Oldest:
    """Return the age of the oldest open item, for each job and for each provider.

    Only the newest jobs are read, and the items that are unchanged for longest.
    """
    require_switched_on(app_state)
    standing = await _standing(app_state, owner_meant(who, user_id))
    standing.sort(key=lambda each: each.rows[0].updated_at)
    usual = {each.job.id: await _usual_provider(app_state, each.job) for each in standing}
    return Oldest(
        jobs=[_of_job(each) for each in standing],
        providers=oldest_at_providers([row for each in standing for row in each.rows], usual),
    )


async def _standing(app_state: AppState, owner: str | None) -> list[OldestFacts]:
    reads = app_state.store.reads
    found = []
    for job in await reads.jobs(JobQuery(owner=owner, states=UNDONE, limit=JOBS, configs=False)):
        counts = await reads.counts(job.id)
        if not counts.open:
            continue
        query = ItemQuery(job.id, OPEN, order=SortOrder.UPDATED, limit=ITEMS, tail=True)
        rows = list((await reads.items(query)).items)
        if rows:
            found.append(OldestFacts(job, counts, rows))
    return found


async def _usual_provider(app_state: AppState, job: Job) -> str:
    """Return the provider that items without a gate of their own wait for."""
    for info in app_state.handlers:
        if info.name == job.handler and info.provider:
            return info.provider
    wait = (await app_state.limit_cache.limit_of(job)).wait
    return (provider_in(wait.gate) or gate_name(wait.gate)) if wait else ""


def oldest_at_providers(
    rows: Iterable[ItemRow], usual: Mapping[int, str]
) -> list[OldestAtProvider]:
    at: dict[str, list[ItemRow]] = {}
    for row in rows:
        if name := row.gate or usual.get(row.job_id):
            at.setdefault(name, []).append(row)
    firsts = {name: min(each, key=lambda row: row.updated_at) for name, each in at.items()}
    return [
        OldestAtProvider(
            name=name,
            jobs=len({row.job_id for row in at[name]}),
            oldest_at=moment(row.updated_at),
            item_id=str(row.id),
        )
        for name, row in sorted(firsts.items(), key=lambda pair: pair[1].updated_at)
    ]


def _of_job(standing: OldestFacts) -> OldestOfJob:
    job, first = standing.job, standing.rows[0]
    return OldestOfJob(
        job_id=str(job.id),
        name=job.name,
        owner=job.owner,
        handler=job.handler,
        state=job.state,
        counts=counts_view(standing.counts),
        oldest_at=moment(first.updated_at),
        item_id=str(first.id),
    )
