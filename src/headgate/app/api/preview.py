"""`POST /api/preview`: the first rows of a file, before a job is created."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import msgspec
from fastapi import APIRouter, Request

from headgate.app.api.bodies import BoundedRoute, body_of
from headgate.app.api.handlers import require_handler
from headgate.app.api.identity import Writer
from headgate.app.api.job_request import JobFromSource, JobRequest, fields_in, job_request_in, valid
from headgate.app.api.problems import ProblemResponse, documented
from headgate.app.api.state import AppState, State
from headgate.app.api.upload import receive
from headgate.app.ingest_options import IngestOptions, request_encoding_message
from headgate.core.errors import BadSource, UsageError, WrongEncoding
from headgate.engine.rows import OnBadRow
from headgate.handlers.registry import HandlerInfo
from headgate.schema.jobs import BadRowView, Preview
from headgate.transfer.inspection import Inspection, inspect
from headgate.transfer.places.opening import open_place, require_allowed
from headgate.transfer.places.settings import PlaceSettings
from headgate.transfer.sources import ReadOptions, bytes_in

router = APIRouter(prefix="/api/preview", tags=["jobs"], route_class=BoundedRoute)

SHOWN = 20
LOOKED_AT_BYTES = 64 * 1_048_576
"""Larger remote files, in bytes, are not copied for a preview."""
PATIENCE_S = 30.0
"""Seconds that copying a remote file may take: a user and a thread wait for it."""
SHORT_BYTES = 16 * 1_024
"""Text files up to this size, in bytes, are read in a thread: it takes few milliseconds. Any other
file is read by another process, because a thread that parses holds up all requests."""
UNNAMED = "none"
"""Name of the handler while the user has not chosen one."""


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
    """Read the first rows of an uploaded or a remote file. Nothing is stored."""
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
        return asked, await first_rows(app_state, user, path, asked.reading())
    finally:
        await app_state.threads.uploads.run(upload.discard)


async def _of_source(
    app_state: AppState, user: str, body: bytearray
) -> tuple[JobRequest, Inspection]:
    asked = await app_state.threads.bodies.run(_asked_of_source, body)
    if not asked.source:
        raise ProblemResponse(422, "send a file, or its URL in `source`")
    require_allowed(asked.source, app_state.settings.places)
    folder = await app_state.threads.uploads.run(app_state.folder.new_upload)
    try:
        async with app_state.preview_copies.slot(user):
            path = await app_state.threads.copies.run(
                copy_for_preview, asked.source, app_state.settings.places, folder
            )
        return asked, await first_rows(app_state, user, path, asked.reading())
    finally:
        await app_state.threads.uploads.run(shutil.rmtree, folder, ignore_errors=True)


def _asked_of_source(body: bytearray) -> JobFromSource:
    fields = fields_in(body, most_items=0)
    return valid(JobFromSource, {**fields, "handler": fields.get("handler") or UNNAMED})


def copy_for_preview(url: str, settings: PlaceSettings, folder: Path) -> Path:
    """Copy a source into the folder. Raises BadSource if it is too large or too slow."""
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


async def first_rows(
    app_state: AppState, user: str, path: Path, reading: IngestOptions
) -> Inspection:
    """Return the first rows of a file, or raise BadSource."""
    async with app_state.previews.slot(user):
        try:
            options, limits = reading.options, app_state.settings.limits
            if is_short_text(path, options):
                return await app_state.threads.previews.run(inspect, path, options, limits)
            return await app_state.inspections.inspect(path, options, limits)
        except WrongEncoding as error:
            raise WrongEncoding(app_state.folder.without_paths(str(error)), error.fits) from error
        except (BadSource, UsageError) as error:
            raise BadSource(app_state.folder.without_paths(str(error))) from error


def is_short_text(path: Path, options: ReadOptions) -> bool:
    """Return whether a file is read faster here than by a process of its own."""
    return 0 < bytes_in(path, options.format) <= SHORT_BYTES


def renamed(found: Inspection, asked: JobRequest) -> list[str]:
    unknown = [name for name in asked.columns if name not in found.columns]
    if unknown:
        there = ", ".join(found.columns[:50])
        raise ProblemResponse(
            422, f"`columns` names {unknown[0]!r}, which the file does not have; it has: {there}"
        )
    names = [asked.columns.get(name, name) for name in found.columns]
    if len(set(names)) < len(names):
        raise ProblemResponse(422, "`columns` gives two columns the same name")
    return names


def require_rows(found: Inspection, asked: JobRequest) -> None:
    """Refuse a file if no row that was read is valid, or if one is invalid where none may be."""
    if found.misread is not None:
        raise WrongEncoding(request_encoding_message(found.misread.fits), found.misread.fits)
    if not found.problems:
        return
    line, problem = min(found.problems.items())
    if asked.on_bad_row is OnBadRow.FAIL:
        raise ProblemResponse(422, f"line {line:,}: {problem}")
    if len(found.problems) >= len(found.rows):
        raise ProblemResponse(422, f"no row is valid; line {line:,}: {problem}")


def require_columns(found: Inspection, asked: JobRequest, handler: HandlerInfo) -> None:
    """Refuse a file without a key column or without a column that the handler needs."""
    names = renamed(found, asked)
    for name in (*asked.key_columns(), *handler.needs):
        if name not in names:
            why = "the key" if name in asked.key_columns() else f"handler {handler.name}"
            there = ", ".join(names[:50])
            raise ProblemResponse(422, f"{why} needs a column {name!r}; the file has: {there}")
