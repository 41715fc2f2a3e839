"""From rows of both databases to exports."""

from collections.abc import Mapping
from typing import Any

import msgspec

from headgate.ports.exports import ExportRecord


def export_from(row: Mapping[str, Any]) -> ExportRecord:
    """The export in a row of the exports table."""
    report = None if row["report"] is None else msgspec.json.decode(row["report"])
    options = msgspec.json.decode(row["options"])
    values = {**row, "rows": row["written"], "options": options, "report": report}
    return msgspec.convert(values, ExportRecord)
