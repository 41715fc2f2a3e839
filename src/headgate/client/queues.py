"""Open queues: jobs that are fed over time."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from headgate.client.errors import JobNotFound
from headgate.client.transport import ApiRequest, Transport, as_json, segment
from headgate.schema.jobs import FedView, JobResponse
from headgate.schema.values import Listed, WireValue


class Rows(WireValue, frozen=True, kw_only=True, omit_defaults=True):
    """Items to add to a queue."""

    items: Sequence[Mapping[str, Any] | msgspec.Raw]
    handler: str | None = None
    """The handler of the items; required for a new queue, remembered afterwards."""
    key: Sequence[str] = ()
    """The fields that identify an item; empty: its whole content."""
    lines: Sequence[int] | None = None
    """The line of each item in its file; None: counted from 1."""
    problems: Sequence[str | None] | None = None
    """For each item its defect, with which it is stored as an ERROR; None: it has none."""


class QueuesClient:
    """Open queues by name. Pause and resume them as jobs."""

    def __init__(self, wire: Transport) -> None:
        self._wire = wire

    async def ls(self) -> list[JobResponse]:
        """Every queue that is not closed, oldest first."""
        return (await self._wire.value(ApiRequest(path="/api/queues"), Listed[JobResponse])).items

    async def get(self, name: str) -> JobResponse:
        return await self._wire.value(_ask(name), JobResponse)

    async def feed(self, name: str, rows: Rows) -> FedView:
        """Add items; the queue drops items that it already has, so a repeat is safe."""
        body, headers = as_json(rows)
        path = f"/api/queues/{segment(name)}/items"
        ask = ApiRequest(
            method="POST", path=path, body=body, headers=headers, absent=JobNotFound, again=True
        )
        return await self._wire.value(ask, FedView)

    async def close(self, name: str) -> JobResponse:
        """Take no more items; the job is DONE once the queue is empty."""
        return await self._wire.value(_ask(name, "/close", "POST"), JobResponse)


def _ask(name: str, verb: str = "", method: str = "GET") -> ApiRequest:
    return ApiRequest(method=method, path=f"/api/queues/{segment(name)}{verb}", absent=JobNotFound)
