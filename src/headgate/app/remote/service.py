"""The service interface over HTTP, for the commands."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from headgate.app.remote.gates import RemoteGates
from headgate.app.remote.transfers import RemoteExports, RemoteQueues
from headgate.app.remote.values import (
    attempt_of,
    detail_of,
    event_of,
    group_of,
    job_of,
    row_of,
    wait_of,
    with_counts_of,
    worker_of,
)
from headgate.app.service import SHOWN_EVENTS, ItemHistoryView, ItemWait, JobDetails, JobWithCounts
from headgate.client import Client, Filter, Item, ItemFilter, Reprocess
from headgate.client import Page as WirePage
from headgate.client import Replay as WireReplay
from headgate.core.job import Job
from headgate.core.status import ItemMove
from headgate.core.worker import WorkerRow
from headgate.engine.job_control import Replay, Replayed
from headgate.ports.items import RequeueRequest, ReviewDecision
from headgate.ports.reads import ItemDetail, ItemQuery, ItemRow, Page

LARGEST_PAGE = 1_000


class RemoteItems:
    """Implements ItemVerbs."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def page(self, query: ItemQuery) -> Page:
        rows: list[ItemRow] = []
        after = query.after
        while True:
            size = min(query.limit - len(rows), LARGEST_PAGE)
            page = await self._part(query, size, after)
            rows += [row_of(item) for item in page.items]
            after = page.next
            if after is None or len(rows) >= query.limit or not page.items:
                return Page(rows, after)

    async def by_key(self, key: str, job_id: int | None) -> list[ItemRow]:
        job = None if job_id is None else str(job_id)
        page = await self._client.items.by_key(key, job_id=job)
        return [row_of(item) for item in page.items]

    async def account(self, item_id: int) -> ItemHistoryView:
        item = await self._client.items.get(str(item_id))
        waiting = (await self._client.items.why(str(item_id))).waiting
        attempts = [attempt_of(attempt) for attempt in item.history]
        return ItemHistoryView(detail_of(item), attempts, wait_of(waiting), item.decision)

    async def why(self, item_id: int) -> ItemWait:
        found = await self._client.items.why(str(item_id))
        return ItemWait(found.status, wait_of(found.waiting), found.ended, found.todo)

    async def decide(self, decision: ReviewDecision) -> ItemDetail:
        items, name, reason = self._client.items, str(decision.item_id), decision.reason
        match decision.move:
            case ItemMove.ACCEPT:
                item = await items.accept(name, decision.candidate or "", reason)
            case ItemMove.REJECT:
                item = await items.reject(name, reason)
            case _:
                item = await items.skip(name, reason)
        return detail_of(item)

    async def replay(self, what: Replay, *, dry_run: bool) -> Replayed:
        request = WireReplay(
            item_ids=None if what.ids is None else [str(each) for each in what.ids],
            job_id=None if what.job_id is None else str(what.job_id),
            everything=what.ids is None and what.job_id is None,
            job_type=what.handler,
            except_ids=[str(each) for each in what.but_ids],
            error_class=what.error_class,
            reset_attempts=what.reset_attempts,
            dry_run=dry_run,
        )
        done = await self._client.dead_letters.replay(request)
        return Replayed(done.count, [int(job_id) for job_id in done.job_ids])

    async def _part(self, query: ItemQuery, size: int, after: str | None) -> WirePage[Item]:
        if query.job_id is None:
            return await self._client.dead_letters.page(
                error_class=query.error_class,
                job_type=query.handler,
                page_size=size,
                after=after,
            )
        job_id = str(query.job_id)
        if query.handler is not None:
            job = await self._client.jobs.get(job_id)
            if job.handler != query.handler:
                return WirePage([])
        which = ItemFilter(
            statuses=query.statuses,
            q=query.text,
            error_class=query.error_class,
            signature=query.signature,
            order=query.order,
        )
        return await self._client.items.page(job_id, which, page_size=size, after=after)


class RemoteJobs:
    """Implements JobVerbs."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def ls(self, after: int, limit: int) -> list[JobWithCounts]:
        found: list[JobWithCounts] = []
        # A job's number cannot be turned into a cursor of the server: newer jobs are skipped.
        page_size = LARGEST_PAGE if after else min(limit, LARGEST_PAGE)
        async for job in self._client.jobs.all(page_size=page_size):
            if after and int(job.id) >= after:
                continue
            found.append(with_counts_of(job))
            if len(found) == limit:
                break
        return found

    async def get(self, job_id: int) -> JobWithCounts:
        return with_counts_of(await self._client.jobs.get(str(job_id)))

    async def account(self, job_id: int) -> JobDetails:
        name = str(job_id)
        job = await self._client.jobs.get(name)
        events = (await self._client.events.page(name, page_size=SHOWN_EVENTS)).items
        failures = await self._client.jobs.errors(name)
        found = with_counts_of(job)
        return JobDetails(
            job=found.job,
            counts=found.counts,
            limit=wait_of(job.limited_by),
            at_work=True,
            failures=[group_of(group) for group in failures],
            events=[event_of(event) for event in reversed(events)],
        )

    async def pause(self, job_id: int) -> Job:
        return job_of(await self._client.jobs.pause(str(job_id)))

    async def resume(self, job_id: int) -> Job:
        return job_of(await self._client.jobs.resume(str(job_id)))

    async def cancel(self, job_id: int) -> Job:
        return job_of(await self._client.jobs.cancel(str(job_id)))

    async def set_priority(self, job_id: int, priority: int) -> Job:
        return job_of(await self._client.jobs.set_priority(str(job_id), priority))

    async def remove(self, job_id: int) -> None:
        await self._client.jobs.delete(str(job_id))

    async def reprocess(self, request: RequeueRequest, *, dry_run: bool) -> int:
        what = Reprocess(
            statuses=sorted(request.statuses),
            error_class=request.error_class,
            filter=Filter(q=request.text, signature=request.signature),
            item_ids=None if request.ids is None else [str(each) for each in request.ids],
            reset_attempts=request.reset_attempts,
            dry_run=dry_run,
        )
        return await self._client.jobs.reprocess(str(request.job_id), what)


class RemoteService:
    """Implements Service."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.jobs = RemoteJobs(client)
        self.items = RemoteItems(client)
        self.queues = RemoteQueues(client)
        self.gates = RemoteGates(client)
        self.exports = RemoteExports(client)

    async def is_at_work(self, job_ids: Sequence[int]) -> bool:  # noqa: ARG002
        """Always True: a server has its own workers."""
        return True

    async def workers(self, *, everybody: bool) -> list[WorkerRow]:
        return [worker_of(each) for each in await self._client.workers.ls(everybody=everybody)]


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[RemoteService]:
    """The service at a URL; its token is read from the environment."""
    async with Client(url) as client:
        yield RemoteService(client)
