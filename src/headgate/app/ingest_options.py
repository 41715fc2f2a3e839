"""How the server reads the source of a job: stored with the job, used by whoever reads it."""

from collections.abc import Mapping

import msgspec

from headgate.core.job import Job
from headgate.engine.rows import OnBadRow
from headgate.transfer.sources import ReadOptions


class IngestOptions(msgspec.Struct, frozen=True):
    """What its maker said about the file."""

    options: ReadOptions = ReadOptions()
    columns: Mapping[str, str] = {}
    """Other names for columns."""
    on_bad_row: OnBadRow = OnBadRow.ITEM_ERROR


def ingest_options_in(job: Job) -> IngestOptions:
    """What is stored with a job."""
    return msgspec.convert(job.reading or {}, IngestOptions)
