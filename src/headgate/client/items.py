"""Items: lists, single items with their history, why they wait, and decisions on them."""

from collections.abc import AsyncIterator, Collection, Sequence
from datetime import datetime
from typing import Any

import msgspec

from headgate.client.errors import ItemNotFound, JobNotFound
from headgate.client.transport import ApiRequest, Transport, as_json, segment
from headgate.client.values import Moment, Page, Params, Wait, Wired, between, params, walk
from headgate.core.status import ItemStatus


class Item(Wired, frozen=True, kw_only=True):
    """An item of a list, without its input."""

    id: str
    job_id: str
    owner: str = ""
    handler: str = ""
    gate: str = ""
    """The gate that the item waits for, if it has one of its own."""
    key: str
    line: int
    status: ItemStatus
    summary: str
    attempts: int
    crashes: int
    updated_at: Moment
    result: Any = None
    error_class: str | None = None
    last_error: str | None = None
    due_at: Moment = None
    locked_by: str | None = None
    waiting: Wait | None = None
    """What an unfinished item waits for; only if `waits` was set."""


class Call(Wired, frozen=True, kw_only=True):
    """A network or cache operation."""

    at: Moment
    verb: str
    kind: str
    provider: str
    host: str
    status: int | None
    bytes: int
    ran_ms: float
    waited_ms: float
    cause: str = ""
    url: str = ""
    """Without secrets; empty if it was not recorded."""


class Attempt(Wired, frozen=True, kw_only=True):
    """An execution."""

    number: int
    epoch: int
    worker: str
    strategy: int
    outcome: str
    error_class: str | None
    reason: str | None
    leased_at: Moment
    ended_at: Moment
    waited_ms: float
    ran_ms: float
    failed_at: str | None = None
    """The line of the handler's code that failed, such as `lookup.py:12`."""
    traceback: str | None = None
    """The last calls of the handler's code, without Headgate's own and without secrets."""
    calls: Sequence[Call] = ()


class ItemWhole(Item, frozen=True, kw_only=True):
    """An item with its input and its history."""

    epoch: int
    strategy: int
    suspect: bool
    input: Any
    normalized: Any = None
    failures: int = 0
    leased_at: Moment = None
    deadline_at: Moment = None
    decision: str | None = None
    """A person's last decision about the item, and the reason."""
    history: Sequence[Attempt] = ()


class Why(Wired, frozen=True, kw_only=True):
    item_id: str
    status: ItemStatus
    waiting: Wait | None = None
    """None: the item is finished."""
    ended: str = ""
    """How the item ended; empty: the item is open."""
    todo: str = ""
    """What a user can do about it."""


class ItemFilter(Wired, frozen=True, kw_only=True, omit_defaults=True):
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


class Items:
    def __init__(self, wire: Transport) -> None:
        self._wire = wire

    async def page(
        self,
        job_id: str,
        which: ItemFilter | None = None,
        *,
        page_size: int = 100,
        after: str | None = None,
    ) -> Page[Item]:
        """A page of a job's items; with `q`, a page may be short and not be the last."""
        path = f"/api/jobs/{segment(job_id)}/items"
        query = (which or ItemFilter()).params(page_size, after)
        return await self._wire.value(
            ApiRequest(path=path, params=query, absent=JobNotFound), Page[Item]
        )

    def all(self, job_id: str, which: ItemFilter | None = None) -> AsyncIterator[Item]:
        return walk(lambda after: self.page(job_id, which, page_size=1_000, after=after))

    async def by_key(self, key: str, *, job_id: str | None = None) -> Page[Item]:
        """The items with this key, of the newest jobs first."""
        ask = ApiRequest(
            path="/api/items", params=params(key=key, jobId=job_id), absent=JobNotFound
        )
        return await self._wire.value(ask, Page[Item])

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


class Reviews:
    """Items in REVIEW, the longest waiting first."""

    def __init__(self, wire: Transport) -> None:
        self._wire = wire

    async def page(
        self, job_id: str | None = None, *, page_size: int = 100, after: str | None = None
    ) -> Page[Item]:
        """A page, across jobs or of one job."""
        query = params(jobId=job_id, pageSize=page_size, after=after)
        ask = ApiRequest(path="/api/reviews", params=query, absent=JobNotFound)
        return await self._wire.value(ask, Page[Item])

    def all(self, job_id: str | None = None) -> AsyncIterator[Item]:
        return walk(lambda after: self.page(job_id, page_size=1_000, after=after))
