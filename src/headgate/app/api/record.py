"""Events that somebody has not heard yet: each once, also those that are committed late."""

from msgspec.structs import replace

from headgate.ports.clock import Clock
from headgate.ports.reads import EventQuery, EventRow, ReadStore


class Record:
    """Reads on where the last look ended, and once more over what is only seconds old.

    Ids are given out before the commit: where several processes write at once, a smaller one may
    appear after a larger one.
    """

    LATE_S = 5.0
    PAGE = 200
    PAGES = 50
    """How much one look reads; the next one goes on there."""

    def __init__(self, reads: ReadStore, clock: Clock, query: EventQuery, after: int) -> None:
        self._reads = reads
        self._clock = clock
        self._query = replace(query, limit=self.PAGE)
        self._floor = after
        """Nothing up to here is still to come."""
        self._told: dict[int, float] = {}
        """What was told beyond that, and when."""

    async def fresh(self) -> list[EventRow]:
        """What has not been told yet, in order of id."""
        fresh: list[EventRow] = []
        after = self._floor
        for _ in range(self.PAGES):
            rows = await self._reads.events(replace(self._query, after_id=after))
            fresh += [row for row in rows if row.id not in self._told]
            if len(rows) < self.PAGE:
                break
            after = rows[-1].id
        now_s = self._clock.monotonic()
        self._told |= {row.id: now_s for row in fresh}
        self._settle(now_s)
        return fresh

    def _settle(self, now_s: float) -> None:
        """Raise the floor to what was told long enough ago."""
        old = [number for number, at_s in self._told.items() if now_s - at_s > self.LATE_S]
        self._floor = max([self._floor, *old])
        self._told = {number: at for number, at in self._told.items() if number > self._floor}
