"""What people do to gates: heard by every process at once, and outliving all of them."""

from collections.abc import Iterable

import msgspec

from headgate.core.errors import StoreUnreachable
from headgate.core.gates.config import GateLimits
from headgate.core.gates.state import GateState, Override
from headgate.core.gates.view import ceilings_of
from headgate.core.pacing.pace import Pace
from headgate.engine.gate_reading import state_in
from headgate.ports.limits import LedgerEntry, LimitLedger, Proposal
from headgate.ports.store import Store


class GateSteering:
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
