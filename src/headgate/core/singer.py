"""Singer messages: how taps tell targets about rows, one JSON object in each line."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from headgate.core.errors import UsageError
from headgate.core.json_types import JsonType

DELETED_AT = "_sdc_deleted_at"
"""The field by which targets know that a row was deleted."""
ROW_ID = "_headgate_id"
"""The key of rows that no field of their own identifies."""
_NAMES = {
    JsonType.BOOLEAN: "boolean",
    JsonType.INTEGER: "integer",
    JsonType.NUMBER: "number",
    JsonType.STRING: "string",
    JsonType.ARRAY: "array",
    JsonType.OBJECT: "object",
}
Message = dict[str, Any]


class Bookmark(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How far a stream of a mirror was told."""

    number: int = 0
    """The last row, in the order in which rows were first seen."""
    change: int = 0
    """The last entry of the change log."""
    full_pass: int = 0
    """The last full pass whose deletions were told."""


def schema_message(stream: str, fields: Mapping[str, int], keys: Sequence[str]) -> Message:
    """The fields of a stream, with the bits of their types."""
    properties = {name: field_schema(types) for name, types in fields.items()}
    if ROW_ID in keys:
        properties[ROW_ID] = {"type": ["string"]}
    properties[DELETED_AT] = {"type": ["null", "string"], "format": "date-time"}
    schema = {"type": "object", "properties": properties}
    return {"type": "SCHEMA", "stream": stream, "schema": schema, "key_properties": list(keys)}


def field_schema(types: int) -> dict[str, Any]:
    """JSON Schema for a field; every field may be missing, so null is always allowed."""
    found: dict[str, Any] = {
        "type": ["null", *(name for bit, name in _NAMES.items() if types & bit)]
    }
    return {**found, "items": {}} if types & JsonType.ARRAY else found


def record_message(stream: str, record: Mapping[str, Any]) -> Message:
    return {"type": "RECORD", "stream": stream, "record": dict(record)}


def state_message(bookmarks: Mapping[str, Bookmark]) -> Message:
    return {"type": "STATE", "value": {"bookmarks": msgspec.to_builtins(dict(bookmarks))}}


def bookmarks_in(state: object) -> dict[str, Bookmark]:
    """The bookmarks of a STATE's value; UsageError if it is not one of ours."""
    found = state.get("bookmarks") if isinstance(state, Mapping) else None
    try:
        return msgspec.convert(found, dict[str, Bookmark])
    except msgspec.ValidationError as error:
        raise UsageError(
            f"the state is not one of `headgate extract tap`: {error}; give the `value` of the last"
            " STATE message, or none to be told everything"
        ) from None
