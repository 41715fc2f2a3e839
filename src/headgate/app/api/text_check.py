"""Refuses text that no store can keep: the character NUL."""

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from headgate.app.api.problems import ProblemResponse

NUL = "\x00"
WRITTEN = b"\\u0000"
"""NUL as JSON writes it. JSON cannot contain it as a byte."""
NO_NUL = r"^[^\u0000]*$"
OTHERWISE_BOUND = frozenset({"pattern", "enum", "const", "format", "contentMediaType"})
"""Schema keys of strings whose content is checked in another way."""
REFUSED = "text must not contain the character NUL (U+0000)"


def require_text(body: bytes | bytearray) -> None:
    """Refuse JSON with NUL in a text. The parser refuses what is not JSON."""
    if WRITTEN not in body:
        return
    with suppress(ValueError, RecursionError):
        if holds_nul(json.loads(body)):
            raise ProblemResponse(422, REFUSED)


def holds_nul(value: Any) -> bool:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            if NUL in one:
                return True
        elif isinstance(one, Mapping):
            waiting += [*one, *one.values()]
        elif isinstance(one, list):
            waiting += one
    return False


def describe_text(document: dict[str, Any]) -> None:
    """Say in the OpenAPI document that texts of requests must not contain NUL."""
    waiting: list[Any] = []
    for operation in (each for path in document["paths"].values() for each in path.values()):
        queries = (each for each in operation.get("parameters", ()) if each["in"] == "query")
        waiting += [*queries, operation.get("requestBody", {})]
    seen: set[str] = set()
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting += one
        elif isinstance(one, dict):
            if one.get("type") == "string" and OTHERWISE_BOUND.isdisjoint(one):
                one["pattern"] = NO_NUL
            waiting += [value for name, value in one.items() if name not in {"examples", "enum"}]
            name = str(one.get("$ref", "")).rpartition("/")[2]
            if name and name not in seen:
                seen.add(name)
                waiting.append(document["components"]["schemas"][name])
