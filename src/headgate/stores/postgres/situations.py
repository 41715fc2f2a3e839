"""How a job goes now, on PostgreSQL."""

from headgate.core.waiting import COUNTED, TIMED, Deferral, Situation
from headgate.stores.histories import counts_of
from headgate.stores.postgres.connection import Database, Session


class PostgresSituations:
    """SituationStore on one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, job_id: int) -> Situation:
        """What is stored about how a job goes now."""
        return await self._database.single(lambda session: _situation(session, job_id))

    async def handler_s(self, job_id: int) -> float | None:
        """The seconds that the last rows of a job took in their handler; None: none was done."""
        values = {"job_id": job_id, "limit": TIMED}
        rows = await self._database.single(lambda session: session.rows("handler_time", **values))
        return None if rows[0][0] is None else rows[0][0] / 1e6


async def _situation(session: Session, job_id: int) -> Situation:
    now, due, finished_us, workers, others_busy = await session.row("situation", job_id=job_id)
    deferrals = await session.rows("deferrals", job_id=job_id, after=now, limit=COUNTED)
    counts = counts_of(await session.rows("counts", job_id=job_id))
    later = [Deferral(*row) for row in deferrals]
    return Situation(now, counts, due, later, finished_us, workers, others_busy)
