"""Checks whether a handler exists, without running its code."""

import ast
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from headgate.core.identity import file_of


def handler_problem(reference: str) -> str | None:
    """Return why a handler cannot be loaded, as far as its files show; None if it can.

    A handler with a plain name is not checked.
    """
    if file := file_of(reference):
        path = Path(file)
        if not path.is_file():
            return f"the file {path} does not exist"
        return None if path.suffix == ".toml" else _file_problem(path, reference.rpartition(":")[2])
    module, colon, _ = reference.partition(":")
    if colon and not _is_importable(module.partition(".")[0]):
        return f"the module {module!r} does not exist"
    return None


def _is_importable(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except (ImportError, ValueError):
        return False


def _file_problem(path: Path, function: str) -> str | None:
    try:
        tree = ast.parse(path.read_bytes())
    except SyntaxError as error:
        return f"{path} cannot be imported: line {error.lineno}: {error.msg}"
    except (OSError, ValueError) as error:
        return f"{path} cannot be read: {error}"
    names = set(_defined_names(tree.body))
    if "*" in names or function.partition(".")[0] in names:
        return None
    return f"{path} has no function {function!r}"


def _defined_names(statements: list[ast.stmt]) -> Iterator[str]:
    """Names that a module defines; "*" where they are unknown."""
    for statement in statements:
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield statement.name
            case ast.Import() | ast.ImportFrom():
                yield from (each.asname or each.name.partition(".")[0] for each in statement.names)
            case ast.Expr():
                continue
            case _:
                # In assignments, branches and loops: every name that is written anywhere in them.
                for node in ast.walk(statement):
                    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                        yield node.id
                    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                        yield node.name
                    elif isinstance(node, ast.Import | ast.ImportFrom):
                        yield from (each.asname or each.name for each in node.names)
