"""Rows that fail while a job runs: which failures are alike, and when there are too many."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Protocol

import msgspec

from headgate.core.signature import signature_of
from headgate.core.words import agreeing, counted

FIRST_ROWS = 20
"""Number of rows that, if all fail alike, indicate a mistake in the handler."""
_LIMIT = re.compile(r"(\d+(?:\.\d+)?)\s*(%?)")


class RowFailure(msgspec.Struct, frozen=True):
    error_class: str
    reason: str
    where: str = ""
    """The line of the handler's code, such as `lookup.py:12`; empty if it did not raise."""
    ended: bool = False
    """The row is an ERROR and is not retried."""

    @property
    def kind(self) -> str:
        """The same for all failures that are alike."""
        return signature_of(self.error_class, self.reason)

    def in_words(self, before_place: str = " (", after_place: str = ")") -> str:
        place = f"{before_place}{self.where}{after_place}" if self.where else ""
        first = self.reason.splitlines()[0] if self.reason else self.error_class
        return f"{first[:200]}{place}"


def most_frequent(failures: Sequence[RowFailure]) -> RowFailure:
    """An example of the most frequent kind; the first kind if several are equally frequent."""
    kind = Counter(failure.kind for failure in failures).most_common(1)[0][0]
    return next(failure for failure in failures if failure.kind == kind)


def waiting_in_words(
    failures: Sequence[RowFailure], noun: str = "row", *, more: bool = False
) -> str:
    """The text about rows that failed and will be retried; `more`: there are more than these."""
    waiting = [failure for failure in failures if not failure.ended]
    if not waiting:
        return ""
    number = f"{len(waiting):,}+ {noun}s" if more else counted(len(waiting), noun)
    verb = agreeing(len(waiting), "waits", "wait")
    kinds = len({failure.kind for failure in waiting})
    example = most_frequent(waiting).in_words()
    others = f" and {counted(kinds - 1, 'other kind')} of failure" if kinds > 1 else ""
    return f"{number} failed and {verb} for a retry: {example}{others}"


def all_alike(failures: Sequence[RowFailure], succeeded: int, rows: int) -> RowFailure | None:
    """The common failure of all rows tried until now, once there are enough of them."""
    enough = min(FIRST_ROWS, rows)
    if succeeded or enough < 2 or len(failures) < enough:
        return None
    kinds = {failure.kind for failure in failures}
    return failures[0] if len(kinds) == 1 else None


class ErrorLimit(msgspec.Struct, frozen=True):
    """Limit on failed rows before a run is stopped; one of `rows` and `share` is set."""

    text: str
    rows: int | None = None
    share: float | None = None
    """Share of the tried rows that may fail; it applies once FIRST_ROWS rows were tried."""

    def reached(self, failed: int, tried: int, rows: int) -> bool:
        """Whether `failed` of `tried` rows are too many; `rows` is the number of rows to try."""
        if self.rows is not None:
            return failed >= self.rows
        enough = tried >= min(FIRST_ROWS, rows)
        return failed > 0 and enough and failed >= (self.share or 0.0) * tried


def error_limit(text: str) -> ErrorLimit:
    """Parse `10` or `5%`; raise ValueError for any other text."""
    found = _LIMIT.fullmatch(text.strip())
    number = float(found[1]) if found else 0.0
    if found and found[2] and 0 < number <= 100:
        return ErrorLimit(text.strip(), share=number / 100)
    if found and not found[2] and number >= 1 and number == int(number):
        return ErrorLimit(text.strip(), rows=int(number))
    raise ValueError("write a number of rows such as 10, or a share of them such as 5%")


class Chance(Protocol):
    def randrange(self, start: int, stop: int, /) -> int: ...


def spread_places(rows: int, wanted: int, chance: Chance) -> list[int]:
    """Places (the first is 1) of rows spread over a file: one at random from each equal part."""
    if wanted >= rows:
        return list(range(1, rows + 1))
    edges = [part * rows // wanted for part in range(wanted + 1)]
    return [chance.randrange(low, high) + 1 for low, high in pairwise(edges)]
