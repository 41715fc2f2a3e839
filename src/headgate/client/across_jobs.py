"""Views across jobs: dead letters (items in ERROR) and pending items."""

from collections.abc import AsyncIterator, Collection, Sequence
from datetime import datetime
from typing import Any

import msgspec

from headgate.client.transport import ApiRequest, Transport, as_json
from headgate.client.values import Params, between, params, walk
from headgate.core.status import ItemStatus
from headgate.schema.items import DeadTotals, ItemView, Oldest, Replayed
from headgate.schema.values import Page, WireValue


class Replay(WireValue, frozen=True, kw_only=True, omit_defaults=True):
    """Which dead letters: by id, of one job, or all; give one of the three."""

    item_ids: Sequence[str] | None = None
    job_id: str | None = None
    everything: bool = msgspec.field(default=False, name="all")
    job_type: str | None = None
    """With `all`: only items of jobs of this type."""
    except_ids: Sequence[str] = ()
    """Items to leave out."""
    error_class: str | None = None
    reset_attempts: bool = False
    dry_run: bool = False
    """Only count."""


class DeadLettersClient:
    def __init__(self, wire: Transport) -> None:
        self._wire = wire

    async def page(
        self,
        *,
        error_class: str | None = None,
        job_type: str | None = None,
        page_size: int = 100,
        after: str | None = None,
    ) -> Page[ItemView]:
        """A page, the longest dead first."""
        query = params(errorClass=error_class, jobType=job_type, pageSize=page_size, after=after)
        return await self._wire.value(
            ApiRequest(path="/api/dead-letters", params=query), Page[ItemView]
        )

    def all(
        self, *, error_class: str | None = None, job_type: str | None = None
    ) -> AsyncIterator[ItemView]:
        return walk(
            lambda after: self.page(
                error_class=error_class, job_type=job_type, page_size=1_000, after=after
            )
        )

    async def totals(
        self, *, error_class: str | None = None, job_type: str | None = None
    ) -> DeadTotals:
        query = params(errorClass=error_class, jobType=job_type)
        return await self._wire.value(
            ApiRequest(path="/api/dead-letters/jobs", params=query), DeadTotals
        )

    async def replay(self, what: Replay) -> Replayed:
        """Requeue dead letters as PENDING."""
        body, headers = as_json(what)
        ask = ApiRequest(method="POST", path="/api/dead-letters/replay", body=body, headers=headers)
        return await self._wire.value(ask, Replayed)


Body = dict[str, Any]


class PendingFilter(WireValue, frozen=True, kw_only=True):
    """Which items; conditions are joined by AND."""

    statuses: Collection[ItemStatus] = ()
    everybody: bool = False
    """Include the items of other users; for admins."""
    job_type: str | None = None
    job_id: str | None = None
    changed_from: datetime | None = None
    changed_to: datetime | None = None

    def params(self, page_size: int, after: str | None) -> Params:
        statuses = ",".join(sorted(self.statuses)) or None
        return self._conditions() | params(statuses=statuses, pageSize=page_size, after=after)

    def body(self, *, except_ids: Collection[str], reset_attempts: bool, dry_run: bool) -> Body:
        more = {"exceptIds": [*except_ids], "resetAttempts": reset_attempts, "dryRun": dry_run}
        return {**self._conditions(), "statuses": sorted(self.statuses), **more}

    def _conditions(self) -> Params:
        viewer = "all" if self.everybody else "me"
        times = between(self.changed_from, self.changed_to)
        return times | params(userId=viewer, jobType=self.job_type, jobId=self.job_id)


class PendingClient:
    """Items across jobs, longest unchanged first; an item that changes meanwhile may come twice."""

    def __init__(self, wire: Transport) -> None:
        self._wire = wire

    async def page(
        self, which: PendingFilter | None = None, *, page_size: int = 100, after: str | None = None
    ) -> Page[ItemView]:
        query = (which or PendingFilter()).params(page_size, after)
        return await self._wire.value(ApiRequest(path="/api/pending", params=query), Page[ItemView])

    async def oldest(self, *, everybody: bool = False) -> Oldest:
        """The oldest open item of each job and of each provider."""
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
        """Requeue finished items of all jobs as PENDING, or only count them."""
        body, headers = as_json(
            which.body(except_ids=except_ids, reset_attempts=reset_attempts, dry_run=dry_run)
        )
        ask = ApiRequest(method="POST", path="/api/pending/reprocess", body=body, headers=headers)
        return await self._wire.value(ask, Replayed)

    def all(self, which: PendingFilter | None = None) -> AsyncIterator[ItemView]:
        return walk(lambda after: self.page(which, page_size=1_000, after=after))
