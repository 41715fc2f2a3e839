"""Items with all that was ever done about them: what records and reports are made of."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from headgate.ports.reads import AttemptRow, ExportRow


class ItemHistory(msgspec.Struct, frozen=True):
    """A row as it is now, and every attempt at it, oldest first."""

    row: ExportRow
    attempts: Sequence[AttemptRow] = ()


class HistoryStore(Protocol):
    """Whole jobs, a page at a time.

    Of a job that is being worked on, an attempt may have ended just after its row was read.
    """

    async def page(self, job_id: int, after_id: int, limit: int) -> list[ItemHistory]:
        """The next items in input order; none means that there are no more."""
        ...

    async def by_key(self, job_id: int, keys: Sequence[str]) -> list[ExportRow]:
        """The rows of a job that have one of these keys, in any order."""
        ...
