"""What a lookup is described by: the words of its TOML file, or of `lookup` in a job's config."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from headgate.core.bounds import Count, Seconds
from headgate.core.provider import Line

Name = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_.-]{1,64}$")]
Text = Annotated[str, Meta(max_length=8_000)]
Path = Annotated[str, Meta(min_length=1, max_length=500)]
"""A JMESPath expression."""
ColumnName = Annotated[str, Meta(min_length=1, max_length=200)]
Variable = Annotated[str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,127}$")]
AnyStatus = Annotated[int, Meta(ge=200, le=599)]
Bytes = Annotated[int, Meta(ge=1, le=1_000_000_000)]


class Method(StrEnum):
    """How a service is asked."""

    GET = "GET"
    HEAD = "HEAD"
    POST = "POST"
    PUT = "PUT"
    PATCH = "PATCH"
    DELETE = "DELETE"


class Step(StrEnum):
    """What is done to a value before it is asked with."""

    TRIM = "trim"
    LOWER = "lower"
    UPPER = "upper"
    COLLAPSE = "collapse"
    NFC = "nfc"
    NUMBER = "number"


class Word(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A struct of the description; unknown words in it are refused."""


class Secret(Word, frozen=True):
    """A value that stands in an environment variable of the workers."""

    env: Variable
    """The variable."""
    prefix: Line = ""
    """What comes before its value, such as `Bearer `."""


Value = Text | int | float | bool
"""A template, or a value as it is."""


class Request(Word, frozen=True):
    """The request for a row. `{column}` stands for a value of the row."""

    url: Text
    method: Method = Method.GET
    params: Mapping[str, Value | Secret] = {}
    """Added to the URL."""
    headers: Mapping[str, Text | Secret] = {}
    json: Any = None
    """The body: a value whose texts are templates, sent as JSON."""
    form: Mapping[str, Value] = {}
    """The body: a form."""
    body: Literal["", "file"] = ""
    """The body: `file` sends the stored file that the row names."""
    file_column: ColumnName = "ref"
    """The column that names the stored file."""
    file_bytes: Bytes = 32 * 1024 * 1024
    """A larger file is not sent."""


class Variant(Word, frozen=True):
    """Another way to ask; what it says stands in place of what the request says."""

    name: Annotated[str, Meta(max_length=100)] = ""
    url: Text | None = None
    params: Mapping[str, Value | Secret] | None = None
    headers: Mapping[str, Text | Secret] | None = None
    json: Any = None
    form: Mapping[str, Value] | None = None


class NotFoundWhen(Word, frozen=True):
    """Which replies mean that there is nothing."""

    statuses: tuple[AnyStatus, ...] = (404, 410)
    empty: Annotated[str, Meta(max_length=500)] = ""
    """A JMESPath expression: nothing was found if it gives nothing, false, or something empty."""


class Column(Word, frozen=True):
    """Where the value of a column comes from: one of these."""

    path: Annotated[str, Meta(max_length=500)] = ""
    """A JMESPath expression over the reply."""
    header: Annotated[str, Meta(max_length=100)] = ""
    """A header of the reply."""
    status: bool = False
    """The status of the reply."""


class ReviewWhen(Word, frozen=True):
    """When a person has to choose, and between what."""

    candidates: Path
    """A JMESPath expression over the reply that gives a list."""
    when: Annotated[str, Meta(max_length=500)] = ""
    """Ask only if this gives something that is neither false nor empty; else if there are two."""
    id: Path = "id"
    """Over one candidate."""
    name: Path = "name"
    """Over one candidate."""
    score: Path = "score"
    """Over one candidate."""
    columns: Mapping[ColumnName, Path] = {}
    """Over one candidate: what becomes the result if it is chosen; else its plain members."""


class Description(Word, frozen=True):
    """A whole lookup."""

    request: Request
    columns: Mapping[ColumnName, Path | Column]
    """The columns of the result."""
    name: Annotated[str, Meta(pattern=r"^([A-Za-z0-9_.-]{1,64})?$")] = ""
    """What jobs ask for it by; else the name of the file."""
    about: Annotated[str, Meta(max_length=300)] = ""
    """What it does, in a line."""
    variants: Annotated[tuple[Variant, ...], Meta(max_length=20)] = ()
    """Ways to ask, tried in order while nothing is found."""
    not_found: NotFoundWhen = NotFoundWhen()
    review: ReviewWhen | None = None
    normalize: Mapping[ColumnName, tuple[Step, ...]] = {}
    """What is done to a column's values before they are asked with."""
    reply: Literal["json", "text"] = "json"
    """What the reply is; of `text`, expressions see `{"text": …}`."""
    reply_bytes: Bytes = 4 * 1024 * 1024
    """A larger reply is not read."""
    host_from_data: bool = False
    """Let rows say which host is asked."""
    cost: Mapping[Name, Annotated[float, Meta(ge=0)] | Text] = {}
    """What a request is expected to take from the budgets of its provider, such as `tokens`: a
    number, or a template that gives one."""
    spend: Mapping[Name, Path] = {}
    """What it really took: JMESPath expressions over the reply."""
    provider: Annotated[str, Meta(pattern=r"^([A-Za-z0-9_.-]{1,64})?$")] = ""
    """The provider whose settings and credentials hold."""
    rate: str = ""
    """The most requests, such as `5/s`, where the settings say nothing."""
    burst: Count | None = None
    concurrency: Count | None = None
    timeout: Seconds | None = None
    """Seconds for one row."""
