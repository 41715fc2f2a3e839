"""From rows of the database to values."""

from typing import Any

import msgspec

from headgate.core.job import Job


def job_from(row: dict[str, Any]) -> Job:
    """The job in a row of the jobs table."""
    parsed = {name: msgspec.json.decode(row[name]) for name in ("key_columns", "config", "columns")}
    return msgspec.convert({**row, **parsed}, Job)


def as_json(value: object) -> str:
    """JSON text for a column."""
    return msgspec.json.encode(value).decode()
