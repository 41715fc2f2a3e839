"""Gates of a store's ledger, and operations on them."""

from collections.abc import Mapping, Sequence

from headgate.app.providers import SECTION
from headgate.app.settings import Loaded
from headgate.core.errors import UsageError
from headgate.core.gates.keys import find_gates, keys_of_provider
from headgate.core.provider import ProviderPolicy
from headgate.core.rate import parse_limits
from headgate.engine.gate_control import GateControl, GateReading, read_gates
from headgate.ports.clock import Clock
from headgate.ports.limits import Exchange, LedgerEntry, LimitLedger, Proposal
from headgate.ports.store import Store


class NothingLearned:
    """Ledger for a store that does not exist yet: every gate has its declared limits."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    async def exchange(self, proposals: Sequence[Proposal], keys: Sequence[str]) -> Exchange:
        """Return empty entries; nothing is stored."""
        named = [*(proposal.key for proposal in proposals), *keys]
        entries = [LedgerEntry(key, 0, "") for key in dict.fromkeys(named)]
        return Exchange(self._clock.now() / 1_000_000, entries, frozenset())

    async def entries(self, prefix: str = "") -> Sequence[LedgerEntry]:  # noqa: ARG002
        return []


class DeclaredGates:
    """Implements GateReads."""

    def __init__(self, ledger: LimitLedger | NothingLearned, loaded: Loaded) -> None:
        settings = loaded.settings
        self._loaded = loaded
        self._providers = settings.providers
        self._ledger = ledger
        self._limits = settings.gate_limits

    async def ls(self, *, everything: bool) -> GateReading:
        named = self._providers if everything else _declared(self._loaded)
        keys = [key for name in named for key in keys_of_provider(name, named[name])]
        return await self._read(list(dict.fromkeys([*await self._known(), *keys])))

    async def show(self, name: str) -> GateReading:
        return await self._read(await self._keys_of(name))

    async def _known(self) -> list[str]:
        return [entry.key for entry in await self._ledger.entries()]

    async def _keys_of(self, name: str) -> list[str]:
        return find_gates(name, await self._known(), self._providers)

    async def _read(self, keys: Sequence[str]) -> GateReading:
        return await read_gates(self._ledger, self._limits, keys)


class LocalGates(DeclaredGates):
    """Implements GateVerbs."""

    def __init__(self, store: Store, loaded: Loaded) -> None:
        super().__init__(store.limits, loaded)
        self._control = GateControl(store, self._limits)

    async def set_rate(self, name: str, rate: str, for_s: float | None) -> GateReading:
        per_s = _per_s(rate)
        keys = await self._keys_of(name)
        await self._control.set_rate(keys, per_s, for_s)
        return await self._read(keys)

    async def pause(self, name: str, for_s: float | None) -> GateReading:
        keys = await self._keys_of(name)
        await self._control.pause(keys, for_s)
        return await self._read(keys)

    async def resume(self, name: str) -> tuple[list[str], GateReading]:
        keys = await self._keys_of(name)
        resumed = await self._control.resume(keys)
        return resumed, await self._read(keys)

    async def learned(self, name: str) -> list[str]:
        known = await self._known()
        return [key for key in await self._keys_of(name) if key in known]

    async def forget(self, keys: Sequence[str]) -> list[str]:
        return await self._control.forget(keys)


def _declared(loaded: Loaded) -> Mapping[str, ProviderPolicy]:
    """The providers that are named in the user's own settings."""
    paths = (path.removeprefix(SECTION) for path in loaded.origins if path.startswith(SECTION))
    names = dict.fromkeys(path.partition(".")[0] for path in paths)
    return {name: loaded.settings.providers[name] for name in names}


def _per_s(text: str) -> float:
    """The tightest of the limits in a text, spread evenly, per second."""
    try:
        limits = parse_limits(text)
    except ValueError as error:
        raise UsageError(f"--rate {error}") from error
    if not limits:
        raise UsageError("--rate is empty: write it as 5/s, 100/min, 2000/day or 1/3s")
    return min(limit.count / limit.seconds for limit in limits)
