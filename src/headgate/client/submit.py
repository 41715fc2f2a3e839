"""New jobs: from files, from sources elsewhere, or from items in the request."""

import mimetypes
import secrets
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import aiohttp
import msgspec

from headgate.client.transport import ApiRequest, Transport, as_json
from headgate.core.errors import UsageError
from headgate.schema.jobs import Accepted, Preview

PREVIEWED = frozenset({"handler", "read", "columns"})


class NewJob(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """The handler of a new job, and how to read its rows."""

    handler: str
    """A name that `client.handlers()` lists."""
    name: str = ""
    key: Sequence[str] = ()
    """The columns that identify a row; empty: its position in the source."""
    config: Mapping[str, Any] = {}
    read: Mapping[str, Any] = {}
    """How to read the file: `format`, `delimiter`, `encoding`, `sheet`."""
    columns: Mapping[str, str] = {}
    """New names for columns."""
    on_bad_row: str | None = None
    priority: int = 0
    eager: bool = False
    """Start before the source is read to its end."""
    reuse: str | None = None
    """Highest age of earlier results to reuse, such as `30d`."""


class SubmitClient:
    """Ways to make a job. Each request has an idempotency key, so a repeat makes no second job.

    `once` is that key, for programs that may be restarted; without it a new key is made.
    """

    def __init__(self, wire: Transport) -> None:
        self._wire = wire

    async def files(self, job: NewJob, *paths: str | Path, once: str | None = None) -> str:
        """Upload files; return the job's id."""
        form = _form_maker(_fields(job), paths)
        return await self._made(form, {}, once)

    async def source(self, job: NewJob, source: str, once: str | None = None) -> str:
        """Let the server read `file:`, `s3:`, `ftp:`, `sftp:` or `https:`; return the job's id."""
        body, headers = as_json({**_values(job), "source": source})
        return await self._made(body, headers, once)

    async def items(
        self, job: NewJob, items: Sequence[Mapping[str, Any]], once: str | None = None
    ) -> str:
        """Send items in the request; return the job's id."""
        body, headers = as_json({**_values(job), "items": items})
        return await self._made(body, headers, once)

    async def preview(self, job: NewJob, *paths: str | Path) -> Preview:
        """Return the first rows of a file; the server stores nothing."""
        shown = {name: text for name, text in _fields(job).items() if name in PREVIEWED}
        ask = ApiRequest(
            method="POST", path="/api/preview", body=_form_maker(shown, paths), again=True
        )
        return await self._wire.value(ask, Preview)

    async def preview_source(self, job: NewJob, source: str) -> Preview:
        """Return the first rows of a source elsewhere."""
        shown = {name: value for name, value in _values(job).items() if name in PREVIEWED}
        body, headers = as_json({**shown, "source": source})
        ask = ApiRequest(method="POST", path="/api/preview", body=body, headers=headers, again=True)
        return await self._wire.value(ask, Preview)

    async def _made(
        self, body: Callable[[], Any], headers: Mapping[str, str], once: str | None
    ) -> str:
        keyed = {**headers, "Idempotency-Key": once or secrets.token_hex(16)}
        ask = ApiRequest(method="POST", path="/api/jobs", body=body, headers=keyed, again=True)
        return (await self._wire.value(ask, Accepted)).job_id


def _values(job: NewJob) -> dict[str, Any]:
    values: dict[str, Any] = msgspec.to_builtins(job)
    return values


def _fields(job: NewJob) -> dict[str, str]:
    """The job as form fields: lists of names with commas, everything else as JSON."""
    values = _values(job)
    key = values.pop("key", ())
    texts = {
        name: value if isinstance(value, str) else msgspec.json.encode(value).decode()
        for name, value in values.items()
    }
    return texts | ({"key": ",".join(key)} if key else {})


def _form_maker(
    fields: Mapping[str, str], paths: Sequence[str | Path]
) -> Callable[[], aiohttp.FormData]:
    files = [Path(path) for path in paths]
    if not files:
        raise UsageError("name a file to send")
    for path in files:
        if not path.is_file():
            raise UsageError(f"the file {path} does not exist")

    def form() -> aiohttp.FormData:
        made = aiohttp.FormData(quote_fields=False)
        for name, text in fields.items():
            made.add_field(name, text)
        for path in files:
            kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
            # aiohttp reads the file in pieces, in a thread, and closes it at the end.
            made.add_field("file", path.open("rb"), filename=_sent_name(path), content_type=kind)
        return made

    return form


def _sent_name(path: Path) -> str:
    return "".join(char if char.isprintable() else "_" for char in path.name)
