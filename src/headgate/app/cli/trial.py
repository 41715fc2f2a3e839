"""`--limit` and `--sample`: run a few rows of a file, and leave the others for later."""

from collections.abc import Sequence
from random import Random

from headgate.app.cli.supervise import same_command
from headgate.core.errors import UsageError
from headgate.core.failing import spread_places
from headgate.core.job import Counts
from headgate.core.words import agreeing, counted
from headgate.ports.job_reads import RowReads

MOST = 100_000
"""Rows that can be chosen; a claim names each of them."""


class Trial:
    """Which rows of a job this command runs; None of the two options: all of them."""

    def __init__(self, rows: RowReads, limit: int | None = None, sample: int | None = None) -> None:
        self._rows = rows
        self._limit = limit
        self._sample = sample
        self.ids: tuple[int, ...] | None = None

    @property
    def wanted(self) -> bool:
        """Whether only some rows are to be run."""
        return self._limit is not None or self._sample is not None

    async def choose(self, job_id: int, total: int) -> tuple[int, ...] | None:
        """The ids of the rows to run; None: all of them."""
        if self._limit is not None:
            self.ids = tuple(await self._rows.first(job_id, self._limit))
        elif self._sample is not None:
            # The same file and number give the same rows, so that a second try meets them again.
            chance = Random(f"{total}:{self._sample}")  # noqa: S311  a sample, not a secret
            places = spread_places(total, self._sample, chance)
            self.ids = tuple(await self._rows.at_places(job_id, places))
        return self.ids

    async def counts(self, job_id: int) -> Counts | None:
        """Where the chosen rows stand; None if all rows are to be run."""
        return None if self.ids is None else await self._rows.counts_of(job_id, self.ids)

    def left_in_words(self, counts: Counts, chosen: Counts) -> list[str]:
        """What is said about the rows that were not chosen, and how to run them."""
        left = counts.open - chosen.open
        if left <= 0:
            return []
        rows = f"{counted(left, 'other row')} {agreeing(left, 'was', 'were')} not run"
        return [rows, f"run all: {whole_command()}"]


def require_one_choice(limit: int | None, sample: int | None) -> None:
    """Raise if both options choose rows."""
    if limit is not None and sample is not None:
        raise UsageError("--limit and --sample exclude each other: give one of them")


def whole_command(arguments: Sequence[str] | None = None) -> str:
    """This command without the options that choose rows."""
    return same_command(arguments, without=("--limit", "--sample"))
