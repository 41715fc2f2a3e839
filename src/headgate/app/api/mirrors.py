"""Mirrors: list, show, forget; their passes, and how the work of a pass went."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path

from headgate.app.api.bodies import BoundedRoute
from headgate.app.api.identity import CurrentUser, Writer
from headgate.app.api.params import After, JobId, KeysetOnly, PageSize, number_in
from headgate.app.api.problems import documented
from headgate.app.api.state import State
from headgate.app.mirror_reads import MirrorReads
from headgate.app.service import PageOf
from headgate.core.errors import UnknownJob, UnknownMirror
from headgate.schema.mirrors import Forgotten, MirrorDetail, MirrorView, PassReport, PassView
from headgate.schema.values import Listed, Page

router = APIRouter(prefix="/api/mirrors", tags=["mirrors"], route_class=BoundedRoute)
of_pass = APIRouter(prefix="/api/passes", tags=["mirrors"], route_class=BoundedRoute)


def own_mirrors(who: CurrentUser, app_state: State) -> MirrorReads:
    """The mirrors that the caller may see."""
    return MirrorReads(app_state.store, app_state.settings.gate_limits, who.sees)


def mirror_number(
    mirror_id: Annotated[str, Path(alias="mirrorId", description="The id of a mirror.")],
) -> int:
    number = number_in(mirror_id)
    if number is None:
        raise UnknownMirror(f"mirror {mirror_id[:40]!r} not found")
    return number


def pass_number(job_id: JobId) -> int:
    number = number_in(job_id)
    if number is None:
        raise UnknownJob(f"pass {job_id[:40]!r} not found")
    return number


OwnMirrors = Annotated[MirrorReads, Depends(own_mirrors)]
MirrorNumber = Annotated[int, Depends(mirror_number)]
PassNumber = Annotated[int, Depends(pass_number)]


@router.get("", responses=documented())
async def ls(mirrors: OwnMirrors) -> Listed[MirrorView]:
    """List mirrors by name, each with its streams and its newest pass."""
    return Listed(items=await mirrors.ls())


@router.get("/{mirrorId}", responses=documented())
async def show(mirror_id: MirrorNumber, mirrors: OwnMirrors) -> MirrorDetail:
    """Show a mirror with the description of its source."""
    return await mirrors.get(mirror_id)


@router.delete("/{mirrorId}", responses=documented(409))
async def forget(mirror_id: MirrorNumber, who: Writer, mirrors: OwnMirrors) -> Forgotten:
    """Remove a mirror with its rows and history. Repeat the request until `done` is true."""
    return await mirrors.forget(mirror_id)


@router.get("/{mirrorId}/passes", responses=documented(), dependencies=[KeysetOnly])
async def passes(
    mirror_id: MirrorNumber,
    mirrors: OwnMirrors,
    page_size: PageSize = 20,
    after: After = None,
) -> Page[PassView]:
    """List the passes of a mirror, newest first."""
    return await mirrors.passes(mirror_id, PageOf(after, page_size))


@of_pass.get("/{jobId}", responses=documented())
async def show_pass(job_id: PassNumber, mirrors: OwnMirrors) -> PassView:
    """Show a pass with its checkpoints. Control it as the job of the same id."""
    return await mirrors.show(job_id)


@of_pass.get("/{jobId}/report", responses=documented())
async def report(job_id: PassNumber, mirrors: OwnMirrors) -> PassReport:
    """Report the sessions, throughput, failures, refusals and pace of a pass."""
    return await mirrors.report(job_id)
