"""Reads the expressions of a manifest, which are Jinja; those of simple forms can be converted.

Nothing is run: an expression is parsed, and what it does is said in the words of a source.
"""

import ast
import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from headgate.handlers.extract.importing.imported import NotConvertible

_EXPRESSION: Final = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_JOINED: Final = re.compile(r"\s~\s")
_NAMES: Final = {"none": None, "null": None, "true": True, "false": False}
_PLAIN: Final = re.compile(r"[A-Za-z_]\w*")
FILTERS: Final = frozenset({"string", "int", "trim", "float"})
"""Filters that change nothing in the text of a request."""


class Reference(NamedTuple):
    """A value such as `config['a']['b']`: the name that it begins with, and the way from there."""

    root: str
    steps: tuple[str | int, ...]
    default: Any = None


def pieces(text: str) -> list[str | ast.expr]:
    """The texts and expressions in a value, in order."""
    if "{%" in text or "{#" in text:
        raise NotConvertible("statements of Jinja (`{% … %}`)")
    found: list[str | ast.expr] = []
    end = 0
    for match in _EXPRESSION.finditer(text):
        found += [text[end : match.start()], parsed(match[1])]
        end = match.end()
    return [piece for piece in (*found, text[end:]) if piece != ""]


def parsed(expression: str) -> ast.expr:
    text = expression.strip().strip("-").strip().replace("\n", " ")
    for tried in (text, _JOINED.sub(" + ", text)):
        try:
            return ast.parse(tried, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    raise NotConvertible(f"the expression {shown(text)}")


def only_expression(value: object) -> ast.expr | None:
    """The expression that a value consists of; None if it is a plain text or has other parts."""
    if not isinstance(value, str):
        return None
    found = pieces(value.strip())
    return found[0] if len(found) == 1 and isinstance(found[0], ast.expr) else None


def reference(node: ast.expr) -> Reference | None:
    """The value that a node refers to; None if it does anything else."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        is_plain = isinstance(node.right, ast.Name) and node.right.id in FILTERS
        return reference(node.left) if is_plain else None
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or) and len(node.values) == 2:
        return _with_default(reference(node.values[0]), node.values[1])
    if isinstance(node, ast.Name):
        return Reference(node.id, ())
    if isinstance(node, ast.Attribute):
        return _step(reference(node.value), node.attr)
    if isinstance(node, ast.Subscript):
        key = literal(node.slice)
        return _step(reference(node.value), key) if isinstance(key, str | int) else None
    return _got(node)


def _got(node: ast.expr) -> Reference | None:
    """`value.get('name')` and `value.get('name', default)`."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    if node.func.attr != "get" or not 1 <= len(node.args) <= 2 or node.keywords:
        return None
    key = literal(node.args[0])
    found = _step(reference(node.func.value), key) if isinstance(key, str) else None
    return _with_default(found, node.args[1]) if len(node.args) == 2 else found


def _with_default(found: Reference | None, node: ast.expr) -> Reference | None:
    """An empty object or list as the default only keeps Jinja from failing."""
    if isinstance(node, ast.Dict | ast.List | ast.Tuple):
        return found
    value = literal(node)
    if found is None or (value is None and not _is_none(node)):
        return None
    return found._replace(default=value)


def _step(found: Reference | None, key: str | int) -> Reference | None:
    return None if found is None else Reference(found.root, (*found.steps, key))


def literal(node: ast.expr) -> Any:
    """The value of a literal; None if it is something else, or none."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str | int | float | None):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = literal(node.operand)
        return -value if isinstance(value, int | float) else None
    return _NAMES.get(node.id) if isinstance(node, ast.Name) else None


def _is_none(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return node.value is None
    return isinstance(node, ast.Name) and node.id in {"none", "null"}


def jmespath(steps: Sequence[str | int]) -> str:
    """A path as JMESPath."""
    text = ""
    for step in steps:
        if isinstance(step, int):
            text += f"[{step}]"
            continue
        name = step if _PLAIN.fullmatch(step) else '"' + step.replace('"', '\\"') + '"'
        text += f".{name}" if text else name
    return text


def shown(text: object) -> str:
    """An expression in a message."""
    whole = " ".join((ast.unparse(text) if isinstance(text, ast.expr) else str(text)).split())
    return f"`{whole[:80]}{'…' if len(whole) > 80 else ''}`"
