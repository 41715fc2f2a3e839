"""Path and query parameters: ids, pages, statuses, times."""

from typing import Annotated

from fastapi import Depends, Path, Query, Request

from headgate.app.api.identity import CurrentUser
from headgate.app.api.problems import ProblemResponse
from headgate.app.api.state import AppState, State
from headgate.core.errors import UnknownItem, UnknownJob
from headgate.core.fault import FaultClass
from headgate.core.job import Job
from headgate.core.status import ItemStatus
from headgate.core.time_text import microseconds_of
from headgate.ports.reads import ItemDetail

LARGEST = 2**63 - 1


def number_in(text: str) -> int | None:
    if not (text.isascii() and text.isdigit()) or (text[0] == "0" and len(text) > 1):
        return None
    number = int(text) if len(text) < 20 else LARGEST + 1
    return number if 0 < number <= LARGEST else None


JobId = Annotated[str, Path(alias="jobId", description="The id of a job.")]
ItemId = Annotated[str, Path(alias="itemId", description="The id of an item.")]


async def own_job(job_id: JobId, who: CurrentUser, app_state: State) -> Job:
    """Return the job of the path. Raises 404 if the caller may not see it."""
    number = number_in(job_id)
    if number is None:
        raise UnknownJob(f"job {job_id[:40]!r} not found")
    return await app_state.store.reads.job(number, who.sees)


async def own_item(item_id: ItemId, who: CurrentUser, app_state: State) -> ItemDetail:
    """Return the item of the path. Raises 404 if the caller may not see it."""
    number = number_in(item_id)
    if number is None:
        raise UnknownItem(f"item {item_id[:40]!r} not found")
    return await app_state.store.reads.item(number, who.sees)


OwnJob = Annotated[Job, Depends(own_job)]
OwnItem = Annotated[ItemDetail, Depends(own_item)]


async def job_named(app_state: AppState, owner: str | None, job_id: str | None) -> int | None:
    """Parse the id of a job that the owner may see, or raise UnknownJob."""
    if job_id is None:
        return None
    number = number_in(job_id) if job_id else None
    if number is None:
        raise UnknownJob(f"job {job_id[:40]!r} not found")
    return (await app_state.store.reads.job(number, owner)).id


PageSize = Annotated[int, Query(alias="pageSize", ge=1, le=1_000, description="Rows per page.")]
After = Annotated[
    str | None, Query(max_length=400, description="`next` of the previous page; opaque.")
]
Statuses = Annotated[
    str | None,
    Query(
        max_length=200,
        description="Item statuses, separated by commas.",
        examples=["PENDING,PROCESSING"],
    ),
]


Since = Annotated[
    str | None,
    Query(alias="from", max_length=40, description="Changed at or after this time, ISO 8601."),
]
Until = Annotated[
    str | None, Query(alias="to", max_length=40, description="Changed before this time.")
]


def moment_in(text: str | None, name: str) -> int | None:
    if text is None:
        return None
    try:
        return microseconds_of(text)
    except (ValueError, OverflowError) as error:
        raise ProblemResponse(422, f"`{name}` is not a time; write 2026-03-01T12:00:00Z") from error


def keyset_only(request: Request) -> None:
    """Refuse `page` and `offset`: with them, rows are skipped and repeated while rows change."""
    for name in ("page", "offset"):
        if name in request.query_params:
            raise ProblemResponse(
                400,
                f"`{name}` is not supported: request `pageSize` rows, then the rows `after` the"
                " `next` of the response. Numbered pages skip and repeat rows while rows change",
            )


KeysetOnly = Depends(keyset_only)


def error_class_in(text: str | None) -> FaultClass | None:
    if text is None:
        return None
    if text not in set(FaultClass):
        raise ProblemResponse(
            422, f"unknown error class {text!r}; the classes are {', '.join(FaultClass)}"
        )
    return FaultClass(text)


def statuses_in(text: str | None) -> frozenset[ItemStatus]:
    names = [part.strip().upper() for part in (text or "").split(",") if part.strip()]
    for name in names:
        if name not in ItemStatus.__members__:
            known = ", ".join(ItemStatus)
            raise ProblemResponse(422, f"unknown status {name!r}; the statuses are {known}")
    return frozenset(ItemStatus(name) for name in names)
