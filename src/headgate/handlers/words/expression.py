"""JMESPath expressions: checked before use, and limited in the size of their values."""

import difflib
from collections.abc import Iterator, Mapping
from math import prod
from typing import Any, Final

import jmespath
from jmespath.exceptions import JMESPathError
from jmespath.functions import Functions

from headgate.core.errors import UsageError
from headgate.core.fault import AttemptOver, Fault, FaultClass

MOST_NODES: Final = 300
MOST_DEPTH: Final = 50
MOST_GROWTH: Final = 100
"""Most times that a value may exceed the reply in size: `[@, @]` doubles it."""
_SELECTS: Final = frozenset({"multi_select_list", "multi_select_dict"})
Node = Mapping[str, Any]


class UnreadableExpression(AttemptOver):
    """The reply does not fit the description; no retry will change that."""

    def __init__(self, reason: str) -> None:
        super().__init__(Fault(FaultClass.PERMANENT, reason))


class Expression:
    def __init__(self, text: str, where: str) -> None:
        self.text = text
        self._where = where
        self._compiled = _compiled(text, where)

    def of(self, value: Any) -> Any:
        """Evaluate; UnreadableExpression if the value has the wrong type."""
        try:
            return self._compiled.search(value)
        except (JMESPathError, TypeError, ValueError, ArithmeticError, RecursionError) as error:
            message = str(error).strip().partition("\n")[0][:300]
            raise UnreadableExpression(
                f"{self._where}: the reply does not fit {self.text!r}: {message}"
            ) from None

    def holds(self, value: Any) -> bool:
        """Whether the value is neither null, false nor empty; 0 counts as a value."""
        found = self.of(value)
        return not (found is None or found is False or found in ("", [], {}))


def _compiled(text: str, where: str) -> Any:
    try:
        compiled = jmespath.compile(text)
        nodes = list(_walk(compiled.parsed))
        growth = _growth(compiled.parsed)
        deep = _depth(compiled.parsed) > MOST_DEPTH
    except JMESPathError as error:
        message = str(error).strip().partition("\n")[0]
        raise UsageError(f"{where}: {text!r} is not a JMESPath expression: {message}") from None
    except RecursionError:
        deep = True
    if deep:
        raise UsageError(f"{where}: the expression is nested too deeply")
    if len(nodes) > MOST_NODES or growth > MOST_GROWTH:
        raise UsageError(f"{where}: the expression could make a reply too large; simplify it")
    for node in nodes:
        if node["type"] == "function_expression":
            _check_function(node["value"], where)
    return compiled


def _walk(node: Node) -> Iterator[Node]:
    yield node
    for child in node["children"]:
        yield from _walk(child)


def _depth(node: Node) -> int:
    return 1 + max(map(_depth, node["children"]), default=0)


def _growth(node: Node) -> float:
    """The most times that the value can exceed its input in size."""
    kind = node["type"]
    parts = [_growth(child) for child in node["children"]]
    if kind in _SELECTS:
        return sum(parts)
    grown = prod(parts, start=1.0)
    if kind == "literal":
        return max(len(str(node["value"])), 1)
    if kind == "comparator":
        return 1.0
    # to_string escapes quotes and backslashes, which doubles a text of them.
    return 2 * grown if kind == "function_expression" and node["value"] == "to_string" else grown


def _check_function(name: str, where: str) -> None:
    known = Functions.FUNCTION_TABLE
    if name not in known:
        close = difflib.get_close_matches(name, known, 1)
        hint = f"; did you mean {close[0]}()?" if close else f"; there are {', '.join(known)}"
        raise UsageError(f"{where}: JMESPath has no function {name}(){hint}")
