"""Open queues: jobs that take rows over time, and the writer that adds rows."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from headgate.core.errors import UnknownJob, UsageError
from headgate.core.item import NewItem
from headgate.core.job import LOCAL_OWNER, Job, NewJob, OwnerCaps
from headgate.core.sizing import IngestSizer
from headgate.core.status import UNFINISHED, JobMove
from headgate.engine.rows import GateOf, gate_in, key_of, summary_of
from headgate.ports.clock import Clock
from headgate.ports.items import EnqueueRequest
from headgate.ports.reads import JobQuery
from headgate.ports.store import Store

PAGE = 500
SHOWN_PROBLEMS = 10


KeyMaker = Callable[[Mapping[str, Any]], tuple[str, str | None]]
"""Returns the key of a row, and the reason if it has none."""


class RowNames(msgspec.Struct, frozen=True):
    key: KeyMaker
    gate_of: GateOf | None = None

    def gate(self, values: Mapping[str, Any]) -> tuple[str, str | None]:
        return ("", None) if self.gate_of is None else gate_in(values, self.gate_of)


def source_of(name: str) -> str:
    return f"queue:{name}"


class QueueRow(msgspec.Struct, frozen=True):
    line: int
    values: Mapping[str, Any]
    problem: str | None = None


class QueueWriteReport(msgspec.Struct):
    added: int = 0
    known: int = 0
    bad: int = 0
    problems: list[str] = []


class Viewer(msgspec.Struct, frozen=True):
    name: str = LOCAL_OWNER
    sees: str | None = None
    """Only the queues of this owner; None: all."""
    caps: OwnerCaps = OwnerCaps()


OPERATOR = Viewer()
"""A user with direct access to the store."""


class Queues:
    def __init__(self, store: Store, viewer: Viewer = OPERATOR) -> None:
        self._store = store
        self._viewer = viewer

    async def all(self) -> list[Job]:
        """Every queue that is not closed, oldest first."""
        found: list[Job] = []
        after_id = 0
        while jobs := await self._store.reads.jobs(
            JobQuery(owner=self._viewer.sees, states=UNFINISHED, after_id=after_id, limit=PAGE)
        ):
            found += [job for job in jobs if job.open]
            after_id = jobs[-1].id
        return found[::-1]

    async def find(self, name: str) -> Job | None:
        """The open queue of that name; if two were made at once, the older.

        If the user sees queues of other owners, their own comes first.
        """
        found = [job for job in await self.all() if job.source == source_of(name)]
        return min(found, key=lambda job: job.owner != self._viewer.name, default=None)

    async def get(self, name: str) -> Job:
        job = await self.find(name)
        if job is None:
            raise UnknownJob(
                f"no open queue is named {name!r}. `headgate queue enqueue` with --handler makes it"
            )
        return job

    async def get_or_make(self, name: str, handler: str | None, key: Sequence[str] = ()) -> Job:
        """The queue, made on first use; afterwards its handler and its key cannot change."""
        job = await self.find(name)
        if job is None:
            if handler is None:
                raise UsageError(f"queue {name!r} is new. Name its handler with --handler")
            job = await self._make(name, handler, tuple(key))
        if handler is not None and job.handler != handler:
            raise UsageError(
                f"queue {name!r} is run by {job.handler}; use another --queue for {handler}"
            )
        if key and job.options is not None and tuple(key) != job.key_columns:
            known = ",".join(job.key_columns) or "the whole content of an item"
            raise UsageError(
                f"queue {name!r} identifies items by {known}, but this command has --key"
                f" {','.join(key)}. Leave --key out, or use another --queue"
            )
        return job

    async def _make(self, name: str, handler: str, key: tuple[str, ...]) -> Job:
        owner, caps = self._viewer.name, self._viewer.caps
        new = NewJob(
            handler,
            source_of(name),
            name=name,
            owner=owner,
            key_columns=key,
            open=True,
            options={},
            caps=caps,
        )
        made = await self._store.jobs.create_job(new)
        queue = await self.get(name)
        if queue.id != made.id:
            # Another command made the same queue a moment earlier: ours is empty and is deleted.
            await self._store.jobs.move_job(made.id, JobMove.CANCEL, "made twice at once")
            while await self._store.jobs.delete_job(made.id):
                pass
        return queue


class QueueWriter:
    """Adds rows to an open queue; a row whose key the queue already has is not added again."""

    def __init__(
        self,
        store: Store,
        job_id: int,
        names: RowNames,
        sizer: IngestSizer,
        clock: Clock,
        open_items_cap: int | None = None,
    ) -> None:
        self._store = store
        self._job_id = job_id
        self._names = names
        self._sizer = sizer
        self._clock = clock
        self._cap = open_items_cap
        self._waiting: list[NewItem] = []
        self._bytes = 0
        self.report = QueueWriteReport()

    async def add(self, row: QueueRow) -> None:
        """Take one row; it is stored with others, at the latest on `flush`."""
        text = msgspec.json.encode(row.values).decode()
        key, no_key = self._names.key(row.values)
        gate, no_gate = self._names.gate(row.values) if not row.problem else ("", None)
        problem = row.problem or no_key or no_gate
        if problem is not None:
            # The key of a bad row cannot be trusted.
            key = content_key(row.values)
            self.report.bad += 1
            if len(self.report.problems) < SHOWN_PROBLEMS:
                self.report.problems.append(f"line {row.line}: {problem}")
        summary = summary_of(row.values)
        self._waiting.append(NewItem(key, text, row.line, gate, summary=summary, problem=problem))
        self._bytes += len(text)
        if len(self._waiting) >= self._sizer.rows or self._bytes >= self._sizer.max_bytes:
            await self.flush()

    async def flush(self) -> None:
        if not self._waiting:
            return
        batch, self._waiting, self._bytes = self._waiting, [], 0
        began = self._clock.monotonic()
        request = EnqueueRequest(self._job_id, batch, open_items_cap=self._cap)
        report = await self._store.items.enqueue_many(request)
        self._sizer.committed((self._clock.monotonic() - began) * 1_000)
        self.report.added += report.inserted
        self.report.known += len(batch) - report.inserted
        await self._store.notifier.ring()


def names_in_queue(job: Job, asked: Sequence[str], gate_of: GateOf | None = None) -> RowNames:
    """The functions that give the rows of a queue their keys and gates.

    A queue from before keys were stored takes the key that the command names.
    """
    return key_by(job.key_columns if job.options is not None else asked, gate_of)


def key_by(columns: Sequence[str], gate_of: GateOf | None = None) -> RowNames:
    """Make keys from the named values, or from the whole content of a row."""
    if not columns:
        return RowNames(lambda values: (content_key(values), None), gate_of)
    return RowNames(lambda values: key_of(values, columns), gate_of)


def content_key(values: Mapping[str, Any]) -> str:
    """The same content gives the same key, so that a repeated import adds nothing."""
    text = msgspec.json.encode(values, order="deterministic")
    return hashlib.blake2b(text, digest_size=16).hexdigest()
