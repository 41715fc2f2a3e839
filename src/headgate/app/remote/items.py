"""Items of a server."""

from headgate.app.remote.values import attempt_of, detail_of, row_of, wait_of
from headgate.app.service import ItemAccount, ItemWait
from headgate.client import Client, Item, ItemFilter
from headgate.client import Page as WirePage
from headgate.client import Replay as WireReplay
from headgate.core.status import ItemMove
from headgate.engine.job_control import Replay, Replayed
from headgate.ports.items import ReviewDecision
from headgate.ports.reads import ItemDetail, ItemQuery, ItemRow, Page

LARGEST_PAGE = 1_000


class RemoteItems:
    """Implements ItemVerbs."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def page(self, query: ItemQuery) -> Page:
        """Items of a job, or UnknownJob; across jobs dead letters alone."""
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
        """The items that have this key, those of the newest jobs first."""
        job = None if job_id is None else str(job_id)
        page = await self._client.items.by_key(key, job_id=job)
        return [row_of(item) for item in page.items]

    async def account(self, item_id: int) -> ItemAccount:
        """One item with everything, or UnknownItem."""
        item = await self._client.items.get(str(item_id))
        waiting = (await self._client.items.why(str(item_id))).waiting
        attempts = [attempt_of(attempt) for attempt in item.history]
        return ItemAccount(detail_of(item), attempts, wait_of(waiting), item.decision)

    async def why(self, item_id: int) -> ItemWait:
        """What an item waits for."""
        found = await self._client.items.why(str(item_id))
        return ItemWait(found.status, wait_of(found.waiting), found.ended, found.todo)

    async def decide(self, decision: ReviewDecision) -> ItemDetail:
        """Carry out a person's decision; the item as it is then."""
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
        """Bring dead letters back, or only count them."""
        asked = WireReplay(
            item_ids=None if what.ids is None else [str(each) for each in what.ids],
            job_id=None if what.job_id is None else str(what.job_id),
            everything=what.ids is None and what.job_id is None,
            job_type=what.handler,
            except_ids=[str(each) for each in what.but_ids],
            error_class=what.error_class,
            reset_attempts=what.reset_attempts,
            dry_run=dry_run,
        )
        done = await self._client.dead_letters.replay(asked)
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
