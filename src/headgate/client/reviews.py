"""What waits for a person; `items` has the decisions."""

from collections.abc import AsyncIterator

from headgate.client.errors import JobNotFound
from headgate.client.items import Item
from headgate.client.values import Page, params, walk
from headgate.client.wire import Ask, Wire


class Reviews:
    """Items in REVIEW, the longest waiting first."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    async def page(
        self, job_id: str | None = None, *, page_size: int = 100, after: str | None = None
    ) -> Page[Item]:
        """Some of them, across jobs or in one."""
        query = params(jobId=job_id, pageSize=page_size, after=after)
        ask = Ask(path="/api/reviews", params=query, absent=JobNotFound)
        return await self._wire.value(ask, Page[Item])

    def all(self, job_id: str | None = None) -> AsyncIterator[Item]:
        """All of them, page after page."""
        return walk(lambda after: self.page(job_id, page_size=1_000, after=after))
