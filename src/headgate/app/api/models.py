"""Base models of the API. JSON uses camelCase names, ids as text and times in ISO 8601."""

from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from headgate.core.time_text import as_microseconds, moment

Identifier = Annotated[str, Field(description="Opaque.", examples=["17"])]
Moment = Annotated[
    str | None,
    Field(description="UTC, ISO 8601.", examples=["2026-03-01T12:00:00.000000+00:00"]),
]


def _whole(value: object) -> object:
    """Accept 2.0 as an integer, as JSON does."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Whole = Annotated[int, BeforeValidator(_whole)]


class ResponseModel(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class RequestModel(ResponseModel):
    """A value that a client sends. Unknown fields are refused.

    Types are strict: "1" or true is not accepted as a number. An enum is text in JSON, so its field
    sets `strict=False`.
    """

    model_config = ConfigDict(
        alias_generator=to_camel, extra="forbid", populate_by_name=True, strict=True
    )


def moment_of_seconds(seconds: float | None) -> str | None:
    """Convert a time of the ledger's clock to text."""
    return None if seconds is None else moment(as_microseconds(seconds))


def microseconds_of(text: str) -> int:
    """Parse a time in ISO 8601, or raise ValueError. Without an offset it is UTC."""
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        at = at.replace(tzinfo=UTC)
    return int(at.timestamp() * 1_000_000)


Json = dict[str, Any]
