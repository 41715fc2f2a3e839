"""Items of a store."""

from headgate.app.service import ItemAccount, ItemWait
from headgate.core.configured import Configured
from headgate.engine.dead_letters import DeadLetters, Replay, Replayed
from headgate.engine.job_gates import JobGates
from headgate.engine.limiting import wait_of
from headgate.ports.clock import Clock
from headgate.ports.items import Decision
from headgate.ports.reads import ItemDetail, ItemQuery, Page
from headgate.ports.store import Store


class LocalItems:
    """Implements ItemVerbs."""

    def __init__(self, store: Store, limits: Configured, clock: Clock) -> None:
        self._store = store
        self._limits = limits
        self._clock = clock

    async def page(self, query: ItemQuery) -> Page:
        """Items of a job, or UnknownJob; across jobs dead letters alone."""
        if query.job_id is not None:
            job = await self._store.reads.job(query.job_id)
            if query.handler not in {None, job.handler}:
                return Page([], None)
        return await self._store.reads.items(query)

    async def account(self, item_id: int) -> ItemAccount:
        """One item with everything, or UnknownItem."""
        reads = self._store.reads
        detail = await reads.item(item_id)
        attempts = await reads.attempts(item_id)
        gates = JobGates(self._store, self._limits, detail.row.job_id)
        wait = await wait_of(self._store, gates, detail, attempts, self._clock.now())
        return ItemAccount(detail, attempts, wait)

    async def why(self, item_id: int) -> ItemWait:
        """What an item waits for."""
        account = await self.account(item_id)
        return ItemWait(account.detail.row.status, account.wait)

    async def decide(self, decision: Decision) -> ItemDetail:
        """Carry out a person's decision; the item as it is then."""
        await self._store.items.decide(decision)
        await self._store.notifier.ring()
        return await self._store.reads.item(decision.item_id)

    async def replay(self, what: Replay, *, dry_run: bool) -> Replayed:
        """Bring dead letters back, or only count them."""
        return await DeadLetters(self._store).replay(what, dry_run=dry_run)
