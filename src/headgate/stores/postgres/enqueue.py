"""Stores rows: by COPY, and by key if the job may already have some of them."""

from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace
from psycopg import errors

from headgate.core.errors import StaleIngest, UnknownJob, UsageError
from headgate.core.item import NewItem
from headgate.core.job import Job
from headgate.core.status import UNFINISHED, ItemStatus
from headgate.ports.items import EnqueueReport, EnqueueRequest, KnownRow
from headgate.stores.create import usage_of
from headgate.stores.messages import require_room_for_items
from headgate.stores.postgres.connection import PostgresDatabase, PostgresSession
from headgate.stores.postgres.literals import copy_blocks, pack_rows, storable
from headgate.stores.rows import as_json, job_from


class StoredRows(NamedTuple):
    """A stored row of the job; `id` is None if the row is in this batch."""

    id: int | None
    line: int
    run: int
    input: str


class Enqueue:
    """One batch. The job's row is locked throughout, so that no other process adds to the job."""

    def __init__(self, database: PostgresDatabase, request: EnqueueRequest) -> None:
        self._database = database
        self._request = request
        self._sent: EnqueueReport | None = None
        """The report of a try that was cut off."""
        self._new_keys: list[str] = []

    async def run(self) -> EnqueueReport:
        """Assume that every row is new; if one is not, look up the keys first."""
        before_ms = self._database.waited_ms()
        try:
            report = await self._database.write(lambda session: self._work(session, fresh=True))
        except errors.UniqueViolation:
            report = await self._database.write(lambda session: self._work(session, fresh=False))
        return replace(report, waited=self._database.waited_ms() > before_ms)

    async def _work(self, session: PostgresSession, *, fresh: bool) -> EnqueueReport:
        record = await session.record("lock_job", job_id=self._request.job_id)
        if record is None:
            raise UnknownJob(f"job {self._request.job_id} does not exist")
        now = record.pop("now")
        job = job_from(record)
        require_open(job)
        if self._sent is not None and await self._was_committed(session, job):
            return self._sent
        self._require_position(job)
        # A source that is read again has known rows: the first try would only cost time.
        new, known = self._request.items, list[KnownRow]()
        if not fresh or job.ingest_run > 1:
            new, known = await self._sort(session, job)
            if self._request.hold_duplicates and any(row.duplicate for row in known):
                return EnqueueReport(0, known, held=True)
        await self._insert(session, job, new, now)
        self._new_keys = [storable(item.key) for item in new[:1]]
        self._sent = EnqueueReport(len(new), known)
        return self._sent

    def _require_position(self, job: Job) -> None:
        request = self._request
        if request.position is not None and request.expected_position != job.ingest_position:
            raise StaleIngest

    async def _was_committed(self, session: PostgresSession, job: Job) -> bool:
        """True if a try that was cut off was committed."""
        request = self._request
        if request.position is not None:
            moved = request.position != request.expected_position
            return moved and job.ingest_position == request.position
        # Without a position, its first new row shows it.
        found = await session.rows("known_rows", job_id=job.id, keys=self._new_keys)
        return bool(found)

    async def _insert(
        self, session: PostgresSession, job: Job, new: Sequence[NewItem], now: int
    ) -> None:
        if new:
            tail = (job.id, job.owner, job.handler, job.ingest_run, now)
            newest = (await session.rows("newest_item", job_id=job.id))[0][0]
            await session.copy("insert_items", copy_blocks(self._packed(new), tail))
            await session.change("insert_keys", job_id=job.id, newest=newest)
        bad = sum(item.problem is not None for item in new)
        skipped = sum(item.duplicate for item in new)
        counted = {
            ItemStatus.PENDING: len(new) - bad,
            ItemStatus.SKIPPED: skipped,
            ItemStatus.ERROR: bad - skipped,
        }
        await session.add_counts((job.id, status, n) for status, n in counted.items())
        await self._record_progress(session, job)
        if self._request.open_items_cap is not None and new:
            await self._require_room(session, job.owner, self._request.open_items_cap)

    def _packed(self, new: Sequence[NewItem]) -> Sequence[bytes]:
        whole = new is self._request.items and self._request.packed is not None
        packed: Sequence[bytes] = self._request.packed if whole else pack_rows(new)
        return packed

    async def _record_progress(self, session: PostgresSession, job: Job) -> None:
        if self._request.position is not None:
            await session.change("move_position", job_id=job.id, position=self._request.position)
        if self._request.progress is not None:
            progress = as_json(self._request.progress)
            await session.change("tell_progress", job_id=job.id, progress=progress)

    async def _require_room(self, session: PostgresSession, owner: str, cap: int) -> None:
        # Locked late, so that batches are stored in parallel and only counted one after the other.
        await session.rows("lock_owner", owner=owner)
        require_room_for_items(owner, cap, await usage_of(session, owner))

    async def _sort(
        self, session: PostgresSession, job: Job
    ) -> tuple[list[NewItem], list[KnownRow]]:
        """The new rows, and reports about the known ones."""
        keys = [storable(item.key) for item in self._request.items]
        found = await session.rows("known_rows", job_id=job.id, keys=keys)
        stored = {row[0]: StoredRows(*row[1:]) for row in found}
        new: list[NewItem] = []
        known: list[KnownRow] = []
        first_lines: dict[str, int] = {}
        for key, item in zip(keys, self._request.items, strict=True):
            before = stored.get(key)
            if before is None:
                new.append(item)
                stored[key] = StoredRows(None, item.line, job.ingest_run, storable(item.input))
                continue
            seen = before.run == job.ingest_run
            first = first_lines.setdefault(key, before.line if seen else item.line)
            changed = before.input != storable(item.input)
            known.append(KnownRow(item.key, item.line, first, changed, item.line != first))
        again = [(stored[key].id, line) for key, line in first_lines.items()]
        await _see_again(session, job, [(id_, line) for id_, line in again if id_ is not None])
        return new, known


async def _see_again(session: PostgresSession, job: Job, seen: Sequence[tuple[int, int]]) -> None:
    if seen:
        await session.change(
            "see_again",
            job_id=job.id,
            run=job.ingest_run,
            ids=[item_id for item_id, _ in seen],
            lines=[line for _, line in seen],
        )


def require_open(job: Job) -> None:
    if job.state not in UNFINISHED:
        raise UsageError(f"job {job.id} is {job.state} and takes no more items")
    if job.ingest_complete and not job.open:
        raise UsageError(f"job {job.id} was closed and takes no more items")
