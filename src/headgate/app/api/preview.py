"""A look into a file before anything is made of it."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from fastapi import APIRouter, Request

from headgate.app.api.bodies import BoundedRoute, body_of
from headgate.app.api.handlers import require_handler
from headgate.app.api.identity import Writer
from headgate.app.api.job_request import JobFromSource, JobRequest, fields_in, job_request_in, valid
from headgate.app.api.models import ResponseModel
from headgate.app.api.problems import ProblemResponse, documented
from headgate.app.api.state import AppState, State
from headgate.app.api.upload import receive
from headgate.app.encoding_text import for_request
from headgate.app.ingest_options import IngestOptions
from headgate.core.errors import BadSource, UsageError, WrongEncoding
from headgate.engine.rows import OnBadRow
from headgate.handlers.info import HandlerInfo
from headgate.transfer.inspection import Inspection, inspect
from headgate.transfer.places.opening import open_place, require_allowed
from headgate.transfer.places.settings import PlaceSettings

router = APIRouter(prefix="/api/preview", tags=["jobs"], route_class=BoundedRoute)

SHOWN = 20
LOOKED_AT_BYTES = 64 * 1_048_576
"""A larger source elsewhere is not copied for a look alone."""
PATIENCE_S = 30.0
"""Nor is one that comes more slowly: somebody waits, and a thread with them."""
UNNAMED = "none"
"""In place of a handler while none is chosen."""


class BadRowView(ResponseModel):
    """A row that cannot be used as it is."""

    row: int
    problem: str


class Preview(ResponseModel):
    """The beginning of a file."""

    format: str
    columns: list[str]
    rows: list[dict[str, Any]]
    problems: list[BadRowView]
    notes: list[str]
    missing: list[str]
    """Columns that the handler needs and the file does not have."""
    sheets: list[str]
    """Those of a workbook."""
    misread: bool
    """The text is not in the encoding that it was read in, and none was stated."""
    encoding: str | None
    """One that it fits, to be stated as `read.encoding`; null: none that we know of."""


_JSON_TEXT = {"type": "string", "contentMediaType": "application/json"}
BODY = {
    "required": True,
    "content": {
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "required": ["file"],
                "properties": {
                    "file": {"type": "string", "format": "binary"},
                    "handler": {"type": "string"},
                    "read": _JSON_TEXT,
                    "columns": _JSON_TEXT,
                },
            }
        },
        "application/json": {
            "schema": {
                "type": "object",
                "required": ["source"],
                "properties": {
                    "source": {"type": "string", "maxLength": 2_000},
                    "handler": {"type": "string"},
                    "read": {"type": "object"},
                    "columns": {"type": "object", "additionalProperties": {"type": "string"}},
                },
            }
        },
    },
}


@router.post("", responses=documented(408, 413, 415), openapi_extra={"requestBody": BODY})
async def preview(request: Request, who: Writer, app_state: State) -> Preview:
    """Read the first rows of a file that is sent, or lies elsewhere; nothing is kept."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json":
        asked, found = await _of_source(app_state, who.name, await body_of(request, who.name))
    else:
        asked, found = await _of_upload(app_state, who.name, request)
    named = asked.handler != UNNAMED
    return _shown(found, asked, require_handler(app_state, asked.handler).needs if named else ())


async def _of_upload(
    app_state: AppState, user: str, request: Request
) -> tuple[JobRequest, Inspection]:
    async with app_state.uploads.slot(user):
        upload = await receive(request, app_state)
    try:
        asked = job_request_in(
            {**upload.fields, "handler": upload.fields.get("handler") or UNNAMED}
        )
        upload.require_files()
        path = upload.folder if len(upload.files) > 1 else upload.files[0].path
        return asked, await look(app_state, user, path, asked.reading())
    finally:
        await app_state.threads.uploads.run(upload.discard)


