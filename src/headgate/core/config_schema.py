"""Check a job's configuration against its handler's JSON Schema.

Only the keywords that handlers use are checked. Others are ignored, so that a schema never refuses
more than it says.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeGuard

import msgspec

from headgate.core.errors import BadConfig, FieldProblem

_DEEPEST = 32
_SHOWN = 80
_MOST_NAMED = 5
_TYPES: Mapping[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "object": lambda value: isinstance(value, Mapping),
    "array": lambda value: isinstance(value, list | tuple),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: _is_number(value) and float(value).is_integer(),
}
_ARTICLES = {
    "string": "text",
    "boolean": "true or false",
    "null": "null",
    "object": "an object",
    "array": "a list",
    "number": "a number",
    "integer": "a whole number",
}
Problems = Iterator[FieldProblem]


def require_config(schema: Mapping[str, Any] | None, config: Mapping[str, Any]) -> None:
    """Raise BadConfig that names every wrong field and the limit that it breaks."""
    if schema is None:
        return
    problems = list(_Check(schema).of(schema, config, ""))
    if problems:
        raise BadConfig(_message(problems), problems)


def _message(problems: Sequence[FieldProblem]) -> str:
    first = "; ".join(f"`{field}` {problem}" for field, problem in problems[:_MOST_NAMED])
    more = f" (and {len(problems) - _MOST_NAMED} more)" if len(problems) > _MOST_NAMED else ""
    return f"the configuration does not fit the handler: {first}{more}"


class _Check:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root

    def of(self, schema: Any, value: Any, field: str, depth: int = 0) -> Problems:
        if schema is False:
            yield FieldProblem(field, "must not be given")
            return
        if not isinstance(schema, Mapping) or depth > _DEEPEST:
            return
        if isinstance(schema.get("$ref"), str):
            yield from self.of(self._referenced(schema["$ref"]), value, field, depth + 1)
        wrong = _type_problem(schema.get("type"), value)
        if wrong is not None:
            yield FieldProblem(field, wrong)
            return
        yield from (FieldProblem(field, each) for each in _limits(schema, value))
        yield from self._joined(schema, value, field, depth)
        if isinstance(value, Mapping):
            yield from self._members(schema, value, field, depth)
        elif isinstance(value, list | tuple) and "items" in schema:
            for index, each in enumerate(value):
                yield from self.of(schema["items"], each, _under(field, str(index)), depth + 1)

    def _referenced(self, reference: str) -> Any:
        if not reference.startswith("#/"):
            return None
        found: Any = self._root
        for part in reference.removeprefix("#/").split("/"):
            name = part.replace("~1", "/").replace("~0", "~")
            found = found.get(name) if isinstance(found, Mapping) else None
        return found

    def _joined(self, schema: Mapping[str, Any], value: Any, field: str, depth: int) -> Problems:
        for part in _listed(schema, "allOf"):
            yield from self.of(part, value, field, depth + 1)
        for name in ("anyOf", "oneOf"):
            ways = [list(self.of(part, value, field, depth + 1)) for part in _listed(schema, name)]
            if ways and all(ways):
                # The alternative that failed deepest explains best what is wrong.
                yield max(ways, key=lambda way: way[0].field.count("."))[0]

    def _members(
        self, schema: Mapping[str, Any], value: Mapping[str, Any], field: str, depth: int
    ) -> Problems:
        known = schema.get("properties")
        known = known if isinstance(known, Mapping) else {}
        for name in _listed(schema, "required"):
            if name not in value:
                yield FieldProblem(_under(field, name), "is required")
        for name, each in value.items():
            if name in known:
                yield from self.of(known[name], each, _under(field, name), depth + 1)
            elif any(re.search(text, name) for text in schema.get("patternProperties") or ()):
                continue
            elif schema.get("additionalProperties") is False:
                options = ", ".join(known) or "none"
                yield FieldProblem(
                    _under(field, name),
                    f"is not an option of this handler; its options are: {options}",
                )
            else:
                rest = schema.get("additionalProperties")
                yield from self.of(rest, each, _under(field, name), depth + 1)


def _type_problem(stated: Any, value: Any) -> str | None:
    names = [stated] if isinstance(stated, str) else stated
    if not isinstance(names, list | tuple) or not names:
        return None
    if any(name not in _TYPES or _TYPES[name](value) for name in names):
        return None
    return f"must be {' or '.join(_ARTICLES[name] for name in names)}, not {_value_text(value)}"


def _limits(schema: Mapping[str, Any], value: Any) -> Iterator[str]:
    choices = schema.get("enum")
    if isinstance(choices, list | tuple) and not any(_same(value, each) for each in choices):
        listed = ", ".join(_value_text(each) for each in choices)
        yield f"must be one of {listed}, not {_value_text(value)}"
    if "const" in schema and not _same(value, schema["const"]):
        yield f"must be {_value_text(schema['const'])}, not {_value_text(value)}"
    if _is_number(value):
        yield from _number_limits(schema, value)
    elif isinstance(value, str):
        yield from _length_limits(schema, value, ("minLength", "maxLength"), "characters")
        pattern = schema.get("pattern")
        if isinstance(pattern, str) and re.search(pattern, value) is None:
            yield f"must match {pattern}, which {_value_text(value)} does not"
    elif isinstance(value, list | tuple):
        yield from _length_limits(schema, value, ("minItems", "maxItems"), "entries")


def _number_limits(schema: Mapping[str, Any], value: float) -> Iterator[str]:
    tests: tuple[tuple[str, str, Callable[[float], bool]], ...] = (
        ("minimum", "must be at least", lambda limit: value < limit),
        ("maximum", "must be at most", lambda limit: value > limit),
        ("exclusiveMinimum", "must be more than", lambda limit: value <= limit),
        ("exclusiveMaximum", "must be less than", lambda limit: value >= limit),
        ("multipleOf", "must be a multiple of", lambda step: not _is_multiple(value, step)),
    )
    for name, words, breaks in tests:
        limit = schema.get(name)
        if _is_number(limit) and breaks(limit):
            yield f"{words} {_value_text(limit)}, not {_value_text(value)}"


def _length_limits(
    schema: Mapping[str, Any], value: Any, names: tuple[str, str], what: str
) -> Iterator[str]:
    least, most = (schema.get(name) for name in names)
    if _is_number(least) and len(value) < least:
        yield f"must have at least {_value_text(least)} {what}, not {len(value):,}"
    if _is_number(most) and len(value) > most:
        yield f"must have at most {_value_text(most)} {what}, not {len(value):,}"


def _is_number(value: Any) -> TypeGuard[float]:
    # In JSON, true is not 1.
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_multiple(value: float, step: float) -> bool:
    if step <= 0:
        return True
    ratio = value / step
    return math.isclose(ratio, round(ratio), rel_tol=1e-9, abs_tol=1e-9)


def _same(value: Any, other: Any) -> bool:
    return isinstance(value, bool) is isinstance(other, bool) and bool(value == other)


def _listed(schema: Mapping[str, Any], name: str) -> list[Any]:
    found = schema.get(name)
    return list(found) if isinstance(found, list | tuple) else []


def _under(field: str, name: str) -> str:
    return f"{field}.{name}" if field else name


def _value_text(value: Any) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
