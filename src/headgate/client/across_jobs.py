"""Dead letters: what ended in ERROR, across jobs."""

from collections.abc import AsyncIterator, Collection, Sequence
from datetime import datetime
from typing import Any

import msgspec

from headgate.client.items import Item
from headgate.client.transport import ApiRequest, Transport, as_json
from headgate.client.values import Counts, Moment, Page, Params, Wired, between, params, walk
from headgate.core.status import ItemStatus, JobState


class Replay(Wired, frozen=True, kw_only=True, omit_defaults=True):
    """Which dead letters: some by id, those of a job, or all; one of the three."""

    item_ids: Sequence[str] | None = None
    job_id: str | None = None
    everything: bool = msgspec.field(default=False, name="all")
    job_type: str | None = None
    """Of all, only those of jobs of this type."""
    except_ids: Sequence[str] = ()
    """All that match but these."""
    error_class: str | None = None
    reset_attempts: bool = False
    dry_run: bool = False
    """Only count."""


class Replayed(Wired, frozen=True, kw_only=True):
    """How many were (or would be) brought back, and in which jobs."""

    count: int
    job_ids: Sequence[str] = ()


class DeadOfJob(Wired, frozen=True, kw_only=True):
    """A job with dead letters."""

    job_id: str
    name: str
    count: int


class DeadTotals(Wired, frozen=True, kw_only=True):
    """How many there are, and in which jobs, newest first."""

    count: int
    whole: bool = True
    """Every job was counted."""
    jobs: Sequence[DeadOfJob] = ()


class DeadLetters:
    """Verbs over dead letters."""

    def __init__(self, wire: Transport) -> None:
        self._wire = wire

    async def page(
        self,
        *,
        error_class: str | None = None,
        job_type: str | None = None,
        page_size: int = 100,
        after: str | None = None,
    ) -> Page[Item]:
        """Some of them, the longest dead first."""
        query = params(errorClass=error_class, jobType=job_type, pageSize=page_size, after=after)
        return await self._wire.value(
            ApiRequest(path="/api/dead-letters", params=query), Page[Item]
        )

    def all(
        self, *, error_class: str | None = None, job_type: str | None = None
    ) -> AsyncIterator[Item]:
        """All of them, page after page."""
        return walk(
            lambda after: self.page(
                error_class=error_class, job_type=job_type, page_size=1_000, after=after
            )
        )

    async def totals(
        self, *, error_class: str | None = None, job_type: str | None = None
    ) -> DeadTotals:
        """How many each job has."""
        query = params(errorClass=error_class, jobType=job_type)
        return await self._wire.value(
            ApiRequest(path="/api/dead-letters/jobs", params=query), DeadTotals
        )

    async def replay(self, what: Replay) -> Replayed:
        """Bring dead letters back to PENDING."""
        body, headers = as_json(what)
        ask = ApiRequest(method="POST", path="/api/dead-letters/replay", body=body, headers=headers)
        return await self._wire.value(ask, Replayed)


Body = dict[str, Any]


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
        statuses = ",".join(sorted(self.statuses)) or None
        return self._told() | params(statuses=statuses, pageSize=page_size, after=after)

    def body(self, *, except_ids: Collection[str], reset_attempts: bool, dry_run: bool) -> Body:
        """As what a change is asked for with."""
        more = {"exceptIds": [*except_ids], "resetAttempts": reset_attempts, "dryRun": dry_run}
        return {**self._told(), "statuses": sorted(self.statuses), **more}

    def _told(self) -> Params:
        viewer = "all" if self.everybody else "me"
        times = between(self.changed_from, self.changed_to)
        return times | params(userId=viewer, jobType=self.job_type, jobId=self.job_id)


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

    def __init__(self, wire: Transport) -> None:
        self._wire = wire

    async def page(
        self, which: PendingFilter | None = None, *, page_size: int = 100, after: str | None = None
    ) -> Page[Item]:
        """Some of it."""
        query = (which or PendingFilter()).params(page_size, after)
        return await self._wire.value(ApiRequest(path="/api/pending", params=query), Page[Item])

    async def oldest(self, *, everybody: bool = False) -> Oldest:
        """How long the oldest open item has stood, for each job and for each provider."""
        query = params(userId="all" if everybody else "me")
        return await self._wire.value(ApiRequest(path="/api/pending/oldest", params=query), Oldest)

    async def reprocess(
        self,
        which: PendingFilter,
        *,
        except_ids: Collection[str] = (),
        reset_attempts: bool = False,
        dry_run: bool = False,
    ) -> Replayed:
        """Bring finished items of all jobs back to PENDING, or only count them."""
        body, headers = as_json(
            which.body(except_ids=except_ids, reset_attempts=reset_attempts, dry_run=dry_run)
        )
        ask = ApiRequest(method="POST", path="/api/pending/reprocess", body=body, headers=headers)
        return await self._wire.value(ask, Replayed)

    def all(self, which: PendingFilter | None = None) -> AsyncIterator[Item]:
        """All of it, page after page."""
        return walk(lambda after: self.page(which, page_size=1_000, after=after))
