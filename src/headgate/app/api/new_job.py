"""`POST /api/jobs`: a new job from an upload, a source URL or items in the request."""

import hashlib
from pathlib import Path
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Header, Request, Response

from headgate.app.api.bodies import MB, BoundedRoute, body_of, takes
from headgate.app.api.handlers import configured, require_handler
from headgate.app.api.identity import Admin, Principal, Writer, client_of
from headgate.app.api.job_request import (
    JobFromSource,
    JobRequest,
    job_request_in,
    parsed,
)
from headgate.app.api.preview import first_rows, require_columns, require_rows
from headgate.app.api.problems import ProblemResponse, documented
from headgate.app.api.state import AppState, State
from headgate.app.api.upload import Upload, receive
from headgate.core.job import Job, NewJob, Once, OwnerCaps
from headgate.core.words import counted
from headgate.engine.rows import OnBadRow
from headgate.handlers.registry import HandlerInfo
from headgate.schema.jobs import Accepted, Arrived, Scanned
from headgate.transfer.places.opening import require_allowed

router = APIRouter(prefix="/api/jobs", tags=["jobs"], route_class=BoundedRoute)
ingestion = APIRouter(prefix="/api/ingestion", tags=["jobs"], route_class=BoundedRoute)

INLINE = "items.jsonl"
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=200,
        description="Repeating a request with the same key does not create a second job.",
    ),
]


_JSON_TEXT = {"type": "string", "contentMediaType": "application/json"}
UPLOAD_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["file", "handler"],
    "additionalProperties": False,
    "properties": {
        "file": {"type": "array", "minItems": 1, "items": {"type": "string", "format": "binary"}},
        "handler": {"type": "string"},
        "name": {"type": "string"},
        "key": {"type": "string"},
        "config": _JSON_TEXT,
        "read": _JSON_TEXT,
        "columns": _JSON_TEXT,
        "onBadRow": {"type": "string", "enum": [*OnBadRow]},
        "priority": {"type": "integer", "minimum": -10, "maximum": 10},
        "eager": {"type": "boolean"},
        "reuse": {"type": "string"},
    },
}
BODY = {
    "required": True,
    "content": {
        "multipart/form-data": {"schema": UPLOAD_SCHEMA},
        "application/json": {"schema": {"$ref": "#/components/schemas/JobFromSource"}},
    },
}


class JobDraft(msgspec.Struct, frozen=True):
    asked: JobRequest
    handler: HandlerInfo
    source: str
    file: str
    digest: str


