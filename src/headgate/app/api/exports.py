"""Exports: files of all rows of a job, written from the database in the background."""

from typing import Annotated, Literal
from urllib.parse import quote

import msgspec
from fastapi import APIRouter, Header, Path, Query, Response
from starlette.responses import FileResponse

from headgate.app.api.bodies import BoundedRoute
from headgate.app.api.identity import Writer
from headgate.app.api.params import OwnJob, number_in
from headgate.app.api.problems import ProblemResponse, documented
from headgate.app.api.state import AppState, State
from headgate.app.api.struct_route import JSON, reference_to
from headgate.app.data_folder import safe_name
from headgate.core.errors import UnknownExport
from headgate.core.job import Job
from headgate.core.time_text import moment
from headgate.ports.exports import ExportRecord, ExportState, NewExport
from headgate.schema.jobs import ExportView
from headgate.schema.values import Listed
from headgate.transfer.formats.registry import FORMATS, WrittenFormat

router = APIRouter(prefix="/api/jobs", tags=["exports"], route_class=BoundedRoute)

EXCEL = WrittenFormat("xlsx")
BINARY = {"type": "string", "format": "binary"}


ExportId = Annotated[str, Path(alias="exportId", max_length=40)]


@router.post("/{jobId}/export", status_code=202, responses=documented())
async def ask(
    job: OwnJob,
    who: Writer,
    app_state: State,
    export_format: Annotated[WrittenFormat, Query(alias="format")] = EXCEL,
    formulas: Annotated[
        Literal["neutral", "raw"],
        Query(
            description="`raw` keeps cells that a spreadsheet would run; `neutral` escapes them."
        ),
    ] = "neutral",
) -> ExportView:
    """Request a file of all rows. It is written in the background, from the database."""
    cap = app_state.settings.server.unfinished_exports_per_user
    new = NewExport(job.id, export_format.value, who.name, {"formulas": formulas}, cap)
    record = await app_state.store.exports.ask_export(new)
    await app_state.store.notifier.ring()
    return export_view(record)


@router.get("/{jobId}/exports", responses=documented())
async def ls(job: OwnJob, app_state: State) -> Listed[ExportView]:
    """List the exports of a job, newest first."""
    records = await app_state.store.exports.exports(job.id)
    return Listed(items=[export_view(record) for record in records])


@router.get(
    "/{jobId}/exports/{exportId}",
    response_class=FileResponse,
    responses={
        **documented(),
        200: {
            "description": "The file, or with `Accept: application/json` the export's record.",
            "content": reference_to(ExportView)
            | {FORMATS[each].media_type: {"schema": BINARY} for each in WrittenFormat},
        },
        202: {
            "description": "The file is not finished; ask again.",
            "content": reference_to(ExportView),
        },
    },
)
async def fetch(
    job: OwnJob,
    export_id: ExportId,
    app_state: State,
    accept: Annotated[str, Header(description="`application/json` returns the record.")] = "*/*",
) -> Response:
    """Download an export, or read its progress. Supports range requests."""
    record = await _record(app_state, job, export_id)
    done = record.state is ExportState.DONE
    if done and JSON not in accept:
        return _file(app_state, job, record)
    waiting = record.state in {ExportState.QUEUED, ExportState.RUNNING}
    body = msgspec.json.encode(export_view(record))
    return Response(body, 202 if waiting else 200, media_type=JSON)


def _file(app_state: AppState, job: Job, record: ExportRecord) -> Response:
    path = app_state.folder.root / (record.file or "")
    if record.file is None or not path.is_file():
        raise ProblemResponse(
            404, "the file was deleted (exports are kept for a limited time); export again"
        )
    stem = safe_name((job.file or job.name or f"job-{job.id}").rpartition(".")[0] or job.name)
    name = f"{stem or f'job-{job.id}'}-results.{record.format}"
    return FileResponse(
        path,
        media_type=FORMATS[record.format].media_type,
        headers={
            "Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}",
            "X-Content-SHA256": record.sha256 or "",
            "X-Row-Count": str(record.rows),
        },
    )


async def _record(app_state: AppState, job: Job, export_id: str) -> ExportRecord:
    number = number_in(export_id)
    if number is None:
        raise UnknownExport(f"job {job.id} has no export {export_id[:40]!r}")
    return await app_state.store.exports.export(job.id, number)


def export_view(record: ExportRecord) -> ExportView:
    done = record.state is ExportState.DONE
    url = f"/api/jobs/{record.job_id}/exports/{record.id}" if done else None
    return ExportView(
        id=str(record.id),
        job_id=str(record.job_id),
        format=record.format,
        state=record.state,
        rows=record.rows,
        sha256=record.sha256,
        size=record.size,
        asked_by=record.asked_by,
        error=record.error,
        report=record.report or None,
        url=url,
        created_at=moment(record.created_at),
        finished_at=moment(record.finished_at),
    )
