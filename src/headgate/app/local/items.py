"""Items of a store."""

from headgate.app.handler_presence import item_wait
from headgate.app.service import ItemAccount, ItemWait
from headgate.core.gates.config import GateLimits
from headgate.engine.gate_control import JobGates
from headgate.engine.job_control import DeadLetters, Replay, Replayed
from headgate.engine.limited_by import wait_of
from headgate.engine.why import ending_of
from headgate.ports.items import ReviewDecision
from headgate.ports.reads import ItemDetail, ItemQuery, ItemRow, Page
from headgate.ports.store import Store


class LocalItems:
    """Implements ItemVerbs."""

    def __init__(self, store: Store, limits: GateLimits) -> None:
        self._store = store
        self._limits = limits

    async def page(self, query: ItemQuery) -> Page:
        """Items of a job, or UnknownJob; across jobs dead letters alone."""
        if query.job_id is not None:
            job = await self._store.reads.job(query.job_id)
            if query.handler not in {None, job.handler}:
                return Page([], None)
        return await self._store.reads.items(query)

    async def by_key(self, key: str, job_id: int | None) -> list[ItemRow]:
        """The items that have this key, those of the newest jobs first."""
        return await self._store.rows.by_key(key, job_id)

    async def account(self, item_id: int) -> ItemAccount:
        """One item with everything, or UnknownItem."""
        reads = self._store.reads
        detail = await reads.item(item_id)
        attempts = await reads.attempts(item_id)
        gates = JobGates(self._store, self._limits, detail.row.job_id)
        wait = await wait_of(self._store, gates, detail, attempts)
        wait = item_wait(await reads.job(detail.row.job_id), wait)
        decision = await self._store.rows.decision(item_id)
        return ItemAccount(detail, attempts, wait, decision)

    async def why(self, item_id: int) -> ItemWait:
        """What an item waits for."""
        account = await self.account(item_id)
        row = account.detail.row
        ended, todo = ending_of(row) or ("", "")
        return ItemWait(row.status, account.wait, ended, todo)

    async def decide(self, decision: ReviewDecision) -> ItemDetail:
        """Carry out a person's decision; the item as it is then."""
        await self._store.items.decide(decision)
        await self._store.notifier.ring()
        return await self._store.reads.item(decision.item_id)

    async def replay(self, what: Replay, *, dry_run: bool) -> Replayed:
        """Bring dead letters back, or only count them."""
        return await DeadLetters(self._store).replay(what, dry_run=dry_run)