@router.post(
    "",
    status_code=202,
    responses=documented(408, 409, 413, 415),
    openapi_extra={"requestBody": BODY},
)
@takes(16 * MB, values=1_000_000)
async def create(
    request: Request,
    response: Response,
    who: Writer,
    app_state: State,
    idempotency_key: IdempotencyKey = None,
) -> Accepted:
    """Create a job from an upload, a source URL or inline items. It is read in the background."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    maker = _Maker(app_state, who, client_of(request, app_state), idempotency_key)
    if kind == "multipart/form-data":
        async with app_state.uploads.slot(who.name):
            job = await maker.from_upload(await receive(request, app_state))
    elif kind == "application/json":
        job = await maker.from_json(await body_of(request, who.name))
    else:
        raise ProblemResponse(415, "send multipart/form-data with a file, or application/json")
    await app_state.store.notifier.ring()
    response.headers["Location"] = f"/api/jobs/{job.id}"
    return Accepted(job_id=str(job.id))


def _digest(body: bytearray) -> str:
    return hashlib.blake2b(body, digest_size=16).hexdigest()


def _write_lines(path: Path, items: list[dict[str, Any]]) -> None:
    path.write_bytes(msgspec.json.Encoder().encode_lines(items))


class _Maker:
    """The steps from a request to a stored job."""

    def __init__(self, app_state: AppState, who: Principal, client: str, once: str | None) -> None:
        self._app_state = app_state
        self._who = who
        self._client = client
        self._once = once

    async def from_upload(self, upload: Upload) -> Job:
        try:
            asked = job_request_in(upload.fields)
            upload.require_files()
            return await self._over(upload, asked, upload.digest())
        except BaseException:
            await self._app_state.threads.uploads.run(upload.discard)
            raise

    async def from_json(self, body: bytearray) -> Job:
        most, bodies = self._app_state.settings.server.inline_items, self._app_state.threads.bodies
        asked = await bodies.run(parsed, JobFromSource, body, most)
        if (asked.source is None) == (asked.items is None):
            raise ProblemResponse(422, "send either `source` or `items`")
        digest = await bodies.run(_digest, body)
        if asked.items is not None:
            return await self._from_items(asked, asked.items, digest)
        handler = self._handler(asked)
        source = asked.source or ""
        require_allowed(source, self._app_state.settings.places)
        name = source.partition("?")[0].rstrip("/").rpartition("/")[2]
        return await self._create(JobDraft(asked, handler, source, name, digest))

    async def _from_items(self, asked: JobRequest, items: list[dict[str, Any]], digest: str) -> Job:
        most = self._app_state.settings.server.inline_items
        if not 0 < len(items) <= most:
            raise ProblemResponse(
                422, f"send 1 to {most:,} items in a request; upload more as a file"
            )
        uploads = self._app_state.threads.uploads
        folder = await uploads.run(self._app_state.folder.new_upload)
        upload = Upload(folder, [], {})
        try:
            await uploads.run(_write_lines, folder / INLINE, items)
            return await self._over(upload, asked, digest, INLINE)
        except BaseException:
            await self._app_state.threads.uploads.run(upload.discard)
            raise

    async def _over(self, upload: Upload, asked: JobRequest, digest: str, inline: str = "") -> Job:
        """Create a job over files in our own folder, if they can be read."""
        handler = self._handler(asked)
        files = upload.files
        name = inline or (files[0].path.name if len(files) == 1 else "")
        path: Path = upload.folder / name if name else upload.folder
        found = await first_rows(self._app_state, self._who.name, path, asked.reading())
        require_columns(found, asked, handler)
        require_rows(found, asked)
        source = self._app_state.folder.source_of(upload.folder, name)
        shown = "" if inline else files[0].name if len(files) == 1 else counted(len(files), "file")
        job = await self._create(JobDraft(asked, handler, source, shown, digest))
        if job.source != source:  # created before, with the same key
            await self._app_state.threads.uploads.run(upload.discard)
        return job

    def _handler(self, asked: JobRequest) -> HandlerInfo:
        app_state = self._app_state
        handler = require_handler(app_state, asked.handler)
        return configured(app_state, handler, asked.config, self._who.name)

    async def _create(self, draft: JobDraft) -> Job:
        policy, asked = self._app_state.settings.server, draft.asked
        new = NewJob(
            handler=draft.handler.name,
            source=draft.source,
            name=asked.name or f"{draft.handler.name} {draft.file}".strip(),
            owner=self._who.name,
            key_columns=asked.key_columns(),
            config=asked.stored_config(),
            priority=asked.priority,
            eager=asked.eager,
            reading=msgspec.to_builtins(asked.reading()),
            file=draft.file,
            client=self._client,
            once=Once(f"request:{self._once}", draft.digest) if self._once else None,
            caps=OwnerCaps(policy.unfinished_jobs_per_user, policy.open_items_per_user),
        )
        return await self._app_state.store.jobs.create_job(new)


@ingestion.post("/scan", responses=documented())
async def scan(who: Admin, app_state: State) -> Scanned:
    """Look for new files and create one job for each. A file is used once."""
    found = await app_state.scanner.scan(settle=True)
    return Scanned(
        jobs=[Arrived(source=source, job_id=str(job_id)) for source, job_id in found.made],
        known=found.known,
        problems=list(found.problems),
    )
