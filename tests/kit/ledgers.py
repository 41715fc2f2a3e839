"""Limit ledgers of every kind, and processes that fight over them."""

import asyncio
import multiprocessing
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

from headgate.ports.limits import LedgerEntry, LimitLedger, Proposal
from headgate.stores.postgres import PostgresStore
from headgate.stores.redis import RedisLimits
from headgate.stores.sqlite import SqliteStore

KINDS = ("sqlite", "postgres", "redis")


class LedgerPlace(NamedTuple):
    """Where a ledger lies, in words that another process understands as well."""

    kind: str
    address: str

    @asynccontextmanager
    async def open(self) -> AsyncIterator[LimitLedger]:
        """Another client of the same ledger, as another process would be."""
        if self.kind == "redis":
            async with RedisLimits(self.address) as ledger:
                yield ledger
        elif self.kind == "postgres":
            async with PostgresStore(self.address) as store:
                yield store.limits
        else:
            async with SqliteStore(self.address) as embedded:
                yield embedded.limits


async def look(ledger: LimitLedger, key: str) -> LedgerEntry:
    """One gate as it is."""
    (entry,) = (await ledger.exchange([], [key])).entries
    return entry


async def increment(ledger: LimitLedger, key: str) -> None:
    """Add one to the number in a gate, as often as it takes."""
    entry = await look(ledger, key)
    while True:
        proposal = Proposal(key, entry.version, str(int(entry.state or 0) + 1))
        exchange = await ledger.exchange([proposal], [key])
        if key in exchange.accepted:
            return
        (entry,) = exchange.entries


async def count_up(place: LedgerPlace, key: str, tasks: int, times: int) -> None:
    """Several tasks of one process add to one gate at the same time."""
    async with place.open() as ledger:

        async def work() -> None:
            for _ in range(times):
                await increment(ledger, key)

        async with asyncio.TaskGroup() as group:
            for _ in range(tasks):
                group.create_task(work())


def count_up_in_process(place: LedgerPlace, key: str, tasks: int, times: int) -> None:
    """What a process of its own runs."""
    asyncio.run(count_up(place, key, tasks, times))


def count_up_in_processes(place: LedgerPlace, key: str, processes: int, times: int) -> None:
    """Several processes, each with two tasks, add to one gate; return when all have ended well."""
    context = multiprocessing.get_context("spawn")
    words = (place, key, 2, times)
    started = [context.Process(target=count_up_in_process, args=words) for _ in range(processes)]
    for process in started:
        process.start()
    for process in started:
        process.join()
    assert [process.exitcode for process in started] == [0] * processes
