"""Open queues: jobs that are fed over time."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from headgate.client.errors import JobNotFound
from headgate.client.jobs import Job
from headgate.client.transport import ApiRequest, Transport, as_json, segment
from headgate.client.values import Listed, Wired


class Rows(Wired, frozen=True, kw_only=True, omit_defaults=True):
    """Items on their way into a queue."""

    items: Sequence[Mapping[str, Any] | msgspec.Raw]
    handler: str | None = None
    """What runs its items; needed to make the queue, remembered afterwards."""
    key: Sequence[str] = ()
    """The fields that name an item; without them, its whole content does."""
    lines: Sequence[int] | None = None
    """Where each item stood, if they come from a file; else they are counted from 1."""
    problems: Sequence[str | None] | None = None
    """Why each item is bad, so that it is kept as an ERROR; None: it is not."""


class Fed(Wired, frozen=True, kw_only=True):
    """What became of some items."""

    job_id: str
    added: int
    known: int
    """Were there already."""
    bad: int
    problems: Sequence[str] = ()
    """The first few, in words."""


class Queues:
    """Verbs over open queues, by name. Pause and resume them as jobs."""

    def __init__(self, wire: Transport) -> None:
        self._wire = wire

    async def ls(self) -> list[Job]:
        """Every queue that is not closed, oldest first."""
        return (await self._wire.value(ApiRequest(path="/api/queues"), Listed[Job])).items

    async def get(self, name: str) -> Job:
        """The open queue of that name."""
        return await self._wire.value(_ask(name), Job)

    async def feed(self, name: str, rows: Rows) -> Fed:
        """Put items in; those that it has already are not put in twice, so it may be repeated."""
        body, headers = as_json(rows)
        path = f"/api/queues/{segment(name)}/items"
        ask = ApiRequest(
            method="POST", path=path, body=body, headers=headers, absent=JobNotFound, again=True
        )
        return await self._wire.value(ask, Fed)

    async def close(self, name: str) -> Job:
        """Take no more items; the job is DONE once the queue is empty."""
        return await self._wire.value(_ask(name, "/close", "POST"), Job)


def _ask(name: str, verb: str = "", method: str = "GET") -> ApiRequest:
    return ApiRequest(method=method, path=f"/api/queues/{segment(name)}{verb}", absent=JobNotFound)
