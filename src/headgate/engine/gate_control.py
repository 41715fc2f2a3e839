"""Reads gates from the ledger and changes them for operators, across all processes."""

from collections.abc import Iterable, Sequence
from typing import Protocol

import msgspec

from headgate.core.call import Call
from headgate.core.errors import StoreMismatch, StoreUnreachable
from headgate.core.gates.config import GateLimits
from headgate.core.gates.keys import GLOBAL, gate_name, keys_of_provider, own_name
from headgate.core.gates.state import GateState, Override
from headgate.core.gates.view import GateView, ceilings_of, gate_view
from headgate.core.pacing.pace import Pace
from headgate.core.paging import SortOrder
from headgate.core.status import ItemStatus
from headgate.ports.limits import Exchange, LedgerEntry, LimitLedger, Proposal
from headgate.ports.reads import ItemQuery, ItemRow
from headgate.ports.store import Store

_decode = msgspec.json.Decoder(GateState).decode


class GateReading(msgspec.Struct, frozen=True):
    now_s: float
    views: Sequence[GateView]


def state_in(entry: LedgerEntry) -> GateState:
    try:
        return _decode(entry.state)
    except msgspec.MsgspecError as error:
        raise StoreMismatch(
            f"the state of {entry.key} was stored by another version of Headgate and cannot be"
            f" read ({error}). Start again with: headgate providers forget {entry.key}"
        ) from error


class Ledger(Protocol):
    async def exchange(self, proposals: Sequence[Proposal], keys: Sequence[str]) -> Exchange: ...


async def read_gates(ledger: Ledger, configured: GateLimits, keys: Sequence[str]) -> GateReading:
    answer = await ledger.exchange((), keys)
    return GateReading(
        answer.now_s, [_viewed(entry, configured, answer.now_s) for entry in answer.entries]
    )


def _viewed(entry: LedgerEntry, configured: GateLimits, now_s: float) -> GateView:
    state = state_in(entry) if entry.state else None
    return gate_view(entry.key, state, configured.of(entry.key), now_s)


class GateControl:
    """Operator commands over one ledger. The last one wins; each is recorded as an event."""

    TRIES = 50
    """Attempts to write. Working processes change their gates about once a second and may win."""

    def __init__(self, store: Store, configured: GateLimits) -> None:
        self._store = store
        self._configured = configured
        self._ledger: LimitLedger = store.limits

    async def set_rate(self, keys: Iterable[str], per_s: float, for_s: float | None = None) -> None:
        """Send this many requests a second, whatever was learned."""
        await self._override([*keys], Override(rate=per_s), for_s, f"set to {per_s:.4g}/s")

    async def pause(self, keys: Iterable[str], for_s: float | None = None) -> None:
        await self._override([*keys], Override(paused=True), for_s, "paused")

    async def resume(self, keys: Iterable[str]) -> list[str]:
        """Go back to the learned rate; returns the keys that had an override."""
        entries = (await self._ledger.exchange((), [*keys])).entries
        overridden = [each.key for each in entries if each.state and state_in(each).override]
        await self._override(overridden, None, None, "back to what was learned")
        return overridden

    async def forget(self, keys: Iterable[str]) -> list[str]:
        """Drop all that was learned; returns the keys that had a state."""
        dropped = [key for key in keys if await self._ledger.forget(key)]
        for key in dropped:
            await self._store.jobs.record_event("gate", f"{key}: forgotten")
        return dropped

    async def _override(
        self, keys: list[str], override: Override | None, for_s: float | None, text: str
    ) -> None:
        left = await self._ledger.exchange((), keys)
        until = None if for_s is None else left.now_s + for_s
        if override is not None:
            override = msgspec.structs.replace(override, until=until)
        for _ in range(self.TRIES):
            proposals = [self._overridden(entry, override) for entry in left.entries]
            left = await self._ledger.exchange(proposals, [each.key for each in proposals])
            waiting = [entry for entry in left.entries if entry.key not in left.accepted]
            for key in sorted(left.accepted):
                ending = "" if for_s is None else f" for {for_s:g} s"
                await self._store.jobs.record_event("gate", f"{key}: {text}{ending}")
            left = msgspec.structs.replace(left, entries=waiting)
            if not waiting:
                return
        raise StoreUnreachable(f"{waiting[0].key} is changed too often at the moment. Try again.")

    def _overridden(self, entry: LedgerEntry, override: Override | None) -> Proposal:
        state = state_in(entry) if entry.state else self._unknown(entry.key)
        changed = msgspec.structs.replace(state, override=override)
        text = msgspec.json.encode(changed).decode()
        return Proposal(entry.key, entry.version, text, urgent=True)

    def _unknown(self, key: str) -> GateState:
        """The state that a process begins with."""
        return GateState(Pace(ceilings_of(self._configured.of(key))).remembered())


_decode_calls = msgspec.json.Decoder(list[Call]).decode


class JobGates:
    """Finds the gates of a job by the calls it has made and the gates its items wait at.

    Before the job has made a call, its gates may be guessed from its workers. Workers may also
    serve jobs of other users, whose gates must stay private: where there are users, nothing is
    guessed.

    A gate that was once found is remembered, so that it stays known after it has sent all items
    back. Only gates of the job are read in full: a ledger may hold the gates of very many hosts.
    """

    SAMPLE = 200
    """Items whose calls are read, near the items that are being processed."""
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
        """Providers and hosts, the most recently seen first."""
        self._guesses = guesses
        self._keys: set[str] = set()
        """Keys guessed from the workers."""

    async def read(self) -> GateReading:
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
        """Items of the job that are being processed, the longest held first."""
        held = frozenset({ItemStatus.PROCESSING})
        query = ItemQuery(self._job_id, held, order=SortOrder.UPDATED, limit=self.HELD, tail=True)
        return (await self._store.reads.items(query)).items

    async def _calls(self, near: int) -> list[Call]:
        after_id = max(near - self.SAMPLE, 0)
        page = await self._store.reads.calls(self._job_id, after_id, self.SAMPLE)
        return [call for text in page.texts for call in _decode_calls(text)]

    async def _guessed(self, workers: set[str]) -> list[str]:
        if not self._guesses or (await self._store.reads.counts(self._job_id)).finished:
            return []  # with finished items its own calls are known; others belong to other jobs
        self._keys |= await self._used_by(workers)
        return sorted(self._keys)

    async def _used_by(self, workers: set[str]) -> set[str]:
        """The gates that one of the workers uses; a text search avoids decoding all states."""
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
        return [entry.key for entry in entries if is_within(gate_name(entry.key), self._asked)]


def names_in(calls: Iterable[Call]) -> set[str]:
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
    return any(f".{name.partition(':')[0]}".endswith(f".{domain}") for name in names)
