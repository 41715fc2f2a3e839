"""Paths of other tools, read as JMESPath."""

import re
from typing import Final

from headgate.core.errors import UsageError
from headgate.handlers.words.expression import Expression

_PLAIN: Final = re.compile(r'(?:[A-Za-z_]\w*|"[^"\\]+")(?:\.(?:[A-Za-z_]\w*|"[^"\\]+"))*')
_STEP: Final = re.compile(r'"([^"]+)"|([A-Za-z_]\w*)')
_FOREIGN: Final = (
    ("..", "name each level of the path"),
    ("?(", "write a filter as [?field == 'value']"),
    ("['", 'write a name in double quotes, such as a."b c"'),
)


def path_expression(text: str, where: str) -> Expression:
    """An expression; `$.a.b` and `a[*]` of JSONPath are read as `a.b` and `a`."""
    path = text.strip()
    if path == "$":
        return Expression("@", where)
    if path.startswith("$"):
        for foreign, instead in _FOREIGN:
            if foreign in path:
                raise UsageError(f"{where}: {text!r} is JSONPath, and we read JMESPath; {instead}")
        path = path[1:].removeprefix(".")
    return Expression(path.removesuffix("[*]"), where)


def plain_steps(expression: Expression) -> tuple[str, ...] | None:
    """The names of a path without anything else, such as `a.b`; None for other expressions."""
    if not _PLAIN.fullmatch(expression.text):
        return None
    return tuple(quoted or plain for quoted, plain in _STEP.findall(expression.text))
