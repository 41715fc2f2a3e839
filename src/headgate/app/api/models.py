"""How values stand in JSON: camelCase names, ids as text, moments in ISO 8601."""

from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from headgate.core.time_text import moment

Identifier = Annotated[str, Field(description="Opaque.", examples=["17"])]
Moment = Annotated[
    str | None,
    Field(description="UTC, ISO 8601.", examples=["2026-03-01T12:00:00.000000+00:00"]),
]


def _whole(value: object) -> object:
    """In JSON, 2.0 is a whole number as well."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Whole = Annotated[int, BeforeValidator(_whole)]


class ResponseModel(BaseModel):
    """A value that crosses the wire."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class RequestModel(ResponseModel):
    """A value that a client sends: what we do not know is refused, not passed over.

    Nor is anything taken for what it is not, such as "1" or true for a number. A choice is text on
    the wire, so its field says `strict=False`.
    """

    model_config = ConfigDict(
        alias_generator=to_camel, extra="forbid", populate_by_name=True, strict=True
    )


def moment_of_seconds(seconds: float | None) -> str | None:
    """A time on a ledger's clock as text."""
    return None if seconds is None else moment(int(seconds * 1_000_000))


def microseconds_of(text: str) -> int:
    """The stored form of a moment that a client wrote; ValueError if it is none."""
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        at = at.replace(tzinfo=UTC)
    return int(at.timestamp() * 1_000_000)


Json = dict[str, Any]
