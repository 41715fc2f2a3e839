"""SQL is written as SQL: one `queries.sql` for each database, its statements found by name."""

import re
from functools import cache
from importlib import import_module
from pathlib import Path

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


def folder_of(package: str) -> Path:
    """Where the files of a package are; `importlib.resources` would load the whole of zipfile."""
    return Path(import_module(package).__path__[0])


@cache
def load_queries(package: str) -> dict[str, str]:
    """The named statements of a store's `queries.sql`."""
    text = (folder_of(package) / "queries.sql").read_text(encoding="utf-8")
    _, *parts = _NAME.split(text)
    names, bodies = parts[::2], parts[1::2]
    return {name: body.strip() for name, body in zip(names, bodies, strict=True)}
