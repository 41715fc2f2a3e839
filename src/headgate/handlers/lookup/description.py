"""The description of a lookup: the keys of its TOML file, or of `lookup` in a job's config.

`parse_description` explains which key is wrong and what to change.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from headgate.core.bounds import Count, Seconds
from headgate.core.errors import UsageError
from headgate.core.provider import Line
from headgate.handlers.words.parsing import parse_words

Name = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_.-]{1,64}$")]
Text = Annotated[str, Meta(max_length=8_000)]
Path = Annotated[str, Meta(min_length=1, max_length=500)]
"""A JMESPath expression."""
ColumnName = Annotated[str, Meta(min_length=1, max_length=200)]
Variable = Annotated[str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,127}$")]
AnyStatus = Annotated[int, Meta(ge=200, le=599)]
Bytes = Annotated[int, Meta(ge=1, le=1_000_000_000)]


class Method(StrEnum):
    GET = "GET"
    HEAD = "HEAD"
    POST = "POST"
    PUT = "PUT"
    PATCH = "PATCH"
    DELETE = "DELETE"


class Step(StrEnum):
    """Steps that normalize a value before it is sent."""

    TRIM = "trim"
    LOWER = "lower"
    UPPER = "upper"
    COLLAPSE = "collapse"
    NFC = "nfc"
    NUMBER = "number"


class Word(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A struct of the description; unknown keys are refused."""


class Secret(Word, frozen=True):
    """A value from an environment variable of the workers."""

    env: Variable
    """The variable."""
    prefix: Line = ""
    """Text before the value, such as `Bearer `."""


Value = Text | int | float | bool
"""A template, or a constant."""


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
    """Most bytes of a file; a larger one is not sent."""


class Variant(Word, frozen=True):
    """Another way to ask; its values replace those of the request."""

    name: Annotated[str, Meta(max_length=100)] = ""
    url: Text | None = None
    params: Mapping[str, Value | Secret] | None = None
    headers: Mapping[str, Text | Secret] | None = None
    json: Any = None
    form: Mapping[str, Value] | None = None


class NotFoundWhen(Word, frozen=True):
    """Which replies mean that nothing was found."""

    statuses: tuple[AnyStatus, ...] = (404, 410)
    empty: Annotated[str, Meta(max_length=500)] = ""
    """A JMESPath expression: nothing was found if its value is null, false or empty."""


class Column(Word, frozen=True):
    """The source of a column's value: give one of these."""

    path: Annotated[str, Meta(max_length=500)] = ""
    """A JMESPath expression over the reply."""
    header: Annotated[str, Meta(max_length=100)] = ""
    """A header of the reply."""
    status: bool = False
    """The status of the reply."""


class ReviewWhen(Word, frozen=True):
    """When a person has to choose, and the candidates."""

    candidates: Path
    """A JMESPath expression over the reply; its value is a list."""
    when: Annotated[str, Meta(max_length=500)] = ""
    """Ask only if the value is neither false nor empty; unset: if there are two candidates."""
    id: Path = "id"
    """A JMESPath expression over one candidate."""
    name: Path = "name"
    """A JMESPath expression over one candidate."""
    score: Path = "score"
    """A JMESPath expression over one candidate."""
    columns: Mapping[ColumnName, Path] = {}
    """Expressions over the chosen candidate that make the result; empty: its plain members."""


class Description(Word, frozen=True):
    """A whole lookup."""

    request: Request
    columns: Mapping[ColumnName, Path | Column]
    """The columns of the result."""
    name: Annotated[str, Meta(pattern=r"^([A-Za-z0-9_.-]{1,64})?$")] = ""
    """The name by which jobs refer to it; empty: the name of the file."""
    about: Annotated[str, Meta(max_length=300)] = ""
    """A one-line description."""
    variants: Annotated[tuple[Variant, ...], Meta(max_length=20)] = ()
    """Ways to ask, tried in order while nothing is found."""
    not_found: NotFoundWhen = NotFoundWhen()
    review: ReviewWhen | None = None
    normalize: Mapping[ColumnName, tuple[Step, ...]] = {}
    """Steps for a column's values before they are sent."""
    reply: Literal["json", "text"] = "json"
    """Format of the reply; for `text`, expressions see `{"text": …}`."""
    reply_bytes: Bytes = 4 * 1024 * 1024
    """Most bytes of a reply; a larger one is an error."""
    host_from_data: bool = False
    """Let rows name the host."""
    cost: Mapping[Name, Annotated[float, Meta(ge=0)] | Text] = {}
    """The expected cost of a request by budget of its provider, such as `tokens`: a number, or a
    template that gives one."""
    spend: Mapping[Name, Path] = {}
    """The true cost: JMESPath expressions over the reply."""
    provider: Annotated[str, Meta(pattern=r"^([A-Za-z0-9_.-]{1,64})?$")] = ""
    """The provider whose settings and credentials apply."""
    rate: str = ""
    """Most requests, such as `5/s`, if the settings set no limit."""
    burst: Count | None = None
    concurrency: Count | None = None
    timeout: Seconds | None = None
    """Seconds for one row."""


def parse_description(tree: object) -> Description:
    """Parse a tree that was read from TOML or JSON."""
    if not isinstance(tree, Mapping):
        raise UsageError("a lookup is an object with `request` and `columns`")
    return parse_words(tree, Description)
