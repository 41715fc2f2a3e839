"""Conditions of a manifest as JMESPath: over a reply, or over a row."""

import ast
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from headgate.handlers.extract.importing.imported import NotConvertible
from headgate.handlers.extract.importing.jinja import jmespath, literal, reference, shown

_COMPARED: Final[Mapping[type[ast.cmpop], str]] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Is: "==",
    ast.IsNot: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_OPPOSITE: Final = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def condition(node: ast.expr, root: str, *, holds: bool = True) -> str:
    """JMESPath that holds when the condition does, or with `holds` False when it does not."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return condition(node.operand, root, holds=not holds)
    if isinstance(node, ast.BoolOp):
        both = isinstance(node.op, ast.And) is holds
        parts = [condition(each, root, holds=holds) for each in node.values]
        return f" {'&&' if both else '||'} ".join(f"({part})" for part in parts)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return _compared(node, root, holds=holds)
    if isinstance(node, ast.IfExp) and literal(node.body) is True and literal(node.orelse) is False:
        return condition(node.test, root, holds=holds)
    path = _operand(node, root)
    return path if holds else f"!({path})"


def _compared(node: ast.Compare, root: str, *, holds: bool) -> str:
    operator, left, right = node.ops[0], node.left, node.comparators[0]
    if isinstance(operator, ast.In | ast.NotIn):
        key = literal(left)
        if not isinstance(key, str):
            raise NotConvertible(f"the condition {shown(node)}")
        path = f"{_operand(right, root)}.{jmespath([key])}".removeprefix("@.")
        return path if isinstance(operator, ast.In) is holds else f"!({path})"
    sign = _COMPARED.get(type(operator))
    if sign is None:
        raise NotConvertible(f"the condition {shown(node)}")
    if isinstance(right, ast.Name) and right.id == "defined":
        right, sign = ast.Constant(None), _OPPOSITE[sign]
    return f"{_operand(left, root)} {sign if holds else _OPPOSITE[sign]} {_operand(right, root)}"


def _operand(node: ast.expr, root: str) -> str:
    if (size := _length_of(node)) is not None:
        return f"length({_operand(size, root)})"
    found = reference(node)
    if found is not None and found.root == root:
        return jmespath(found.steps) or "@"
    value = literal(node)
    is_literal = isinstance(node, ast.Constant | ast.UnaryOp) or (
        isinstance(node, ast.Name) and node.id in {"none", "null", "true", "false"}
    )
    if is_literal:
        return _as_literal(value)
    if isinstance(node, ast.List | ast.Dict) and not ast.unparse(node)[1:-1]:
        return f"`{ast.unparse(node)}`"
    raise NotConvertible(f"the condition {shown(node)}")


def _length_of(node: ast.expr) -> ast.expr | None:
    """The value whose length a node is: `value | length`, or `len(value)`."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        is_length = isinstance(node.right, ast.Name) and node.right.id in {"length", "count"}
        return node.left if is_length else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len":
        return node.args[0] if len(node.args) == 1 else None
    return None


def _as_literal(value: Any) -> str:
    if isinstance(value, str) and "'" not in value and "\\" not in value:
        return f"'{value}'"
    return f"`{msgspec.json.encode(value).decode()}`"
