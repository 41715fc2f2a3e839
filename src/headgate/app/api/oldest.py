"""How long the oldest waits, for each job and for each provider."""

from collections.abc import Iterable, Mapping

import msgspec
from fastapi import APIRouter

from headgate.app.api.bodies import BoundedRoute
from headgate.app.api.identity import Someone
from headgate.app.api.job_view import CountsView, counts_view
from headgate.app.api.office import AtOffice, Office
from headgate.app.api.pending import Whose, demand_switched_on, owner_meant
from headgate.app.api.problems import documented
from headgate.app.api.wire import Identifier, Moment, Wire, moment
from headgate.core.gates.keys import name_of, provider_in
from headgate.core.job import Counts, Job
from headgate.core.paging import SortOrder
from headgate.core.status import OPEN, JobState
from headgate.ports.reads import ItemQuery, ItemRow, JobQuery

router = APIRouter(prefix="/api/pending", tags=["items"], route_class=BoundedRoute)

JOBS = 200
"""Jobs that are looked at, the newest."""
ITEMS = 100
"""Items of each that are looked at, the longest unchanged."""
UNDONE = frozenset(JobState) - {JobState.DONE}


class OldestOfJob(Wire):
    """A job with open items, and the one of them that is unchanged for longest."""

    job_id: Identifier
    name: str
    owner: str
    handler: str
    state: str
    counts: CountsView
    oldest_at: Moment
    item_id: Identifier


class OldestAtProvider(Wire):
    """A provider that open items wait for, and the one that is unchanged for longest."""

    name: str
    jobs: int
    """In so many jobs."""
    oldest_at: Moment
    item_id: Identifier


class Oldest(Wire):
    """Both with the longest wait first."""

    jobs: list[OldestOfJob]
    providers: list[OldestAtProvider]


class Standing(msgspec.Struct, frozen=True):
    """An open job with the first of its items, the longest unchanged in front."""

    job: Job
    counts: Counts
    rows: list[ItemRow]


@router.get("/oldest", responses=documented())
async def oldest(who: Someone, office: AtOffice, user_id: Whose = "me") -> Oldest:
    """Tell how long the oldest open item has stood, for each job and for each provider.

    Looks at the newest jobs, and at those of their items that are unchanged for longest.
    """
    demand_switched_on(office)
    standing = await _standing(office, owner_meant(who, user_id))
    standing.sort(key=lambda each: each.rows[0].updated_at)
    usual = {each.job.id: await _usual_provider(office, each.job) for each in standing}
    return Oldest(
        jobs=[_of_job(each) for each in standing],
        providers=oldest_at_providers([row for each in standing for row in each.rows], usual),
    )


async def _standing(office: Office, owner: str | None) -> list[Standing]:
    reads = office.store.reads
    found = []
    for job in await reads.jobs(JobQuery(owner=owner, states=UNDONE, limit=JOBS, configs=False)):
        counts = await reads.counts(job.id)
        if not counts.open:
            continue
        query = ItemQuery(job.id, OPEN, order=SortOrder.UPDATED, limit=ITEMS, tail=True)
        rows = list((await reads.items(query)).items)
        if rows:
            found.append(Standing(job, counts, rows))
    return found


async def _usual_provider(office: Office, job: Job) -> str:
    """Whom the items of a job wait for that have no gate of their own."""
    for info in office.handlers:
        if info.name == job.handler and info.provider:
            return info.provider
    wait = (await office.gauges.limit_of(job)).wait
    return (provider_in(wait.gate) or name_of(wait.gate)) if wait else ""


def oldest_at_providers(
    rows: Iterable[ItemRow], usual: Mapping[int, str]
) -> list[OldestAtProvider]:
    """The oldest row at each provider; `usual` is that of each job."""
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


def _of_job(standing: Standing) -> OldestOfJob:
    job, first = standing.job, standing.rows[0]
    return OldestOfJob(
        job_id=str(job.id),
        name=job.name,
        owner=job.owner,
        handler=job.handler,
        state=str(job.state),
        counts=counts_view(standing.counts),
        oldest_at=moment(first.updated_at),
        item_id=str(first.id),
    )
