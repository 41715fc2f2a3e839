"""From rows of the database to values, and back to what a column can hold."""

from typing import Any

import msgspec

from headgate.core.job import Job
from headgate.stores.postgres.literals import storable


def job_from(row: dict[str, Any]) -> Job:
    """The job in a row of the jobs table."""
    texts = ("key_columns", "config", "columns", "ingest")
    parsed = {name: msgspec.json.decode(row[name]) for name in texts}
    for name in ("reading", "options"):
        parsed[name] = None if row[name] is None else msgspec.json.decode(row[name])
    return msgspec.convert({**row, **parsed}, Job)


def as_json(value: object) -> str:
    """JSON text for a column."""
    return msgspec.json.encode(value).decode()


def as_json_or_none(value: object) -> str | None:
    """JSON text for a column; None stays None."""
    return None if value is None else as_json(value)


def fitting(**values: Any) -> dict[str, Any]:
    """Values of a query whose texts may be anybody's: without what a text column cannot hold."""
    return {
        name: storable(value) if isinstance(value, str) else value for name, value in values.items()
    }
