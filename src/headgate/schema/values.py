"""The base of all values on the wire: camelCase names in JSON, ids and times as text."""

from collections.abc import Mapping
from typing import Annotated, Any, Generic, TypeVar

import msgspec

Identifier = Annotated[str, msgspec.Meta(description="Opaque.", examples=["17"])]
Moment = (
    Annotated[
        str,
        msgspec.Meta(description="UTC, ISO 8601.", examples=["2026-03-01T12:00:00.000000Z"]),
    ]
    | None
)
JsonObject = Annotated[
    Mapping[str, Any], msgspec.Meta(extra_json_schema={"additionalProperties": True})
]
Value = TypeVar("Value")


class WireValue(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A value in a response. Unknown fields are ignored.

    All fields are always sent. A field that is added later has a default, so that a client reads
    the responses of older servers.
    """


class Page(WireValue, Generic[Value], frozen=True, kw_only=True):
    """Some values, and the cursor of the next page; null: there are no more now."""

    items: list[Value]
    next: str | None = None


class Listed(WireValue, Generic[Value], frozen=True, kw_only=True):
    items: list[Value]
