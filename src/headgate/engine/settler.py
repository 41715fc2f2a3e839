"""Group commit: results that end within a few milliseconds share a transaction."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, Protocol

from headgate.core.errors import HeadgateError
from headgate.core.mirror import Attachment
from headgate.core.settlement import Settlement
from headgate.core.sizing import ClaimSizer
from headgate.core.status import ItemStatus
from headgate.engine.board import FlightBoard
from headgate.engine.field_reports import FieldReports
from headgate.engine.policy import WorkerPolicy
from headgate.ports.clock import Clock
from headgate.ports.items import ResultColumns, SettleReport, SettleRequest

MICROSECONDS = 1_000_000
MAX_COLUMNS = 1_000
"""Result names beyond this number are stored in the results but get no column."""
MAX_NAME = 500
"""Characters. Longer names, and names that no store can hold, get no column either."""


class SettleSink(Protocol):
    async def settle_many(self, request: SettleRequest) -> SettleReport:
        """End leases where the epoch still matches."""
        ...


async def _tell_none() -> None: ...


class Settler:
    """Collects settlements and commits them; a result counts once its commit returned."""

    BACKLOG = 4
    """Full commits that may wait before lanes have to wait."""

    def __init__(
        self,
        sink: SettleSink,
        worker: str,
        policy: WorkerPolicy,
        clock: Clock,
        board: FlightBoard,
        sizer: ClaimSizer,
    ) -> None:
        self._sink = sink
        self._worker = worker
        self._policy = policy
        self._clock = clock
        self._board = board
        self._sizer = sizer
        self._pending: list[Settlement] = []
        self._under_way: list[Settlement] = []
        self._attachments: list[Attachment] = []
        self._bytes = 0
        self._fields = FieldReports()
        self._columns: dict[int, dict[str, None]] = {}
        self._new_columns: dict[int, list[str]] = {}
        self._added = asyncio.Event()
        self._full = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._idle = asyncio.Event()
        self._idle.set()
        self.refused = 0
        self.spawned = 0
        self.on_spawned: Callable[[], Awaitable[None]] = _tell_none
        """Called after a commit that added items: the dispatcher need not wait for its poll."""

    @property
    def uncommitted(self) -> list[Settlement]:
        """Settlements that were added and are not known to be committed."""
        return [*self._under_way, *self._pending]

    @property
    def crowded(self) -> bool:
        """True if lanes should wait for commits before they go on."""
        return (
            len(self._pending) >= self.BACKLOG * self._policy.flush_items
            or self._bytes >= self.BACKLOG * self._policy.flush_bytes
        )

    def add(
        self,
        settlement: Settlement,
        result: Mapping[str, Any] | None = None,
        attachment: Attachment | None = None,
    ) -> None:
        """Add one settlement; `result` shows which columns it uses."""
        failed = settlement.error_class is not None
        again = settlement.attempts > 1 and not settlement.is_put_off
        self._sizer.ended(settlement.ran_us / MICROSECONDS, failed=failed, again=again)
        if result:
            self._notice_columns(settlement.job_id, result)
        pending = self._pending
        pending.append(settlement)
        if attachment is not None:
            self._attachments.append(attachment)
            self._bytes += attachment.size
        if len(pending) == 1:
            self._idle.clear()
            self._added.set()
        if len(pending) >= self._policy.flush_items or self._bytes >= self._policy.flush_bytes:
            self._full.set()
            if self.crowded:
                self._room.clear()

    async def wait_room(self) -> None:
        await self._room.wait()

    async def wait_idle(self) -> None:
        """Wait until all added settlements are committed."""
        await self._idle.wait()

    async def run(self) -> None:
        while True:
            await self._added.wait()
            if not self._full.is_set():
                await self._gather()
            await self.flush()

    async def _gather(self) -> None:
        """Wait a moment for other results to share the commit."""
        waiter = asyncio.ensure_future(self._full.wait())
        await asyncio.wait([waiter], timeout=self._policy.flush_s)
        waiter.cancel()

    async def flush(self) -> None:
        batch, self._pending = self._pending, []
        self._under_way = batch
        columns, self._new_columns = self._new_columns, {}
        attachments, self._attachments, self._bytes = self._attachments, [], 0
        self._added.clear()
        self._full.clear()
        self._room.set()
        if batch:
            named = [ResultColumns(job_id, tuple(names)) for job_id, names in columns.items()]
            sent = self._fields.unreported(attachments)
            request = SettleRequest(self._worker, batch, named, sent)
            report = await self._sink.settle_many(request)
            self._under_way = []
            self._fields.reported(sent, report.refused)
            self.spawned += report.spawned
            if report.spawned:
                with suppress(HeadgateError):  # the next poll finds the items
                    await self.on_spawned()
            self.refused += len(report.refused)
            finished = sum(each.status is not ItemStatus.PENDING for each in batch)
            kept = max(finished - len(report.refused), 0)
            self._board.committed(kept, self._clock.monotonic(), self._sizer.ttl_s())
        if not self._pending:
            self._idle.set()

    def _notice_columns(self, job_id: int, result: Mapping[str, Any]) -> None:
        known = self._columns.get(job_id)
        if known is None:
            known = self._columns[job_id] = {}
        if result.keys() <= known.keys():
            return
        for name in result:
            if name not in known and len(known) < MAX_COLUMNS:
                known[name] = None
                text = str(name)  # JSON turns numbers into names
                if len(text) <= MAX_NAME and "\0" not in text:
                    self._new_columns.setdefault(job_id, []).append(text)
