"""Lanes whose item stands before a gate. They do no work, so others may work meanwhile."""

from collections import Counter
from collections.abc import Callable


class Parking:
    """Counts them, and says when one more lane may start."""

    def __init__(self) -> None:
        self.total = 0
        self.by_job: Counter[int] = Counter()
        self.on_change: Callable[[], None] = lambda: None
        self.room_for_job: int | None = None
        """How many lanes of one job may wait; beyond that it gets no more items."""

    def enter(self, job_id: int) -> None:
        """A lane begins to wait."""
        self.total += 1
        self.by_job[job_id] += 1
        self.on_change()

    def is_full(self, job_id: int) -> bool:
        """Whether a job has enough lanes waiting."""
        return self.room_for_job is not None and self.by_job[job_id] >= self.room_for_job

    def leave(self, job_id: int) -> None:
        """It goes on."""
        self.total -= 1
        self.by_job[job_id] -= 1
        if not self.by_job[job_id]:
            del self.by_job[job_id]
        self.on_change()
