"""How a job goes now, on SQLite."""

from headgate.core.waiting import COUNTED, TIMED, Deferral, Situation
from headgate.stores.histories import counts_of
from headgate.stores.sqlite.connection import Database, Transaction


class SqliteSituations:
    """SituationStore on one file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, job_id: int) -> Situation:
        """What is stored about how a job goes now."""
        return await self._database.read(lambda tx: _situation(tx, job_id))

    async def handler_s(self, job_id: int) -> float | None:
        """The seconds that the last rows of a job took in their handler; None: none was done."""
        values = {"job_id": job_id, "limit": TIMED}
        rows = await self._database.read(lambda tx: tx.rows("handler_time", **values))
        return None if rows[0][0] is None else rows[0][0] / 1e6


def _situation(tx: Transaction, job_id: int) -> Situation:
    due, finished_us, workers, others_busy = tx.rows("situation", job_id=job_id)[0]
    deferrals = tx.rows("deferrals", job_id=job_id, limit=COUNTED)
    return Situation(
        tx.now,
        counts_of(tx.rows("counts", job_id=job_id)),
        bool(due),
        [Deferral(*row) for row in deferrals],
        finished_us,
        workers,
        bool(others_busy),
    )
