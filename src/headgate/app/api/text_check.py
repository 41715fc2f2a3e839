"""Text from outside: what no store can keep is refused in one place."""

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from headgate.app.api.problems import ProblemResponse

NUL = "\x00"
WRITTEN = b"\\u0000"
"""How NUL is written in JSON; it cannot stand there as a byte."""
NO_NUL = r"^[^\u0000]*$"
OTHERWISE_BOUND = frozenset({"pattern", "enum", "const", "format", "contentMediaType"})
"""What tells of a string in a schema that its content is checked in another way."""
REFUSED = "text must not hold the character NUL (U+0000)"


def require_text(body: bytes | bytearray) -> None:
    """Refuse JSON that holds NUL in a text. What is not JSON is left to the parser."""
    if WRITTEN not in body:
        return
    with suppress(ValueError, RecursionError):
        if holds_nul(json.loads(body)):
            raise ProblemResponse(422, REFUSED)


def holds_nul(value: Any) -> bool:
    """Whether there is NUL in a text, at any depth."""
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
    """Have the OpenAPI document say that texts of requests hold no NUL."""
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
