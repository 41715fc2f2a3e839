"""Items: lists, single items with their history, why they wait, and decisions on them."""

from collections.abc import AsyncIterator, Collection
from datetime import datetime

import msgspec

from headgate.client.errors import ItemNotFound, JobNotFound
from headgate.client.transport import ApiRequest, Transport, as_json, segment
from headgate.client.values import Params, between, params, walk
from headgate.core.status import ItemStatus
from headgate.schema.items import ItemView, ItemWhole, Why
from headgate.schema.values import Page, WireValue


class ItemFilter(WireValue, frozen=True, kw_only=True, omit_defaults=True):
    """Which items of a job; conditions are joined by AND."""

    statuses: Collection[ItemStatus] = ()
    q: str | None = None
    """Text in the key or the summary."""
    error_class: str | None = None
    signature: str | None = None
    order: str = "input"
    """`input`, or `updated`: longest unchanged first."""
    changed_from: datetime | None = None
    """With `changed_to`, only in the order `updated`."""
    changed_to: datetime | None = None
    waits: bool = False
    """Also return what each item waits for."""

    def params(self, page_size: int, after: str | None) -> Params:
        return between(self.changed_from, self.changed_to) | params(
            statuses=",".join(sorted(self.statuses)) or None,
            q=self.q,
            errorClass=self.error_class,
            signature=self.signature,
            order=self.order,
            waits="true" if self.waits else None,
            pageSize=page_size,
            after=after,
        )


class ItemsClient:
    def __init__(self, wire: Transport) -> None:
        self._wire = wire

    async def page(
        self,
        job_id: str,
        which: ItemFilter | None = None,
        *,
        page_size: int = 100,
        after: str | None = None,
    ) -> Page[ItemView]:
        """A page of a job's items; with `q`, a page may be short and not be the last."""
        path = f"/api/jobs/{segment(job_id)}/items"
        query = (which or ItemFilter()).params(page_size, after)
        return await self._wire.value(
            ApiRequest(path=path, params=query, absent=JobNotFound), Page[ItemView]
        )

    def all(self, job_id: str, which: ItemFilter | None = None) -> AsyncIterator[ItemView]:
        return walk(lambda after: self.page(job_id, which, page_size=1_000, after=after))

    async def by_key(self, key: str, *, job_id: str | None = None) -> Page[ItemView]:
        """The items with this key, of the newest jobs first."""
        ask = ApiRequest(
            path="/api/items", params=params(key=key, jobId=job_id), absent=JobNotFound
        )
        return await self._wire.value(ask, Page[ItemView])

    async def get(self, item_id: str) -> ItemWhole:
        """An item with its input, its attempts and their calls."""
        return await self._wire.value(_ask(item_id), ItemWhole)

    async def why(self, item_id: str) -> Why:
        return await self._wire.value(_ask(item_id, "/why"), Why)

    async def accept(self, item_id: str, candidate_id: str, reason: str = "") -> ItemWhole:
        """Choose a candidate: its result becomes the item's, and the item is DONE."""
        return await self._decide(item_id, "/accept", candidateId=candidate_id, reason=reason)

    async def reject(self, item_id: str, reason: str = "") -> ItemWhole:
        """Choose none of the candidates: the item is NOT_FOUND."""
        return await self._decide(item_id, "/reject", reason=reason)

    async def skip(self, item_id: str, reason: str = "") -> ItemWhole:
        """Skip the item: it becomes SKIPPED."""
        return await self._decide(item_id, "/skip", reason=reason)

    async def _decide(self, item_id: str, verb: str, **decision: str) -> ItemWhole:
        body, headers = as_json(decision)
        ask = _ask(item_id, verb, "POST")
        ask = msgspec.structs.replace(ask, body=body, headers=headers)
        return await self._wire.value(ask, ItemWhole)


def _ask(item_id: str, verb: str = "", method: str = "GET") -> ApiRequest:
    path = f"/api/items/{segment(item_id)}{verb}"
    return ApiRequest(method=method, path=path, absent=ItemNotFound)


class ReviewsClient:
    """Items in REVIEW, the longest waiting first."""

    def __init__(self, wire: Transport) -> None:
        self._wire = wire

    async def page(
        self, job_id: str | None = None, *, page_size: int = 100, after: str | None = None
    ) -> Page[ItemView]:
        """A page, across jobs or of one job."""
        query = params(jobId=job_id, pageSize=page_size, after=after)
        ask = ApiRequest(path="/api/reviews", params=query, absent=JobNotFound)
        return await self._wire.value(ask, Page[ItemView])

    def all(self, job_id: str | None = None) -> AsyncIterator[ItemView]:
        return walk(lambda after: self.page(job_id, page_size=1_000, after=after))
