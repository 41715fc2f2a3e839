"""Request models of a new job, and their parsing within limits."""

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

import msgspec
from pydantic import Field, ValidationError

from headgate.app.api.bodies import REFUSED, holds_nul
from headgate.app.api.models import RequestModel, Whole
from headgate.app.api.problems import ProblemResponse
from headgate.app.ingest_options import IngestOptions
from headgate.core.job import LONGEST_FIELD
from headgate.core.time_text import parse_span
from headgate.engine.job_runtime import REUSE
from headgate.engine.rows import OnBadRow
from headgate.transfer.sources import ReadOptions

MOST_KEYS = 20
LISTS = frozenset({"items", "lines", "problems"})
"""Fields with one entry per item."""

Key = Annotated[
    str | list[str] | None,
    Field(description="Columns that identify a row: a list, or names separated by commas."),
]


class JobRequest(RequestModel):
    handler: str = Field(max_length=200)
    name: str = Field("", max_length=200)
    key: Key = None
    config: dict[str, Any] = Field(default_factory=dict)
    read: dict[str, Any] = Field(
        default_factory=dict,
        description="How to read the file: `format`, `delimiter`, `encoding`, `sheet`.",
    )
    columns: dict[str, str] = Field(
        default_factory=dict, description='New names of columns: `{"Title": "title"}`.'
    )
    on_bad_row: OnBadRow = Field(OnBadRow.ITEM_ERROR, strict=False)
    priority: Whole = Field(0, ge=-10, le=10)
    eager: bool = Field(default=False, description="Start before the whole source is read.")
    reuse: str | None = Field(
        None, max_length=20, description="Reuse results up to this age.", examples=["30d"]
    )

    def key_columns(self) -> tuple[str, ...]:
        given = self.key.split(",") if isinstance(self.key, str) else self.key or []
        names = tuple(name.strip() for name in given if name.strip())
        if len(names) > MOST_KEYS:
            raise ProblemResponse(422, f"a key can have at most {MOST_KEYS} columns")
        return names

    def reading(self) -> IngestOptions:
        try:
            options = msgspec.convert(self.read, ReadOptions)
        except msgspec.ValidationError as error:
            raise ProblemResponse(422, f"`read`: {str(error).replace('`', '')}") from error
        return IngestOptions(options, self.columns, self.on_bad_row)

    def stored_config(self) -> Mapping[str, Any]:
        reuse = self.reuse or self.config.get(REUSE)
        if reuse is None:
            return self.config
        try:
            parse_span(str(reuse))
        except ValueError as error:
            raise ProblemResponse(422, f"`reuse`: {error}") from error
        return {**self.config, REUSE: str(reuse)}


class JobFromSource(JobRequest):
    """A job over a remote source, or over items in the request."""

    source: str | None = Field(
        None,
        max_length=2_000,
        description="`file:`, `s3:`, `ftp:`, `sftp:` or `https:`.",
        examples=["s3://bucket/products.csv"],
    )
    items: list[dict[str, Any]] | None = None


FIELDS = frozenset(
    {
        "handler",
        "name",
        "key",
        "config",
        "read",
        "columns",
        "onBadRow",
        "priority",
        "eager",
        "reuse",
    }
)
IN_JSON = frozenset({"config", "read", "columns", "priority", "eager"})
"""Form fields of an upload that hold JSON."""

Model = TypeVar("Model", bound=RequestModel)


def job_request_in(fields: Mapping[str, str]) -> JobRequest:
    unknown = sorted(fields.keys() - FIELDS)
    if unknown:
        known = ", ".join(["file", *sorted(FIELDS)])
        raise ProblemResponse(422, f"unknown field {unknown[0][:40]!r}; the fields are {known}")
    values: dict[str, Any] = {}
    if holds_nul(dict(fields)):
        raise ProblemResponse(422, REFUSED)
    for name, text in fields.items():
        try:
            values[name] = msgspec.json.decode(text) if name in IN_JSON and text else text
        except (msgspec.DecodeError, RecursionError) as error:
            raise ProblemResponse(422, f"the field `{name}` is not JSON: {error}") from error
    given = {name: value for name, value in values.items() if value != ""}
    return valid(JobRequest, given)


def valid(model: type[Model], values: Any) -> Model:
    """Validate values. Raises 422 that names the field."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        problems = [
            {"field": ".".join(str(part) for part in each["loc"]), "problem": each["msg"]}
            for each in error.errors()
        ]
        first = problems[0]
        raise ProblemResponse(
            422, f"{first['field']}: {first['problem']}", errors=problems
        ) from error


def parsed(model: type[Model], body: bytearray, most_items: int) -> Model:
    """Parse a JSON body. Run in a thread: a body may be large."""
    fields = fields_in(body, most_items)
    if holds_nul({name: value for name, value in fields.items() if name not in LISTS}):
        raise ProblemResponse(422, REFUSED)
    return valid(model, fields)


def fields_in(body: bytearray, most_items: int) -> dict[str, Any]:
    """Split a JSON object into fields. A field is decoded only after its size was checked."""
    try:
        if body.lstrip()[:1] != b"{":
            msgspec.json.decode(body)
            raise ProblemResponse(422, "the body must be a JSON object")
        parts = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
        return {name: _value(name, part, most_items) for name, part in parts.items()}
    except msgspec.ValidationError as error:
        raise ProblemResponse(422, f"the body does not match the schema: {error}") from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise ProblemResponse(400, f"the body is not JSON: {error}") from error


def _value(name: str, part: msgspec.Raw, most_items: int) -> Any:
    if name in LISTS:
        members = msgspec.json.decode(part, type=list[msgspec.Raw] | None)
        if members is not None and len(members) > most_items:
            raise ProblemResponse(
                422, f"send at most {most_items:,} items in a request; upload more as a file"
            )
        # One by one, so that other threads can run in between.
        return None if members is None else [msgspec.json.decode(each) for each in members]
    if memoryview(part).nbytes > LONGEST_FIELD:
        raise ProblemResponse(413, f"`{name[:40]}` can have at most {LONGEST_FIELD // 1_024} kB")
    return msgspec.json.decode(part)
