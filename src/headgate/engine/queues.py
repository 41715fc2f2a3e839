"""Open queues: jobs that are fed over time, and the feeding."""

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
"""The key of a row, and why it has none."""


class RowNames(msgspec.Struct, frozen=True):
    """How a row of a queue gets its key, and its gate if its handler names one."""

    key: KeyMaker
    gate_of: GateOf | None = None

    def gate(self, values: Mapping[str, Any]) -> tuple[str, str | None]:
        """The gate of a row, and why it has none."""
        return ("", None) if self.gate_of is None else gate_in(values, self.gate_of)


def source_of(name: str) -> str:
    """What stands in a queue's job where others have a file."""
    return f"queue:{name}"


class QueueRow(msgspec.Struct, frozen=True):
    """One row on its way into a queue; a `problem` says why it is bad."""

    line: int
    values: Mapping[str, Any]
    problem: str | None = None


class QueueWriteReport(msgspec.Struct):
    """What became of the rows; the first few problems in words."""

    added: int = 0
    known: int = 0
    bad: int = 0
    problems: list[str] = []


class Viewer(msgspec.Struct, frozen=True):
    """Who asks for queues: whose they see, and as whose new ones are made."""

    name: str = LOCAL_OWNER
    sees: str | None = None
    """Only the queues of that owner; None: all."""
    caps: OwnerCaps = OwnerCaps()


OPERATOR = Viewer()
"""Whoever holds the store itself."""


class Queues:
    """The open jobs of a store, by name."""

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
        """The open queue of that name. If two were made at once, the elder is the queue.

        Who sees those of others too means one's own first.
        """
        found = [job for job in await self.all() if job.source == source_of(name)]
        return min(found, key=lambda job: job.owner != self._viewer.name, default=None)

    async def get(self, name: str) -> Job:
        """The open queue of that name, or UnknownJob."""
        job = await self.find(name)
        if job is None:
            raise UnknownJob(
                f"there is no open queue {name!r}; `headgate queue enqueue` with --handler makes it"
            )
        return job

    async def get_or_make(self, name: str, handler: str | None, key: Sequence[str] = ()) -> Job:
        """The queue, made on first use; afterwards its handler and its key cannot change."""
        job = await self.find(name)
        if job is None:
            if handler is None:
                raise UsageError(f"queue {name!r} is new: say with --handler what runs its items")
            job = await self._make(name, handler, tuple(key))
        if handler is not None and job.handler != handler:
            raise UsageError(
                f"queue {name!r} is run by {job.handler}; use another --queue for {handler}"
            )
        if key and job.options is not None and tuple(key) != job.key_columns:
            known = ",".join(job.key_columns) or "the whole content of an item"
            raise UsageError(
                f"queue {name!r} tells items apart by {known}, and this command has --key"
                f" {','.join(key)}; leave --key out, or use another --queue"
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
            # Somebody made the same queue a moment earlier: ours is empty and goes.
            await self._store.jobs.move_job(made.id, JobMove.CANCEL, "made twice at once")
            while await self._store.jobs.delete_job(made.id):
                pass
        return queue


class QueueWriter:
    """Puts rows into an open queue; a row with a key that the queue knows is not put in again."""

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
            # A bad row is no place to take a key from.
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
        """Store what waits."""
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
    """How the rows of a queue get their keys and gates.

    A queue from before keys were stored takes the key that was asked for.
    """
    return key_by(job.key_columns if job.options is not None else asked, gate_of)


def key_by(columns: Sequence[str], gate_of: GateOf | None = None) -> RowNames:
    """How a row of a queue gets its key: from named values, or from its whole content."""
    if not columns:
        return RowNames(lambda values: (content_key(values), None), gate_of)
    return RowNames(lambda values: key_of(values, columns), gate_of)


def content_key(values: Mapping[str, Any]) -> str:
    """The same content gives the same key, so that a repeated import adds nothing."""
    text = msgspec.json.encode(values, order="deterministic")
    return hashlib.blake2b(text, digest_size=16).hexdigest()
