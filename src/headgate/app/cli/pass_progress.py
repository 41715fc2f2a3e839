"""The streams of a pass as lines: rows, pages, remaining time, proof."""

from collections.abc import Sequence

from headgate.core.words import counted
from headgate.engine.eta import Meter, band_in_words
from headgate.ports.clock import Clock
from headgate.ports.mirrors import Checkpoint, MirrorStore

MOST_LINES = 12
"""Streams that are shown while a pass runs; complete ones are left out first."""


def rows_seen(checkpoint: Checkpoint) -> int:
    """The different rows that a pass has seen of a stream."""
    return checkpoint.added + checkpoint.changed + checkpoint.unchanged


class StreamLines:
    """Reads the checkpoints of a pass, and measures the speed of each stream."""

    def __init__(self, mirrors: MirrorStore, job_id: int, clock: Clock) -> None:
        self._mirrors = mirrors
        self._job_id = job_id
        self._clock = clock
        self._meters: dict[str, Meter] = {}

    async def read(self) -> Sequence[str]:
        found = await self._mirrors.checkpoints(self._job_id)
        now_s = self._clock.monotonic()
        for each in found:
            self._meters.setdefault(each.name, Meter()).add(now_s, rows_seen(each))
        shown = sorted(found, key=lambda each: each.completed_at is not None)[:MOST_LINES]
        width = max((len(each.name) for each in shown), default=0)
        lines = [f"{each.name:<{width}}  {self._text(each)}" for each in shown]
        left = len(found) - len(shown)
        return [*lines, f"and {counted(left, 'other stream')}"] if left else lines

    def _text(self, checkpoint: Checkpoint) -> str:
        rows = rows_seen(checkpoint)
        total = checkpoint.total
        pages = counted(checkpoint.pages, "page")
        if checkpoint.proof is not None:
            return f"{counted(rows, 'row')} · {pages} · complete, {checkpoint.proof}"
        if total is None or checkpoint.since is not None:
            return f"{counted(rows, 'row')} · {pages}"
        eta = self._meters[checkpoint.name].eta(max(total - rows, 0))
        left = f" · {band_in_words(eta)} left" if eta is not None and total > rows else ""
        return f"{rows:,} of {counted(total, 'row')} · {pages}{left}"
