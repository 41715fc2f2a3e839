"""How a job's source is read: options stored with the job, and messages about its encoding."""

from collections.abc import Mapping

import msgspec

from headgate.core.job import Job
from headgate.engine.rows import OnBadRow
from headgate.transfer.sources import ReadOptions


class IngestOptions(msgspec.Struct, frozen=True):
    options: ReadOptions = ReadOptions()
    columns: Mapping[str, str] = {}
    """New column names by old ones."""
    on_bad_row: OnBadRow = OnBadRow.ITEM_ERROR


def ingest_options_in(job: Job) -> IngestOptions:
    return msgspec.convert(job.reading or {}, IngestOptions)


_NAMES = {"cp1252": "Windows-1252", "latin-1": "Latin-1"}
_OTHERS = "(cp1251, shift_jis, …)"


def command_encoding_message(file: str, fits: str | None) -> str:
    keep = "--encoding utf-8 keeps the rows that cannot be read as errors"
    if fits is None:
        return f"{file} is not UTF-8: state its encoding with --encoding {_OTHERS}; {keep}"
    looks = _NAMES.get(fits, fits)
    return f"{file} is not UTF-8; it looks like {looks}: add --encoding {fits}; {keep}"


def request_encoding_message(fits: str | None) -> str:
    keep = "send utf-8 to keep the rows that cannot be read as errors"
    if fits is None:
        return (
            f"this file is not in UTF-8: send its encoding as `encoding` in `read` {_OTHERS},"
            f" or {keep}"
        )
    return (
        f"this file is not in UTF-8, but can be read as {fits}: send that as `encoding` in"
        f" `read`, or {keep}"
    )
