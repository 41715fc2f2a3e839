"""What waits or runs, across jobs."""

from collections.abc import AsyncIterator, Collection, Sequence
from datetime import datetime

from headgate.client.items import Item
from headgate.client.values import Counts, Moment, Page, Params, Wired, params, walk
from headgate.client.wire import Ask, Wire
from headgate.core.status import ItemStatus, JobState


class PendingFilter(Wired, frozen=True, kw_only=True):
    """Which of it; conditions are joined by AND."""

    statuses: Collection[ItemStatus] = ()
    everybody: bool = False
    """Also what belongs to others; for admins."""
    job_type: str | None = None
    job_id: str | None = None
    changed_from: datetime | None = None
    changed_to: datetime | None = None

    def params(self, page_size: int, after: str | None) -> Params:
        """As parameters of a query."""
        bounds = {"from": self.changed_from, "to": self.changed_to}
        times = {name: at.isoformat() for name, at in bounds.items() if at is not None}
        return times | params(
            statuses=",".join(sorted(self.statuses)) or None,
            userId="all" if self.everybody else "me",
            jobType=self.job_type,
            jobId=self.job_id,
            pageSize=page_size,
            after=after,
        )


class OldestOfJob(Wired, frozen=True, kw_only=True):
    """A job with open items, and the one of them that is unchanged for longest."""

    job_id: str
    name: str
    owner: str
    handler: str
    state: JobState
    counts: Counts
    oldest_at: Moment
    item_id: str


class OldestAtProvider(Wired, frozen=True, kw_only=True):
    """A provider that open items wait for, and the one that is unchanged for longest."""

    name: str
    jobs: int
    """In so many jobs."""
    oldest_at: Moment
    item_id: str


class Oldest(Wired, frozen=True, kw_only=True):
    """Both with the longest wait first."""

    jobs: Sequence[OldestOfJob] = ()
    providers: Sequence[OldestAtProvider] = ()


class Pending:
    """The view across jobs, longest unchanged first; what changes meanwhile may come twice."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    async def page(
        self, which: PendingFilter | None = None, *, page_size: int = 100, after: str | None = None
    ) -> Page[Item]:
        """Some of it."""
        query = (which or PendingFilter()).params(page_size, after)
        return await self._wire.value(Ask(path="/api/pending", params=query), Page[Item])

    async def oldest(self, *, everybody: bool = False) -> Oldest:
        """How long the oldest open item has stood, for each job and for each provider."""
        query = params(userId="all" if everybody else "me")
        return await self._wire.value(Ask(path="/api/pending/oldest", params=query), Oldest)

    def all(self, which: PendingFilter | None = None) -> AsyncIterator[Item]:
        """All of it, page after page."""
        return walk(lambda after: self.page(which, page_size=1_000, after=after))
