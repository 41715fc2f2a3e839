"""The words of a source: the keys of its TOML file, or of `source` in a job's config.

They are dlt's words for REST sources, and some more.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from headgate.core.bounds import Count, Seconds
from headgate.core.ordering import Compare
from headgate.handlers.extract.auth import Auth
from headgate.handlers.extract.paginators import Paginator

Text = Annotated[str, Meta(max_length=8_000)]
Path = Annotated[str, Meta(min_length=1, max_length=500)]
"""A JMESPath expression."""
Field = Annotated[str, Meta(min_length=1, max_length=200)]
StreamName = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_.-]{1,64}$")]
AnyStatus = Annotated[int, Meta(ge=100, le=599)]
Value = Text | int | float | bool


class SourceWord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A struct of a source; unknown keys are refused."""


class EnvValue(SourceWord, frozen=True):
    """A value from an environment variable."""

    env: Annotated[str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,127}$")]


class Order(SourceWord, frozen=True):
    """What the rows of a listing are sorted by."""

    key: Path = "id"
    """The field of a row; without a unique key a listing cannot be proven complete."""
    params: Mapping[str, Value] = {}
    """Parameters that ask for this order."""
    direction: Literal["asc", "desc"] = "asc"
    """Whether the keys grow or fall."""
    compare: Compare = Compare.EQUAL
    """How the source compares keys: `number`, `text`, `time`, or `equal` if that is unknown."""
    immutable: bool = True
    """The key of a row never changes."""
    unique: bool = True
    """No two rows have the same key."""


class Incremental(SourceWord, frozen=True):
    """How to ask only for what has changed."""

    cursor_path: Annotated[str, Meta(max_length=500)] = ""
    """The field of a row that has the source's stamp of the last change."""
    initial_value: Text | int | float | None = None
    """The stamp from which the first pass begins; unset: from the beginning."""
    start_param: Text = ""
    """The parameter that takes the stamp from which to list, itself included."""
    start_expression: Text = ""
    """`name=template` with `{incremental.start_value}`, where the parameter is an expression."""
    lag: Annotated[str, Meta(max_length=20)] | Annotated[float, Meta(ge=0)] = 0.0
    """How much earlier than the last stamp a pass begins: `5m`, or a number."""
    watermark: Literal["row", "date"] = "row"
    """`row`: the next pass begins at the newest stamp of the rows; `date`: at the `Date` header of
    this pass's first page, where stamps do not grow with the time of the change."""

    def __post_init__(self) -> None:
        if not self.cursor_path and self.watermark == "row":
            raise ValueError(
                'cursor_path is missing: name the field with the stamp, or set watermark = "date"'
            )


class RangeWords(SourceWord, frozen=True):
    """A filter by time or number that lets parts of a listing be fetched side by side."""

    by: Path
    """The field of a row that the filter compares."""
    start_param: Text
    """The parameter for the lower bound, itself included."""
    end_param: Text
    """The parameter for the upper bound."""
    first: Text | int | float | None = None
    """The lowest value; unset: it is found."""
    last: Text | int | float | None = None
    """The highest value; unset: there is no bound."""
    step: Annotated[str, Meta(max_length=20)] | Annotated[float, Meta(gt=0)] | None = None
    """The width of a window at the beginning: a span such as `30d`, or a number."""
    compare: Compare = Compare.TIME
    """How values are compared: `number` or `time`."""
    unix: bool = False
    """Times are sent as seconds since 1970."""

    def __post_init__(self) -> None:
        if self.compare not in {Compare.NUMBER, Compare.TIME}:
            raise ValueError("windows are compared as `number` or `time`")


class ResponseAction(SourceWord, frozen=True):
    """What a reply means."""

    action: Literal["ignore", "fail", "retry"]
    """`ignore`: the page is empty; `fail`: the page is an ERROR; `retry`: it is tried again."""
    status_code: AnyStatus | None = None
    """The status of the reply; unset: any."""
    content: Text = ""
    """A text that the body contains."""


class Detail(SourceWord, frozen=True):
    """A request for the whole form of a row."""

    path: Text
    """`{id}` stands for a field of the row in the listing."""
    when: Literal["changed", "always"] = "changed"
    """Ask for rows whose listed form is new or changed, or for every row in every pass."""
    params: Mapping[str, Value] = {}
    """Parameters of the request."""
    data_selector: Text = ""
    """A JMESPath expression for the row; empty: the reply is the row."""


