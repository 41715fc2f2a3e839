"""What stands in paths and queries: ids, pages, lists of statuses."""

from typing import Annotated

from fastapi import Depends, Path, Query, Request

from headgate.app.api.identity import Someone
from headgate.app.api.models import microseconds_of
from headgate.app.api.problems import ProblemResponse
from headgate.app.api.state import AppState, State
from headgate.core.errors import UnknownItem, UnknownJob
from headgate.core.fault import FaultClass
from headgate.core.job import Job
from headgate.core.status import ItemStatus
from headgate.ports.reads import ItemDetail

LARGEST = 2**63 - 1


def number_in(text: str) -> int | None:
    """The number that an id stands for; None if it stands for none."""
    if not (text.isascii() and text.isdigit()) or (text[0] == "0" and len(text) > 1):
        return None
    number = int(text) if len(text) < 20 else LARGEST + 1
    return number if 0 < number <= LARGEST else None


JobId = Annotated[str, Path(alias="jobId", description="The id of a job.")]
ItemId = Annotated[str, Path(alias="itemId", description="The id of an item.")]


async def own_job(job_id: JobId, who: Someone, app_state: State) -> Job:
    """The job of a path, if whoever asks may see it; else there is none."""
    number = number_in(job_id)
    if number is None:
        raise UnknownJob(f"there is no job {job_id[:40]!r}")
    return await app_state.store.reads.job(number, who.sees)


async def own_item(item_id: ItemId, who: Someone, app_state: State) -> ItemDetail:
    """The item of a path, if whoever asks may see it; else there is none."""
    number = number_in(item_id)
    if number is None:
        raise UnknownItem(f"there is no item {item_id[:40]!r}")
    return await app_state.store.reads.item(number, who.sees)


OwnJob = Annotated[Job, Depends(own_job)]
OwnItem = Annotated[ItemDetail, Depends(own_item)]


async def job_named(app_state: AppState, owner: str | None, job_id: str | None) -> int | None:
    """The number of a job that a query names, if it names one that may be seen."""
    if job_id is None:
        return None
    number = number_in(job_id) if job_id else None
    if number is None:
        raise UnknownJob(f"there is no job {job_id[:40]!r}")
    return (await app_state.store.reads.job(number, owner)).id


PageSize = Annotated[int, Query(alias="pageSize", ge=1, le=1_000, description="Rows in a page.")]
After = Annotated[
    str | None, Query(max_length=400, description="`next` of the page before; opaque.")
]
Statuses = Annotated[
    str | None,
    Query(
        max_length=200,
        description="Item statuses, with commas in between.",
        examples=["PENDING,PROCESSING"],
    ),
]


Since = Annotated[
    str | None,
    Query(alias="from", max_length=40, description="Changed at or after this moment, ISO 8601."),
]
Until = Annotated[
    str | None, Query(alias="to", max_length=40, description="Changed before this moment.")
]


def moment_in(text: str | None, name: str) -> int | None:
    """The moment that a parameter names, if it is there."""
    if text is None:
        return None
    try:
        return microseconds_of(text)
    except (ValueError, OverflowError) as error:
        raise ProblemResponse(422, f"`{name}` is no moment: write 2026-03-01T12:00:00Z") from error


def keyset_only(request: Request) -> None:
    """Pages are found by where the last one ended: numbers would skip and repeat rows."""
    for name in ("page", "offset"):
        if name in request.query_params:
            raise ProblemResponse(
                400,
                f"there is no `{name}`: ask for `pageSize` rows, then for those `after` the"
                " `next` of the answer. Counted pages skip and repeat rows while rows change",
            )


KeysetOnly = Depends(keyset_only)


def error_class_in(text: str | None) -> FaultClass | None:
    """The class of failures that a query names, if it names one."""
    if text is None:
        return None
    if text not in set(FaultClass):
        raise ProblemResponse(
            422, f"there is no error class {text!r}; there are {', '.join(FaultClass)}"
        )
    return FaultClass(text)


def statuses_in(text: str | None) -> frozenset[ItemStatus]:
    """The statuses that a query names; none if it names none."""
    names = [part.strip().upper() for part in (text or "").split(",") if part.strip()]
    for name in names:
        if name not in ItemStatus.__members__:
            known = ", ".join(ItemStatus)
            raise ProblemResponse(422, f"there is no status {name!r}; there are {known}")
    return frozenset(ItemStatus(name) for name in names)
