"""Which gates the requests of a job pass, as far as stored facts tell."""

from collections.abc import Collection, Iterable

import msgspec

from headgate.core.call import Call
from headgate.core.configured import Configured
from headgate.core.gate_key import kind_of, name_of, provider_in
from headgate.core.gate_view import GateView
from headgate.core.paging import Order
from headgate.core.status import ItemStatus
from headgate.engine.gate_reading import GateReading, read_gates
from headgate.ports.reads import ItemQuery
from headgate.ports.store import Store

_decode = msgspec.json.Decoder(list[Call]).decode


class JobGates:
    """Knows them by what the job has asked; before anything is known of that, by who works on it.

    What was once found is remembered, so that a gate is still known when it has sent all away.
    """

    SAMPLE = 200
    """Items whose calls are looked at, next to those that are worked on."""
    HELD = 50

    def __init__(
        self, store: Store, configured: Configured, job_id: int, provider: str = ""
    ) -> None:
        self._store = store
        self._configured = configured
        self._job_id = job_id
        self._asked = {provider} - {""}
        """Providers and hosts."""
        self._keys: set[str] = set()

    async def read(self) -> GateReading:
        """Those gates as they are now."""
        workers, near = await self._at_work()
        self._asked |= names_in(await self._calls(near))
        reading = await read_gates(self._store.limits, self._configured)
        self._keys |= {
            view.key
            for view in reading.views
            if (leads_to(view.key, self._asked) if self._asked else _is_used_by(view, workers))
        }
        mine = [view for view in reading.views if view.key in self._keys]
        return GateReading(reading.now_s, mine)

    async def _at_work(self) -> tuple[set[str], int]:
        """Who holds items of the job, and the first of those items."""
        held = frozenset({ItemStatus.PROCESSING})
        query = ItemQuery(self._job_id, held, order=Order.UPDATED, limit=self.HELD, tail=True)
        rows = (await self._store.reads.items(query)).items
        return {row.locked_by or "" for row in rows}, min((row.id for row in rows), default=0)

    async def _calls(self, near: int) -> list[Call]:
        after_id = max(near - self.SAMPLE, 0)
        page = await self._store.reads.calls(self._job_id, after_id, self.SAMPLE)
        return [call for text in page.texts for call in _decode(text)]


def names_in(calls: Iterable[Call]) -> set[str]:
    """The providers and hosts that were asked."""
    return {name for call in calls for name in (call.provider, call.host) if name}


def leads_to(key: str, asked: Collection[str]) -> bool:
    """Whether a gate stands before one of these providers or hosts."""
    match kind_of(key):
        case "global":
            return True
        case "domain":
            domain = name_of(key)
            return any(f".{name}".endswith(f".{domain}") for name in asked)
        case "host":
            return name_of(key) in asked
        case _:
            return provider_in(key) in asked


def _is_used_by(view: GateView, workers: set[str]) -> bool:
    return not workers.isdisjoint(view.members)