async def _of_source(
    app_state: AppState, user: str, body: bytearray
) -> tuple[JobRequest, Inspection]:
    asked = await app_state.threads.bodies.run(_asked_of_source, body)
    if not asked.source:
        raise ProblemResponse(422, "send a file, or name its place in `source`")
    require_allowed(asked.source, app_state.settings.places)
    folder = await app_state.threads.uploads.run(app_state.folder.new_upload)
    try:
        async with app_state.preview_copies.slot(user):
            path = await app_state.threads.copies.run(
                copy_to_look_at, asked.source, app_state.settings.places, folder
            )
        return asked, await look(app_state, user, path, asked.reading())
    finally:
        await app_state.threads.uploads.run(shutil.rmtree, folder, ignore_errors=True)


def _asked_of_source(body: bytearray) -> JobFromSource:
    fields = fields_in(body, most_items=0)
    return valid(JobFromSource, {**fields, "handler": fields.get("handler") or UNNAMED})


def copy_to_look_at(url: str, settings: PlaceSettings, folder: Path) -> Path:
    """A copy of a source in the folder; BadSource if it is too large or comes too slowly."""
    look_s, fetch_s = min(settings.look_s, PATIENCE_S), min(settings.fetch_s, PATIENCE_S)
    place = open_place(url, msgspec.structs.replace(settings, look_s=look_s, fetch_s=fetch_s))
    target = folder / place.stat(url).name
    return place.fetch(url, target, limit_bytes=LOOKED_AT_BYTES).path


def _shown(found: Inspection, asked: JobRequest, needs: Sequence[str]) -> Preview:
    columns = renamed(found, asked)
    names = asked.columns
    return Preview(
        format=found.format,
        columns=columns,
        rows=[
            {names.get(name, name): value for name, value in row.items()}
            for row in found.rows[:SHOWN]
        ],
        problems=[
            BadRowView(row=line, problem=problem)
            for line, problem in sorted(found.problems.items())[:SHOWN]
        ],
        notes=list(found.notes),
        missing=[name for name in needs if name not in columns],
        sheets=list(found.sheets),
        misread=found.misread is not None,
        encoding=found.misread.fits if found.misread else None,
    )


async def look(app_state: AppState, user: str, path: Path, reading: IngestOptions) -> Inspection:
    """The first rows of a file, or BadSource saying what is wrong with it."""
    async with app_state.previews.slot(user):
        try:
            return await app_state.threads.looks.run(
                inspect, path, reading.options, app_state.settings.limits
            )
        except WrongEncoding as error:
            raise WrongEncoding(app_state.folder.without_paths(str(error)), error.fits) from error
        except (BadSource, UsageError) as error:
            raise BadSource(app_state.folder.without_paths(str(error))) from error


def renamed(found: Inspection, asked: JobRequest) -> list[str]:
    """The columns under the names that they will have."""
    unknown = [name for name in asked.columns if name not in found.columns]
    if unknown:
        there = ", ".join(found.columns[:50])
        raise ProblemResponse(
            422, f"`columns` names {unknown[0]!r}, which is not there; there are: {there}"
        )
    names = [asked.columns.get(name, name) for name in found.columns]
    if len(set(names)) < len(names):
        raise ProblemResponse(422, "`columns` gives two columns the same name")
    return names


def require_rows(found: Inspection, asked: JobRequest) -> None:
    """Refuse a file whose rows are bad as far as we looked, or one where none may be."""
    if found.misread is not None:
        raise WrongEncoding(for_request(found.misread.fits), found.misread.fits)
    if not found.problems:
        return
    line, problem = min(found.problems.items())
    if asked.on_bad_row is OnBadRow.FAIL:
        raise ProblemResponse(422, f"line {line:,}: {problem}")
    if len(found.problems) >= len(found.rows):
        raise ProblemResponse(422, f"no row can be used as it is; line {line:,}: {problem}")


def require_columns(found: Inspection, asked: JobRequest, handler: HandlerInfo) -> None:
    """Refuse a file that lacks a column of the key, or one that the handler needs."""
    names = renamed(found, asked)
    for name in (*asked.key_columns(), *handler.needs):
        if name not in names:
            why = "the key" if name in asked.key_columns() else f"handler {handler.name}"
            there = ", ".join(names[:50])
            raise ProblemResponse(422, f"{why} needs a column {name!r}; there are: {there}")
