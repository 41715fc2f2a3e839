"""SQL is written as SQL: one `queries.sql` for each database, its statements found by name."""

import re
from importlib import resources

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


def load_queries(package: str) -> dict[str, str]:
    """The named statements of a store's `queries.sql`."""
    text = resources.files(package).joinpath("queries.sql").read_text(encoding="utf-8")
    _, *parts = _NAME.split(text)
    names, bodies = parts[::2], parts[1::2]
    return {name: body.strip() for name, body in zip(names, bodies, strict=True)}
