"""Plan downloads without fetching files: only the resolvers' services are asked."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Mapping
from typing import Any

import msgspec

from headgate.handlers.download.attempts import Miss, Weight
from headgate.handlers.download.handler import Download
from headgate.handlers.download.identifier import BadIdentifier, Identifier, identifier_of
from headgate.handlers.download.plan import Plan
from headgate.ports.clock import Clock
from headgate.ports.http import Http
from headgate.ports.source import RowBatch, Source

BATCH_ROWS = 500
BATCH_BYTES = 1024 * 1024
MOST_TRIES = 5
LONGEST_WAIT_S = 15.0
"""Longest wait in seconds for a throttled service; a longer one is reported instead."""


class Planned(msgspec.Struct, frozen=True):
    line: int
    id: str
    """Key of the item; empty if the row has no valid identifier."""
    input: str
    plans: tuple[Plan, ...] = ()
    misses: tuple[Miss, ...] = ()
    """Resolvers without a file, each with the reason."""
    problem: str = ""
    """Reason why the row has no valid identifier."""


class Planner:
    """Plans some rows at a time and yields them in input order."""

    def __init__(self, download: Download, http: Http, clock: Clock, width: int) -> None:
        self._download = download
        self._http = http
        self._clock = clock
        self._width = width

    async def run(self, source: Source) -> AsyncIterator[Planned]:
        under_way: deque[asyncio.Task[Planned]] = deque()
        reader = await asyncio.to_thread(source.open)
        try:
            while (batch := await asyncio.to_thread(reader.take, BATCH_ROWS, BATCH_BYTES)).values:
                for index in range(len(batch.values)):
                    if len(under_way) == self._width:
                        yield await under_way.popleft()
                    under_way.append(asyncio.create_task(self._row(batch, index)))
            while under_way:
                yield await under_way.popleft()
        finally:
            for task in under_way:
                task.cancel()
            reader.close()

    async def _row(self, batch: RowBatch, index: int) -> Planned:
        line, values = batch.lines[index], batch.values[index]
        try:
            identifier = identifier_of(values)
        except BadIdentifier as error:
            return Planned(line, "", _shown(values), problem=batch.problems.get(index, str(error)))
        plans, misses = await self._search(identifier)
        return Planned(line, identifier.key, identifier.given, plans, misses)

    async def _search(self, identifier: Identifier) -> tuple[tuple[Plan, ...], tuple[Miss, ...]]:
        """Ask all resolvers; ask again after a short throttling."""
        for _ in range(MOST_TRIES):
            search = self._download.search(identifier, self._http)
            plans = [plan async for plan in search.plans()]
            waits = [_wait_s(miss) for miss in search.misses if miss.weight is Weight.THROTTLED]
            if not waits or max(waits) > LONGEST_WAIT_S:
                break
            await self._clock.sleep(max(waits))
        return tuple(plans), tuple(search.misses)


def _wait_s(miss: Miss) -> float:
    retry_after_s = miss.fault.retry_after_s if miss.fault else None
    return 1.0 if retry_after_s is None else retry_after_s


def _shown(values: Mapping[str, Any]) -> str:
    return next((str(value) for value in values.values() if value), "")
