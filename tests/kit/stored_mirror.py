"""Passes of the extract handler with a real store, engine and wire, in this process."""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any

import msgspec

from headgate.core.status import ItemStatus
from headgate.engine.clock import SystemClock
from headgate.engine.passes import Passes, PassOrder, PassSource
from headgate.handlers.extract import EXTRACT, PassWish, bound_source, plan_pass
from headgate.handlers.registry import resolve
from headgate.ports.mirrors import Checkpoint, RowQuery, StoredRow, StreamField
from headgate.ports.reads import ItemQuery
from headgate.ports.store import Store
from tests.kit.engines import IMPATIENT, run_slice

LIMIT_S = 120


class StoredMirror:
    """The mirror of one source; `source` is a tree, or the name of a shipped source."""

    def __init__(self, store: Store, source: Any, **values: str) -> None:
        self._store = store
        self._source = source
        self._values = values
        self.job_id = 0
        self.slices = 0
        """How often the work was taken up; each time as by a new process."""

    async def extract(self, **wish: Any) -> dict[str, Checkpoint]:
        """Make a pass, and return its checkpoints by stream."""
        bound = bound_source(self._source, self._values)
        config = {"source": self._source, "set": self._values}
        source = PassSource(
            mirror="mirror",
            tree=msgspec.to_builtins(bound.description),
            digest=bound.digest,
            handler=EXTRACT.reference,
            config=config,
            plan=partial(plan_pass, bound.description),
        )
        begun = await Passes(self._store, SystemClock()).begin(source, PassOrder(PassWish(**wish)))
        self.job_id = begun.job.id
        async with asyncio.timeout(LIMIT_S):
            # A slice ends while pages wait at the gates of a rate that is still unknown.
            while not await self._store.jobs.finish_job(self.job_id):
                await run_slice(self._store, self.job_id, resolve, IMPATIENT)
                self.slices += 1
        return {each.name: each for each in await self._store.mirrors.checkpoints(self.job_id)}

    async def errors(self) -> dict[str, str]:
        """The reasons of the pages that failed, by key."""
        query = ItemQuery(self.job_id, statuses=frozenset({ItemStatus.ERROR}))
        page = await self._store.reads.items(query)
        return {item.key: item.last_error or "" for item in page.items}

    async def stored(self, stream: str, *, deleted: bool = False) -> list[StoredRow]:
        query = RowQuery(await self._stream_id(stream), limit=100_000, deleted=deleted)
        return await self._store.mirrors.rows(query)

    async def bodies(self, stream: str) -> dict[str, Mapping[str, Any]]:
        """The live rows by id."""
        return {row.id: msgspec.json.decode(row.body) for row in await self.stored(stream)}

    async def fields(self, stream: str) -> dict[str, StreamField]:
        found = await self._store.mirrors.fields(await self._stream_id(stream))
        return {each.name: each for each in found}

    async def _stream_id(self, name: str) -> int:
        (mirror,) = await self._store.mirrors.mirrors()
        streams = await self._store.mirrors.streams(mirror.id)
        return next(each.id for each in streams if each.name == name)
