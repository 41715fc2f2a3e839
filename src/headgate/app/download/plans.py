"""Where the files of rows would come from: the services are asked, and no file is fetched."""

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
"""Whoever is to be left alone for longer is told as it is: a look ahead should not take hours."""


class Planned(msgspec.Struct, frozen=True):
    """What is known of one row before anything is fetched."""

    line: int
    id: str
    """Empty if the row names nothing to download."""
    input: str
    plans: tuple[Plan, ...] = ()
    misses: tuple[Miss, ...] = ()
    """Who names no file, and why."""
    problem: str = ""
    """Why the row names nothing to download."""


class Planner:
    """Asks about some rows at a time, and tells of them in input order."""

    def __init__(self, download: Download, http: Http, clock: Clock, width: int) -> None:
        self._download = download
        self._http = http
        self._clock = clock
        self._width = width

    async def run(self, source: Source) -> AsyncIterator[Planned]:
        """Every row; no more of them are held than are asked about at once."""
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
        """Ask everybody; whoever is busy is asked again in a while."""
        for _ in range(MOST_TRIES):
            search = self._download.search(identifier, self._http)
            plans = [plan async for plan in search.plans()]
            waits = [_wait_s(miss) for miss in search.misses if miss.weight is Weight.THROTTLED]
            if not waits or max(waits) > LONGEST_WAIT_S:
                break
            await self._clock.sleep(max(waits))
        return tuple(plans), tuple(search.misses)


def _wait_s(miss: Miss) -> float:
    told = miss.fault.retry_after_s if miss.fault else None
    return 1.0 if told is None else told


def _shown(values: Mapping[str, Any]) -> str:
    return next((str(value) for value in values.values() if value), "")