class Endpoint(SourceWord, frozen=True):
    path: Text = ""
    """The path below `base_url`, or a URL on one of the hosts; unset: the name of the resource."""
    method: Literal["GET", "POST"] = "GET"
    """The method of the request."""
    params: Mapping[str, Value | EnvValue] = {}
    """Parameters of the URL; texts are templates."""
    headers: Mapping[str, Text | EnvValue] = {}
    """Headers beside those of the client."""
    json: Any = None
    """The body of a POST; its texts are templates."""
    paginator: Paginator | None = None
    """How its pages are asked for; unset: as the client's."""
    data_selector: Text = ""
    """A JMESPath expression for the list of rows; empty: the reply is the list."""
    response_actions: tuple[ResponseAction, ...] = ()
    """What replies mean; the first that fits holds."""
    incremental: Incremental | None = None
    """How to ask only for what has changed; unset: every pass is a full one."""


class Resource(SourceWord, frozen=True):
    """One stream of the source."""

    name: StreamName
    """The name of the stream."""
    endpoint: Endpoint = Endpoint()
    """Where its rows are: an object, or a path."""
    primary_key: Path | tuple[Path, ...] = "id"
    """What identifies a row: fields, `_parent.id` for the parent's row, or `_content` where no
    field does; a row whose content changes is then another row."""
    selected: bool = True
    """Listed unless streams are named; a stream that others need is always listed."""
    include_from_parent: tuple[Field, ...] = ()
    """Fields of the parent's row that are added, as `_PARENT_FIELD`."""
    order: Order | Literal[False] | None = None
    """What its rows are sorted by; false: nothing, although the defaults say so."""
    overlap: Annotated[int, Meta(ge=0, le=100)] | None = None
    """Rows by which offset pages overlap; unset: 1 where there is an order, else 0."""
    parallel: Literal["auto", "off"] = "auto"
    """`off`: one page after the other."""
    range: RangeWords | None = None
    """A filter by time or number; its windows are listed side by side."""
    updated: Annotated[str, Meta(max_length=500)] = ""
    """The field of a row that has its stamp of the last change; empty: `cursor_path` of
    `incremental`."""
    ignore: tuple[Field, ...] = ()
    """Fields that do not make a row changed."""
    deleted: Text = ""
    """A JMESPath expression over a row: it holds if the row was deleted."""
    deletes: Literal["proven", "counted", "never"] = "proven"
    """What a pass must know before the absence of a row means that it was deleted."""
    detail: Detail | None = None
    """A request for the whole form of each row."""
    conditional: bool = False
    """Pages are asked for with the validators of the last reply; what has not changed since is
    read from the cache."""


class ClientWords(SourceWord, frozen=True):
    base_url: Text
    """The address that every path is added to."""
    headers: Mapping[str, Text | EnvValue] = {}
    """Headers of every request."""
    auth: Auth | None = None
    """How the source knows us."""
    paginator: Paginator | None = None
    """How pages are asked for, where a resource does not say it."""
    hosts: tuple[Annotated[str, Meta(min_length=1, max_length=300)], ...] = ()
    """Other hosts that `next` links may lead to."""
    rate: str = ""
    """Most requests, such as `10/s, 100/min`."""
    burst: Count | None = None
    """Most requests at the same moment after a rest."""
    concurrency: Count | None = None
    """Most requests at the same time."""
    provider: Annotated[str, Meta(pattern=r"^([A-Za-z0-9_.-]{1,64})?$")] = ""
    """A provider of the operator's settings, with its credentials and limits; empty: the source
    describes its own."""
    timeout: Seconds | None = None
    """Seconds for one page."""


class SourceDescription(SourceWord, frozen=True):
    """A whole source, with the defaults already in its resources."""

    client: ClientWords
    """What all requests have in common."""
    resources: Annotated[tuple[Resource, ...], Meta(min_length=1, max_length=500)]
    """Its streams; a text is a path and a name."""
    name: Annotated[str, Meta(pattern=r"^([A-Za-z0-9_.-]{1,64})?$")] = ""
    """The name of the mirror; empty: the name of the file."""
    about: Annotated[str, Meta(max_length=300)] = ""
    """What it is, in one line."""
    values: Mapping[Field, Text] = {}
    """Values for `{name}` that `--set name=value` replaces."""
    full_every: Annotated[str, Meta(max_length=20)] = ""
    """A span such as `7d` after which a pass is a full one; empty: only when asked."""
    resume_within: Annotated[str, Meta(max_length=20)] = "24h"
    """How old an interrupted pass may be to be resumed."""
