"""What people do to gates: heard by every process at once, and outliving all of them."""

from collections.abc import Iterable, Sequence
from typing import Protocol

import msgspec

from headgate.core.call import Call
from headgate.core.errors import StoreMismatch, StoreUnreachable
from headgate.core.gates.config import GateLimits
from headgate.core.gates.keys import GLOBAL, keys_of_provider, name_of, own_name
from headgate.core.gates.state import GateState, Override
from headgate.core.gates.view import GateView, ceilings_of, view_of
from headgate.core.pacing.pace import Pace
from headgate.core.paging import SortOrder
from headgate.core.status import ItemStatus
from headgate.ports.limits import Exchange, LedgerEntry, LimitLedger, Proposal
from headgate.ports.reads import ItemQuery, ItemRow
from headgate.ports.store import Store

_decode = msgspec.json.Decoder(GateState).decode


class GateReading(msgspec.Struct, frozen=True):
    """What the gates were at one moment, on the ledger's clock."""

    now_s: float
    views: Sequence[GateView]


def state_in(entry: LedgerEntry) -> GateState:
    """The state that an entry holds."""
    try:
        return _decode(entry.state)
    except msgspec.MsgspecError as error:
        raise StoreMismatch(
            f"what another version of Headgate keeps of {entry.key} cannot be read ({error});"
            f" begin anew with: headgate providers forget {entry.key}"
        ) from error


class Ledger(Protocol):
    """The part of a ledger that is read."""

    async def exchange(self, proposals: Sequence[Proposal], keys: Sequence[str]) -> Exchange:
        """The state of every key named."""
        ...


async def read_gates(ledger: Ledger, configured: GateLimits, keys: Sequence[str]) -> GateReading:
    """The gates of these keys, also those that have no state yet."""
    answer = await ledger.exchange((), keys)
    return GateReading(
        answer.now_s, [_viewed(entry, configured, answer.now_s) for entry in answer.entries]
    )


def _viewed(entry: LedgerEntry, configured: GateLimits, now_s: float) -> GateView:
    state = state_in(entry) if entry.state else None
    return view_of(entry.key, state, configured.of(entry.key), now_s)


class GateControl:
    """Operator verbs over one ledger. The last word counts; an event keeps each of them."""

    TRIES = 50
    """Processes at work change their gates about once a second, and each may be faster."""

    def __init__(self, store: Store, configured: GateLimits) -> None:
        self._store = store
        self._configured = configured
        self._ledger: LimitLedger = store.limits

    async def set_rate(self, keys: Iterable[str], per_s: float, for_s: float | None = None) -> None:
        """Let so many requests a second out, whatever was learned."""
        await self._say([*keys], Override(rate=per_s), for_s, f"set to {per_s:.4g}/s")

    async def pause(self, keys: Iterable[str], for_s: float | None = None) -> None:
        """Let nothing out."""
        await self._say([*keys], Override(paused=True), for_s, "paused")

    async def resume(self, keys: Iterable[str]) -> list[str]:
        """Take back what was said, and go on with what was learned; where there was anything."""
        entries = (await self._ledger.exchange((), [*keys])).entries
        spoken = [each.key for each in entries if each.state and state_in(each).override]
        await self._say(spoken, None, None, "back to what was learned")
        return spoken

    async def forget(self, keys: Iterable[str]) -> list[str]:
        """Drop all that is known; where there was anything."""
        dropped = [key for key in keys if await self._ledger.forget(key)]
        for key in dropped:
            await self._store.jobs.record_event("gate", f"{key}: forgotten")
        return dropped

    async def _say(
        self, keys: list[str], word: Override | None, for_s: float | None, story: str
    ) -> None:
        left = await self._ledger.exchange((), keys)
        until = None if for_s is None else left.now_s + for_s
        if word is not None:
            word = msgspec.structs.replace(word, until=until)
        for _ in range(self.TRIES):
            proposals = [self._with_word(entry, word) for entry in left.entries]
            left = await self._ledger.exchange(proposals, [each.key for each in proposals])
            waiting = [entry for entry in left.entries if entry.key not in left.accepted]
            for key in sorted(left.accepted):
                ending = "" if for_s is None else f" for {for_s:g} s"
                await self._store.jobs.record_event("gate", f"{key}: {story}{ending}")
            left = msgspec.structs.replace(left, entries=waiting)
            if not waiting:
                return
        raise StoreUnreachable(f"{waiting[0].key} is changed too often to be heard; try again")

    def _with_word(self, entry: LedgerEntry, word: Override | None) -> Proposal:
        state = state_in(entry) if entry.state else self._unknown(entry.key)
        spoken = msgspec.structs.replace(state, override=word)
        text = msgspec.json.encode(spoken).decode()
        return Proposal(entry.key, entry.version, text, urgent=True)

    def _unknown(self, key: str) -> GateState:
        """What a process would begin with."""
        return GateState(Pace(ceilings_of(self._configured.of(key))).remembered())


_decode_calls = msgspec.json.Decoder(list[Call]).decode


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
        return [call for text in page.texts for call in _decode_calls(text)]

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
