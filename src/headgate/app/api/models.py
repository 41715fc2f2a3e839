"""Base models of requests, with camelCase names in JSON."""

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict
from pydantic.alias_generators import to_camel


def _whole(value: object) -> object:
    """Accept 2.0 as an integer, as JSON does."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Whole = Annotated[int, BeforeValidator(_whole)]


class RequestModel(BaseModel):
    """A value that a client sends. Unknown fields are refused.

    Types are strict: "1" or true is not accepted as a number. An enum is text in JSON, so its field
    sets `strict=False`.
    """

    model_config = ConfigDict(
        alias_generator=to_camel, extra="forbid", populate_by_name=True, strict=True
    )


Json = dict[str, Any]
