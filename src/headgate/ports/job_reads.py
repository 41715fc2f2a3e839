"""Queries for selected rows of a job: by key, by place, by failure; and for whole jobs in pages."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from headgate.core.job import Counts
from headgate.core.status import ItemStatus
from headgate.core.waiting import Situation
from headgate.ports.jobs import WorkDemand
from headgate.ports.reads import AttemptRow, ExportRow, ItemRow


class FailingRow(msgspec.Struct, frozen=True):
    """A row whose last attempt failed: it waits for another try, or has ended as ERROR."""

    id: int
    status: ItemStatus
    error_class: str
    reason: str
    trace: str | None
    """Where in the user's code it failed: `core.trace.Trace` as JSON."""


class RowReads(Protocol):
    """Each answer is bounded, and read through an index."""

    async def by_key(
        self, key: str, job_id: int | None = None, owner: str | None = None
    ) -> list[ItemRow]:
        """The items with this key, items of the newest jobs first; at most 100."""
        ...

    async def decision(self, item_id: int) -> str | None:
        """The last decision of a user about an item, in words; None: there is none."""
        ...

    async def newest_change(self, job_id: int) -> int:
        """When the last of the job's pending or failed rows was changed, on the store's clock."""
        ...

    async def failing(self, job_id: int, since_at: int, limit: int = 1_000) -> list[FailingRow]:
        """Rows that failed after `since_at`: up to `limit` that wait, and as many in ERROR.

        Rows that were refused or put off are not included.
        """
        ...

    async def first(self, job_id: int, count: int) -> list[int]:
        """In input order."""
        ...

    async def at_places(self, job_id: int, places: Sequence[int]) -> list[int]:
        """The ids of the rows at these places in input order; the first place is 1."""
        ...

    async def counts_of(self, job_id: int, ids: Sequence[int]) -> Counts: ...

    async def demand_for(self, job_id: int, ids: Sequence[int]) -> WorkDemand: ...


class SituationStore(Protocol):
    """Queries that cost the same for a million rows as for ten."""

    async def of(self, job_id: int) -> Situation: ...

    async def handler_s(self, job_id: int) -> float | None:
        """Mean seconds in the handler of the last rows of a job; None: no row was done."""
        ...


class ItemHistory(msgspec.Struct, frozen=True):
    """A row as it is now, and every attempt at it, oldest first."""

    row: ExportRow
    attempts: Sequence[AttemptRow] = ()


class HistoryStore(Protocol):
    """Whole jobs, a page at a time.

    While a job is being worked on, an attempt may have ended just after its row was read.
    """

    async def page(self, job_id: int, after_id: int, limit: int) -> list[ItemHistory]:
        """The next items in input order; an empty list is the end."""
        ...

    async def by_key(self, job_id: int, keys: Sequence[str]) -> list[ExportRow]:
        """The rows of a job with one of these keys, in any order."""
        ...
