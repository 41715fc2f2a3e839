"""`--limit` and `--sample`: run a few rows of a file."""

from collections.abc import Sequence
from random import Random

from headgate.app.cli.supervise import same_command
from headgate.core.errors import UsageError
from headgate.core.failing import spread_places
from headgate.core.job import Counts
from headgate.core.words import agreeing, counted
from headgate.ports.jobs import RowReads

MOST = 100_000
"""Most rows that can be chosen; a claim names each of them."""


class Trial:
    """The rows of a job that this command runs; without the options, all of them."""

    def __init__(self, rows: RowReads, limit: int | None = None, sample: int | None = None) -> None:
        self._rows = rows
        self._limit = limit
        self._sample = sample
        self.ids: tuple[int, ...] | None = None

    @property
    def wanted(self) -> bool:
        return self._limit is not None or self._sample is not None

    async def choose(self, job_id: int, total: int) -> tuple[int, ...] | None:
        """The ids of the rows to run; None means all rows."""
        if self._limit is not None:
            self.ids = tuple(await self._rows.first(job_id, self._limit))
        elif self._sample is not None:
            # The same file and number always choose the same rows.
            chance = Random(f"{total}:{self._sample}")  # noqa: S311  a sample, not a secret
            places = spread_places(total, self._sample, chance)
            self.ids = tuple(await self._rows.at_places(job_id, places))
        return self.ids

    async def counts(self, job_id: int) -> Counts | None:
        return None if self.ids is None else await self._rows.counts_of(job_id, self.ids)

    def rows_left_lines(self, counts: Counts, chosen: Counts) -> list[str]:
        left = counts.open - chosen.open
        if left <= 0:
            return []
        rows = f"{counted(left, 'other row')} {agreeing(left, 'was', 'were')} not run"
        return [rows, f"run all: {command_for_all_rows()}"]


def require_one_choice(limit: int | None, sample: int | None) -> None:
    """UsageError if both options were given."""
    if limit is not None and sample is not None:
        raise UsageError("--limit and --sample exclude each other: give one of them")


def command_for_all_rows(arguments: Sequence[str] | None = None) -> str:
    return same_command(arguments, without=("--limit", "--sample"))
