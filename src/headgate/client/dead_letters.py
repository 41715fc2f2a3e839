"""Dead letters: what ended in ERROR, across jobs."""

from collections.abc import AsyncIterator, Sequence

import msgspec

from headgate.client.items import Item
from headgate.client.values import Page, Wired, params, walk
from headgate.client.wire import Ask, Wire, as_json


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

    def __init__(self, wire: Wire) -> None:
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
        return await self._wire.value(Ask(path="/api/dead-letters", params=query), Page[Item])

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
        return await self._wire.value(Ask(path="/api/dead-letters/jobs", params=query), DeadTotals)

    async def replay(self, what: Replay) -> Replayed:
        """Bring dead letters back to PENDING."""
        body, headers = as_json(what)
        ask = Ask(method="POST", path="/api/dead-letters/replay", body=body, headers=headers)
        return await self._wire.value(ask, Replayed)
