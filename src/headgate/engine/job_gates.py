"""Which gates the requests of a job pass, as far as stored facts tell."""

from collections.abc import Iterable, Sequence

import msgspec

from headgate.core.call import Call
from headgate.core.gates.config import GateLimits
from headgate.core.gates.keys import GLOBAL, keys_of_provider, name_of, own_name
from headgate.core.paging import SortOrder
from headgate.core.status import ItemStatus
from headgate.engine.gate_reading import GateReading, read_gates, state_in
from headgate.ports.reads import ItemQuery, ItemRow
from headgate.ports.store import Store

_decode = msgspec.json.Decoder(list[Call]).decode


class JobGates:
    """Knows them by what the job has asked and what its items wait for.

    Before anything is known of that it may guess by who works on the job. They may work for others
    as well, whose gates are not everybody's business: where there are users, nothing is guessed.
    What was once found is remembered, so that a gate is still known when it has sent all away.
    Only gates of the job are read as a whole: a ledger may hold those of very many hosts.
    """

    SAMPLE = 200
    """Items whose calls are looked at, next to those that are worked on."""
    HELD = 50
    KEPT = 400
    """Providers and hosts that are remembered."""

    def __init__(
        self,
        store: Store,
        configured: GateLimits,
        job_id: int,
        provider: str = "",
        *,
        guesses: bool = True,
    ) -> None:
        self._store = store
        self._configured = configured
        self._job_id = job_id
        self._asked: dict[str, None] = {provider: None} if provider else {}
        """Providers and hosts, those that were seen last in front."""
        self._guesses = guesses
        self._keys: set[str] = set()
        """Found by who works there."""

    async def read(self) -> GateReading:
        """Those gates as they are now."""
        held = await self._held()
        near = min((row.id for row in held), default=0)
        names = names_in(await self._calls(near)) | {own_name(row.gate) for row in held if row.gate}
        self._asked = dict.fromkeys([*names, *self._asked][: self.KEPT])
        if self._asked:
            keys = [*keys_before(self._asked, self._configured), *await self._domains()]
        else:
            keys = await self._guessed({row.locked_by or "" for row in held})
        reading = await read_gates(self._store.limits, self._configured, keys)
        known = sorted((view for view in reading.views if view.asked), key=lambda view: view.key)
        return GateReading(reading.now_s, known)

    async def _held(self) -> Sequence[ItemRow]:
        """Items of the job that are worked on, the longest held."""
        held = frozenset({ItemStatus.PROCESSING})
        query = ItemQuery(self._job_id, held, order=SortOrder.UPDATED, limit=self.HELD, tail=True)
        return (await self._store.reads.items(query)).items

    async def _calls(self, near: int) -> list[Call]:
        after_id = max(near - self.SAMPLE, 0)
        page = await self._store.reads.calls(self._job_id, after_id, self.SAMPLE)
        return [call for text in page.texts for call in _decode(text)]

    async def _guessed(self, workers: set[str]) -> list[str]:
        if not self._guesses or (await self._store.reads.counts(self._job_id)).finished:
            return []  # it could have asked by now: what else its workers ask is not its own
        self._keys |= await self._used_by(workers)
        return sorted(self._keys)

    async def _used_by(self, workers: set[str]) -> set[str]:
        """The gates at which one of them stands; a look at the text spares reading all states."""
        entries = await self._store.limits.entries() if workers else ()
        return {
            entry.key
            for entry in entries
            if any(worker in entry.state for worker in workers)
            and not workers.isdisjoint(state_in(entry).members)
        }

    async def _domains(self) -> list[str]:
        if self._configured.gates.concurrency_per_domain is None:
            return []
        entries = await self._store.limits.entries("domain:")
        return [entry.key for entry in entries if is_within(name_of(entry.key), self._asked)]


def names_in(calls: Iterable[Call]) -> set[str]:
    """The providers and hosts that were asked."""
    return {name for call in calls for name in (call.provider, call.host) if name}


def keys_before(names: Iterable[str], configured: GateLimits) -> list[str]:
    """The gates that may stand before these providers and hosts, each once."""
    providers = configured.providers
    keys = [GLOBAL]
    for name in names:
        keys += [f"provider:{name}", f"host:{name}"]
        keys += keys_of_provider(name, providers[name]) if name in providers else []
    return list(dict.fromkeys(keys))


def is_within(domain: str, names: Iterable[str]) -> bool:
    """Whether one of these hosts belongs to a domain."""
    return any(f".{name.partition(':')[0]}".endswith(f".{domain}") for name in names)
