"""The service interface of `app/service.py` over HTTP, for the commands."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from headgate.app.remote_mirrors import RemoteMirrors
from headgate.app.service import SHOWN_EVENTS, JobOverview, QueueWrite
from headgate.client import Client, Filter, ItemFilter, Reprocess, Rows
from headgate.client import Replay as ReplayBody
from headgate.client.queues import QueuesClient
from headgate.core.errors import UsageError
from headgate.core.status import ItemMove
from headgate.engine.export import ExportReport
from headgate.engine.export_check import ExportCheck, ExportCheckReport
from headgate.engine.job_control import ReplaySelection
from headgate.engine.queues import SHOWN_PROBLEMS, QueueRow
from headgate.ports.items import RequeueRequest, ReviewDecision
from headgate.ports.reads import ItemQuery
from headgate.schema.gates import GateList
from headgate.schema.items import ItemView, ItemWhole, Replayed, Why
from headgate.schema.jobs import ExportView, FedView, JobResponse
from headgate.schema.system import WorkerView
from headgate.schema.values import Page
from headgate.transfer.files import target_of
from headgate.transfer.sources import WriteOptions, open_written, written_format_of

LARGEST_PAGE = 1_000
MOST_ROWS = 1_000
MOST_BYTES = 4 * 1024 * 1024
_decode = msgspec.json.Decoder(dict[str, Any]).decode


class RemoteItems:
    def __init__(self, client: Client) -> None:
        self._client = client

    async def page(self, query: ItemQuery) -> Page[ItemView]:
        found: list[ItemView] = []
        after = query.after
        while True:
            size = min(query.limit - len(found), LARGEST_PAGE)
            page = await self._part(query, size, after)
            found += page.items
            after = page.next
            if after is None or len(found) >= query.limit or not page.items:
                return Page(items=found, next=after)

    async def by_key(self, key: str, job_id: int | None) -> list[ItemView]:
        job = None if job_id is None else str(job_id)
        return (await self._client.items.by_key(key, job_id=job)).items

    async def account(self, item_id: int) -> ItemWhole:
        item = await self._client.items.get(str(item_id))
        return replace(item, waiting=(await self.why(item_id)).waiting)

    async def why(self, item_id: int) -> Why:
        return await self._client.items.why(str(item_id))

    async def decide(self, decision: ReviewDecision) -> ItemWhole:
        items, name, reason = self._client.items, str(decision.item_id), decision.reason
        match decision.move:
            case ItemMove.ACCEPT:
                return await items.accept(name, decision.candidate or "", reason)
            case ItemMove.REJECT:
                return await items.reject(name, reason)
            case _:
                return await items.skip(name, reason)

    async def replay(self, what: ReplaySelection, *, dry_run: bool) -> Replayed:
        request = ReplayBody(
            item_ids=None if what.ids is None else [str(each) for each in what.ids],
            job_id=None if what.job_id is None else str(what.job_id),
            everything=what.ids is None and what.job_id is None,
            job_type=what.handler,
            except_ids=[str(each) for each in what.but_ids],
            error_class=what.error_class,
            reset_attempts=what.reset_attempts,
            dry_run=dry_run,
        )
        return await self._client.dead_letters.replay(request)

    async def _part(self, query: ItemQuery, size: int, after: str | None) -> Page[ItemView]:
        if query.job_id is None:
            return await self._client.dead_letters.page(
                error_class=query.error_class,
                job_type=query.handler,
                page_size=size,
                after=after,
            )
        job_id = str(query.job_id)
        if query.handler is not None:
            job = await self._client.jobs.get(job_id)
            if job.handler != query.handler:
                return Page(items=[])
        which = ItemFilter(
            statuses=query.statuses,
            q=query.text,
            error_class=query.error_class,
            signature=query.signature,
            order=query.order,
        )
        return await self._client.items.page(job_id, which, page_size=size, after=after)


class RemoteJobs:
    def __init__(self, client: Client) -> None:
        self._client = client

    async def ls(self, after: int, limit: int) -> list[JobResponse]:
        found: list[JobResponse] = []
        # A job's number cannot be turned into a cursor of the server: newer jobs are skipped.
        page_size = LARGEST_PAGE if after else min(limit, LARGEST_PAGE)
        async for job in self._client.jobs.all(page_size=page_size):
            if after and int(job.id) >= after:
                continue
            found.append(job)
            if len(found) == limit:
                break
        return found

    async def get(self, job_id: int) -> JobResponse:
        return await self._client.jobs.get(str(job_id))

    async def account(self, job_id: int) -> JobOverview:
        name = str(job_id)
        job = await self._client.jobs.get(name)
        events = (await self._client.events.page(name, page_size=SHOWN_EVENTS)).items
        failures = await self._client.jobs.errors(name)
        return JobOverview(
            job=job, limit=job.limited_by, at_work=True, failures=failures, events=events[::-1]
        )

    async def pause(self, job_id: int) -> JobResponse:
        return await self._client.jobs.pause(str(job_id))

    async def resume(self, job_id: int) -> JobResponse:
        return await self._client.jobs.resume(str(job_id))

    async def cancel(self, job_id: int) -> JobResponse:
        return await self._client.jobs.cancel(str(job_id))

    async def set_priority(self, job_id: int, priority: int) -> JobResponse:
        return await self._client.jobs.set_priority(str(job_id), priority)

    async def remove(self, job_id: int) -> None:
        await self._client.jobs.delete(str(job_id))

    async def reprocess(self, request: RequeueRequest, *, dry_run: bool) -> int:
        what = Reprocess(
            statuses=sorted(request.statuses),
            error_class=request.error_class,
            filter=Filter(q=request.text, signature=request.signature),
            item_ids=None if request.ids is None else [str(each) for each in request.ids],
            reset_attempts=request.reset_attempts,
            dry_run=dry_run,
        )
        return await self._client.jobs.reprocess(str(request.job_id), what)


class RemoteExports:
    """Implements ExportVerbs: the server writes the file, and we download it."""

    def __init__(self, client: Client) -> None:
        self._exports = client.exports

    async def write(self, job_id: int, out: Path, options: WriteOptions) -> ExportReport:
        name = written_format_of(out, options.format)
        if options.delimiter or options.encoding:
            raise UsageError(
                "a server writes CSV with commas, in UTF-8: leave out --out-delimiter and"
                " --out-encoding"
            )
        target = target_of(out)
        try:
            await asyncio.to_thread(target.open)
            requested = await self._exports.ask(str(job_id), name, options.formulas)
            export = await self._exports.wait(requested)
            async for piece in self._exports.pieces(export):
                await asyncio.to_thread(target.write, piece)
            await asyncio.to_thread(target.commit, export.report or {})
        finally:
            target.abandon()
        return report_of(export)

    async def check(self, job_id: int, file: Path, stated: str | None) -> ExportCheckReport:
        """Compare a file with the stored rows, which the server exports for it."""
        parts, form = open_written(file, stated)
        requested = await self._exports.ask(str(job_id), "jsonl")
        export = await self._exports.wait(requested)
        with tempfile.TemporaryDirectory(prefix="headgate-") as folder:
            rows = await self._exports.download(export, Path(folder) / "rows.jsonl")
            columns = report_of(export).columns
            return await ExportCheck.compare(job_id, columns, _pages(rows), parts, form)


def report_of(export: ExportView) -> ExportReport:
    return msgspec.convert(export.report or {}, ExportReport)


async def _pages(file: Path) -> AsyncIterator[Sequence[Mapping[str, Any]]]:
    with await asyncio.to_thread(file.open, "rb") as lines:
        while batch := await asyncio.to_thread(_some, lines):
            yield batch


def _some(lines: Any) -> list[Mapping[str, Any]]:
    return [_decode(line) for line, _ in zip(lines, range(ExportCheck.PAGE), strict=False)]


class RemoteQueues:
    def __init__(self, client: Client) -> None:
        self._queues = client.queues

    async def ls(self) -> list[JobResponse]:
        return await self._queues.ls()

    async def get(self, name: str) -> JobResponse:
        return await self._queues.get(name)

    async def feed(self, queue_write: QueueWrite, rows: AsyncIterator[QueueRow | None]) -> FedView:
        sending = _Sending(self._queues, queue_write)
        async for row in rows:
            if row is None:
                await sending.flush()
            else:
                await sending.add(row)
        # Also without rows: the queue is created, or reported as missing.
        await sending.flush(empty=not sending.report.job_id)
        return sending.report

    async def close(self, name: str) -> JobResponse:
        return await self._queues.close(name)


class _Sending:
    """Sends rows in batches."""

    def __init__(self, queues: QueuesClient, queue_write: QueueWrite) -> None:
        self._queues = queues
        self._queue_write = queue_write
        self._rows: list[QueueRow] = []
        self._texts: list[bytes] = []
        self._bytes = 0
        self.report = FedView(job_id="", added=0, known=0, bad=0, problems=[])

    async def add(self, row: QueueRow) -> None:
        text = msgspec.json.encode(row.values)
        self._rows.append(row)
        self._texts.append(text)
        self._bytes += len(text)
        if len(self._rows) >= MOST_ROWS or self._bytes >= MOST_BYTES:
            await self.flush()

    async def flush(self, *, empty: bool = False) -> None:
        if not self._rows and not empty:
            return
        rows, texts = self._rows, self._texts
        self._rows, self._texts, self._bytes = [], [], 0
        fed = await self._queues.feed(
            self._queue_write.queue,
            Rows(
                items=[msgspec.Raw(text) for text in texts],
                handler=self._queue_write.handler,
                key=self._queue_write.key,
                lines=[row.line for row in rows],
                problems=[row.problem for row in rows],
            ),
        )
        before = self.report
        self.report = FedView(
            job_id=fed.job_id,
            added=before.added + fed.added,
            known=before.known + fed.known,
            bad=before.bad + fed.bad,
            problems=[*before.problems, *fed.problems][:SHOWN_PROBLEMS],
        )


class RemoteGates:
    def __init__(self, client: Client) -> None:
        self._providers = client.providers

    async def ls(self, *, everything: bool) -> GateList:
        return await self._providers.ls("all" if everything else "declared")

    async def show(self, name: str) -> GateList:
        return await self._providers.get(name)

    async def set_rate(self, name: str, rate: str, for_s: float | None) -> GateList:
        return await self._providers.set_rate(name, rate, for_s)

    async def pause(self, name: str, for_s: float | None) -> GateList:
        return await self._providers.pause(name, for_s)

    async def resume(self, name: str) -> tuple[list[str], GateList]:
        before = await self._providers.get(name)
        overridden = [gate.key for gate in before.items if gate.override]
        return overridden, await self._providers.resume(name)

    async def learned(self, name: str) -> list[str]:
        return [gate.key for gate in (await self._providers.get(name)).items if gate.asked]

    async def forget(self, keys: Sequence[str]) -> list[str]:
        for key in keys:
            await self._providers.forget(key)
        return [*keys]


class RemoteService:
    def __init__(self, client: Client) -> None:
        self._client = client
        self.jobs = RemoteJobs(client)
        self.items = RemoteItems(client)
        self.queues = RemoteQueues(client)
        self.gates = RemoteGates(client)
        self.exports = RemoteExports(client)
        self.mirrors = RemoteMirrors(client)

    async def is_at_work(self, job_ids: Sequence[int]) -> bool:  # noqa: ARG002
        """Always True: a server has its own workers."""
        return True

    async def workers(self, *, everybody: bool) -> list[WorkerView]:
        return await self._client.workers.ls(everybody=everybody)


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[RemoteService]:
    """The service at a URL; its token is read from the environment."""
    async with Client(url) as client:
        yield RemoteService(client)
