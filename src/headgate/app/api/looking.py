"""A look into a file before anything is made of it."""

import asyncio
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request

from headgate.app.api.handlers import demand_handler
from headgate.app.api.identity import Writer
from headgate.app.api.job_asked import JobAsked, asked_in
from headgate.app.api.office import AtOffice, Office
from headgate.app.api.problems import Refusal, documented
from headgate.app.api.upload import receive
from headgate.app.api.wire import Wire
from headgate.app.reading import Reading
from headgate.core.errors import BadSource, UsageError
from headgate.engine.rows import OnBadRow
from headgate.handlers.info import HandlerInfo
from headgate.transfer.inspection import Inspection, inspect

router = APIRouter(prefix="/api/preview", tags=["jobs"])

SHOWN = 20
_at_once = asyncio.Semaphore(4)


class BadRowView(Wire):
    """A row that cannot be used as it is."""

    row: int
    problem: str


class Preview(Wire):
    """The beginning of a file."""

    format: str
    columns: list[str]
    rows: list[dict[str, Any]]
    problems: list[BadRowView]
    notes: list[str]
    missing: list[str]
    """Columns that the handler needs and the file does not have."""


@router.post(
    "",
    responses=documented(408, 413, 415),
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "multipart/form-data": {
                    "schema": {
                        "type": "object",
                        "required": ["file"],
                        "properties": {
                            "file": {"type": "string", "format": "binary"},
                            "handler": {"type": "string"},
                            "read": {"type": "string", "contentMediaType": "application/json"},
                            "columns": {"type": "string", "contentMediaType": "application/json"},
                        },
                    }
                }
            },
        }
    },
)
async def preview(request: Request, who: Writer, office: AtOffice) -> Preview:
    """Read the first rows of a file; nothing is kept."""
    limit = office.settings.server.upload_mb * 1_048_576
    async with office.uploads:
        upload = await receive(request, office.folder, limit)
    try:
        handler = upload.fields.get("handler")
        asked = asked_in({**upload.fields, "handler": handler or "none"})
        upload.demand_files()
        path = upload.folder if len(upload.files) > 1 else upload.files[0].path
        found = await look(office, path, asked.reading())
        needs = demand_handler(office, handler).needs if handler else ()
    finally:
        await asyncio.to_thread(upload.discard)
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
    )


async def look(office: Office, path: Path, reading: Reading) -> Inspection:
    """The first rows of a file, or BadSource saying what is wrong with it."""
    async with _at_once:
        try:
            return await asyncio.to_thread(inspect, path, reading.options, office.settings.limits)
        except (BadSource, UsageError) as error:
            raise BadSource(office.folder.without_paths(str(error))) from error


def renamed(found: Inspection, asked: JobAsked) -> list[str]:
    """The columns under the names that they will have."""
    unknown = [name for name in asked.columns if name not in found.columns]
    if unknown:
        there = ", ".join(found.columns[:50])
        raise Refusal(
            422, f"`columns` names {unknown[0]!r}, which is not there; there are: {there}"
        )
    names = [asked.columns.get(name, name) for name in found.columns]
    if len(set(names)) < len(names):
        raise Refusal(422, "`columns` gives two columns the same name")
    return names


def demand_rows(found: Inspection, asked: JobAsked) -> None:
    """Refuse a file whose rows are bad as far as we looked, or one where none may be."""
    if not found.problems:
        return
    line, problem = min(found.problems.items())
    if asked.on_bad_row is OnBadRow.FAIL:
        raise Refusal(422, f"line {line:,}: {problem}")
    if len(found.problems) >= len(found.rows):
        raise Refusal(422, f"no row can be used as it is; line {line:,}: {problem}")


def demand_columns(found: Inspection, asked: JobAsked, handler: HandlerInfo) -> None:
    """Refuse a file that lacks a column of the key, or one that the handler needs."""
    names = renamed(found, asked)
    for name in (*asked.key_columns(), *handler.needs):
        if name not in names:
            why = "the key" if name in asked.key_columns() else f"handler {handler.name}"
            there = ", ".join(names[:50])
            raise Refusal(422, f"{why} needs a column {name!r}; there are: {there}")
