"""Jobs: list, read, wait, control, delete."""

from collections.abc import AsyncIterator, Collection, Sequence
from typing import Any

import msgspec

from headgate.client.errors import JobNotFound
from headgate.client.transport import ApiRequest, ClientTimeouts, Transport, as_json, segment
from headgate.client.values import params, walk
from headgate.core.status import ItemStatus, JobState
from headgate.schema.gates import GateList
from headgate.schema.jobs import (
    ErrorGroupView,
    JobDetail,
    JobResponse,
    ReadingView,
    Reprocessed,
    SliceDone,
)
from headgate.schema.values import Listed, Page, WireValue


class Filter(WireValue, frozen=True, kw_only=True, omit_defaults=True):
    """Which items, beside statuses and error class."""

    q: str | None = None
    """Text in the key or the summary."""
    signature: str | None = None


class Reprocess(WireValue, frozen=True, kw_only=True, omit_defaults=True):
    """Which items to requeue; by default ERROR and NOT_FOUND below their attempt caps."""

    statuses: Collection[ItemStatus] | None = None
    error_class: str | None = None
    filter: Filter | None = None
    item_ids: Sequence[str] | None = None
    except_ids: Sequence[str] = ()
    """Items to leave out."""
    reset_attempts: bool = False
    dry_run: bool = False
    """Only count."""


class JobsClient:
    def __init__(self, wire: Transport, timeouts: ClientTimeouts) -> None:
        self._wire = wire
        self._timeouts = timeouts

    async def page(
        self,
        *,
        states: Collection[JobState] = (),
        handler: str | None = None,
        text: str | None = None,
        page_size: int = 50,
        after: str | None = None,
    ) -> Page[JobDetail]:
        """A page of jobs, newest first."""
        query = params(
            states=",".join(sorted(states)) or None,
            handler=handler,
            q=text,
            pageSize=page_size,
            after=after,
        )
        return await self._wire.value(ApiRequest(path="/api/jobs", params=query), Page[JobDetail])

    def all(
        self,
        *,
        states: Collection[JobState] = (),
        handler: str | None = None,
        text: str | None = None,
        page_size: int = 500,
    ) -> AsyncIterator[JobDetail]:
        """Every job, newest first, page after page."""
        return walk(
            lambda after: self.page(
                states=states, handler=handler, text=text, page_size=page_size, after=after
            )
        )

    async def get(self, job_id: str) -> JobDetail:
        return await self._wire.value(_ask(job_id), JobDetail)

    async def wait(self, job_id: str) -> JobDetail:
        """Wait until the job is finished; `asyncio.timeout` limits the wait."""
        polls = 0
        while not (job := await self.get(job_id)).finished:
            await self._wire.rest(self._timeouts.polls(polls))
            polls += 1
        return job

    async def pause(self, job_id: str) -> JobResponse:
        """Stop new work on a job, on every worker, until it is resumed."""
        return await self._moved(job_id, "/pause")

    async def resume(self, job_id: str) -> JobResponse:
        return await self._moved(job_id, "/resume")

    async def cancel(self, job_id: str) -> JobResponse:
        """End a job: finished items stay, all others become CANCELLED."""
        return await self._moved(job_id, "/cancel")

    async def set_priority(self, job_id: str, priority: int) -> JobResponse:
        """Change a job's share among its owner's jobs: each step doubles it."""
        return await self._wire.value(
            _post(job_id, "/priority", {"priority": priority}), JobResponse
        )

    async def delete(self, job_id: str) -> None:
        """Delete a job with its items, history and files; a running job is cancelled first."""
        await self._wire.done(_ask(job_id, method="DELETE"))

    async def kickoff(self, job_id: str, duration_ms: int = 5_000) -> SliceDone:
        """Let a worker process work on a job for `duration_ms`, and return the result."""
        ask = _ask(job_id, "/kickoff", "POST")
        ask = msgspec.structs.replace(ask, params=params(durationMs=duration_ms))
        return await self._wire.value(ask, SliceDone)

    async def reprocess(self, job_id: str, what: Reprocess | None = None) -> int:
        """Requeue finished items as PENDING; return how many matched."""
        what = what or Reprocess()
        scope = "job" if what.item_ids is None else "items"
        body = {"scope": scope, **msgspec.to_builtins(what)}
        ask = _post(job_id, "/reprocess", body)
        return (await self._wire.value(ask, Reprocessed)).count

    async def errors(self, job_id: str) -> list[ErrorGroupView]:
        """Failures grouped by their text, the most frequent first."""
        return (await self._wire.value(_ask(job_id, "/errors"), Listed[ErrorGroupView])).items

    async def gates(self, job_id: str) -> GateList:
        return await self._wire.value(_ask(job_id, "/gates"), GateList)

    async def history(self, job_id: str) -> list[ReadingView]:
        """The job's progress while the server watched it, oldest first."""
        return (await self._wire.value(_ask(job_id, "/history"), Listed[ReadingView])).items

    async def _moved(self, job_id: str, verb: str) -> JobResponse:
        return await self._wire.value(_ask(job_id, verb, "POST"), JobResponse)


def _ask(job_id: str, verb: str = "", method: str = "GET") -> ApiRequest:
    path = f"/api/jobs/{segment(job_id)}{verb}"
    return ApiRequest(method=method, path=path, absent=JobNotFound)


def _post(job_id: str, verb: str, value: Any) -> ApiRequest:
    body, headers = as_json(value)
    return msgspec.structs.replace(_ask(job_id, verb, "POST"), body=body, headers=headers)
