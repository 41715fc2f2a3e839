"""How a job goes now, for those who want to know why it waits."""

from typing import Protocol

from headgate.core.waiting import Situation


class SituationStore(Protocol):
    """Questions that cost as much for a million rows as for ten."""

    async def of(self, job_id: int) -> Situation:
        """What is stored about how a job goes now."""
        ...

    async def handler_s(self, job_id: int) -> float | None:
        """The seconds that the last rows of a job took in their handler; None: none was done."""
        ...
