"""How the server reads a job's source: stored with the job, used by the file worker."""

from collections.abc import Mapping

import msgspec

from headgate.core.job import Job
from headgate.engine.rows import OnBadRow
from headgate.transfer.sources import ReadOptions


class IngestOptions(msgspec.Struct, frozen=True):
    """Options that the job's creator gave for its source."""

    options: ReadOptions = ReadOptions()
    columns: Mapping[str, str] = {}
    """New column names by old ones."""
    on_bad_row: OnBadRow = OnBadRow.ITEM_ERROR


def ingest_options_in(job: Job) -> IngestOptions:
    return msgspec.convert(job.reading or {}, IngestOptions)
