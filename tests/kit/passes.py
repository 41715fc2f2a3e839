"""A pass in memory: settles pages in any order, adds what follows, closes what is quiet."""

import asyncio
import random
from collections.abc import AsyncIterator, Mapping
from typing import Any

import msgspec
import structlog

from headgate.core.fault import AttemptOver
from headgate.core.item import Item
from headgate.core.mirror import Closing, FollowUp, MirrorRow
from headgate.core.outcome import Done, NotFound
from headgate.handlers.extract import PassWish, StreamState, bound_source, plan_pass
from headgate.handlers.extract.handler import Extraction
from headgate.ports.handler import Context, JobView
from headgate.ports.mirrors import NewCheckpoint

MOST_ITEMS = 20_000


class MemoryPass:
    """What a store and its workers do with one pass, for a handler alone."""

    def __init__(self, source: object, http: Any, **options: Any) -> None:
        self._rng = random.Random(options.pop("seed", 0))
        self._known: dict[str, Mapping[str, str]] = options.pop("known", {})
        self.source = bound_source(source, options.pop("values", {}), options.pop("env", {}))
        states: Mapping[str, StreamState] = options.pop("states", {})
        plan = plan_pass(self.source.description, states, PassWish(**options))
        self._call = Extraction(self.source)
        self._http = http
        self.checkpoints: dict[str, NewCheckpoint] = {each.name: each for each in plan.checkpoints}
        self.waiting: dict[str, FollowUp] = {}
        self.keys: list[str] = []
        self.results: dict[str, list[Mapping[str, Any]]] = {name: [] for name in self.checkpoints}
        self.errors: dict[str, str] = {}
        self.missing: dict[str, str] = {}
        self.rows: dict[tuple[str, str], MirrorRow] = {}
        self.closings: dict[str, Closing] = {}
        self.totals: dict[str, int] = {}
        self.rounds = 0
        for item in plan.items:
            self._add(FollowUp(item.key, msgspec.json.decode(item.input), item.checkpoint))

    def run(self) -> "MemoryPass":
        asyncio.run(self.settle_all())
        return self

    def ids(self, stream: str) -> set[str]:
        return {row for name, row in self.rows if name == stream}

    def body(self, stream: str, row: str) -> Any:
        body = self.rows[stream, row].body
        return msgspec.json.decode(body) if isinstance(body, msgspec.Raw) else body

    def proof(self, stream: str) -> str:
        return str(self.closings[stream].proof)

    async def settle_all(self) -> None:
        """Settle every item, in an order of chance, and close what is quiet."""
        while True:
            while self.waiting:
                key = self._rng.choice(list(self.waiting))
                await self._settle(self.waiting.pop(key))
            quiet = [each for each in self.checkpoints.values() if self._is_quiet(each)]
            if not quiet:
                return
            for checkpoint in quiet:
                self.rounds += 1
                key = f"{checkpoint.name}/closing/{self.rounds}"
                await self._settle(FollowUp(key, checkpoint.closing))

    def _is_quiet(self, checkpoint: NewCheckpoint) -> bool:
        failed = any(key.split("/")[0] == checkpoint.name for key in self.errors)
        parent = checkpoint.after
        return (
            checkpoint.name not in self.closings
            and not failed
            and (not parent or parent in self.closings)
        )

    async def _settle(self, work: FollowUp) -> None:
        context = Context(
            job=JobView(id=1, name="pass", owner="local", config={}),
            attempt=1,
            strategy=None,
            log=structlog.get_logger("tests"),
            _http=self._http,
            _pages=self._pages,
        )
        stored = msgspec.json.decode(msgspec.json.encode(work.input))
        try:
            outcome = await self._call(Item(1, work.key, stored), context)
        except AttemptOver as over:
            outcome_or_fault = over.ending
            if isinstance(outcome_or_fault, NotFound):
                self.missing[work.key] = outcome_or_fault.reason
            else:
                self.errors[work.key] = str(over)
            return
        if isinstance(outcome, NotFound):
            self.missing[work.key] = outcome.reason
            return
        assert isinstance(outcome, Done)
        self._keep(work, outcome)

    def _keep(self, work: FollowUp, outcome: Done) -> None:
        for row in outcome.rows:
            self._keep_row(row)
        for item in outcome.items:
            self._add(item)
        if outcome.total is not None:
            self.totals[work.checkpoint] = outcome.total
        if outcome.closing is not None:
            self.closings[outcome.closing.checkpoint] = outcome.closing
        if work.checkpoint:
            text = msgspec.json.encode(outcome.result)
            self.results[work.checkpoint].append(msgspec.json.decode(text))

    def _keep_row(self, row: MirrorRow) -> None:
        place = (row.stream, row.id)
        before = self.rows[place].hash if place in self.rows else None
        if before is None:
            before = self._known.get(row.stream, {}).get(row.id)
        if row.then is not None and before != row.hash:
            self._add(row.then)
        if row.body is not None:
            self.rows[place] = row

    def _add(self, item: FollowUp) -> None:
        if item.key in self.keys:
            return
        assert len(self.keys) < MOST_ITEMS, "a pass without an end"
        self.keys.append(item.key)
        self.waiting[item.key] = item

    async def _pages(self, checkpoint: str) -> AsyncIterator[Mapping[str, Any]]:
        for result in list(self.results[checkpoint]):
            yield result


def source_of(resource: Mapping[str, Any], **client: Any) -> dict[str, Any]:
    """A source with one stream, `things`, on a host of its own."""
    return {
        "client": {"base_url": "https://api.example", **client},
        "resources": [{"name": "things", **resource}],
    }
