"""Keeps how unfinished jobs stood, for those who look later."""

from collections import OrderedDict
from collections.abc import Sequence

from headgate.app.api.gauges import Gauges
from headgate.app.api.track import GatePoint, Reading, Track, points_of
from headgate.app.loops import Sign
from headgate.app.telemetry import logger
from headgate.core.errors import HeadgateError
from headgate.core.status import UNFINISHED
from headgate.ports.clock import Clock
from headgate.ports.reads import JobQuery
from headgate.ports.store import Store


class Histories:
    """One for each job that was seen unfinished, for as long as the server runs."""

    PERIOD_S = 2.0
    WATCHED = 50
    """Unfinished jobs that are looked at, the newest."""
    KEPT = 100

    def __init__(self, store: Store, gauges: Gauges, clock: Clock) -> None:
        self._store = store
        self._gauges = gauges
        self._clock = clock
        self._tracks: OrderedDict[int, Track] = OrderedDict()
        self._unfinished: set[int] = set()

    async def run(self, sign: Sign) -> None:
        """Look again and again."""
        while True:
            try:
                await self.look()
            except HeadgateError as error:
                logger().warning("no reading of the jobs was taken", error=str(error))
            sign()
            await self._clock.sleep(self.PERIOD_S)

    async def look(self) -> None:
        """Take one reading of each; of those that ended meanwhile, the last one."""
        reads = self._store.reads
        jobs = await reads.jobs(JobQuery(states=UNFINISHED, limit=self.WATCHED, configs=False))
        ids = {job.id for job in jobs}
        for job_id in (*ids, *(self._unfinished - ids)):
            await self._note(job_id)
        self._unfinished = ids

    def of(self, job_id: int) -> Sequence[Reading]:
        """How a job stood, oldest first; nothing if it ended before the server began."""
        track = self._tracks.get(job_id)
        return track.readings if track else ()

    async def _note(self, job_id: int) -> None:
        counts = await self._store.reads.counts(job_id)
        gates = await self._points(job_id) if counts.processing else ()
        track = self._tracks.setdefault(job_id, Track())
        track.add(Reading(self._clock.now(), counts, gates))
        self._tracks.move_to_end(job_id)
        while len(self._tracks) > self.KEPT:
            self._tracks.popitem(last=False)

    async def _points(self, job_id: int) -> Sequence[GatePoint]:
        reading = await self._gauges.read(job_id)
        return points_of(reading.views) if reading else ()
