"""Keeps the gates of this process in agreement with the shared ledger."""

import asyncio
from collections.abc import Callable, Iterable

import msgspec

from headgate.core.errors import StoreError
from headgate.core.gates.shared_limiter import SharedLimiter
from headgate.core.gates.state import GateState
from headgate.engine.gates.gate import LocalGate
from headgate.ports.clock import Clock
from headgate.ports.limits import Exchange, LedgerEntry, LimitLedger, Proposal


class LedgerTime:
    """The monotonic clock of this process, set to the ledger's time; immune to wall clock jumps."""

    DRIFT_S = 0.05
    """A later, slower exchange corrects the clock only if it is wrong by more than these seconds.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._offset_s = clock.now() / 1_000_000 - clock.monotonic()
        self._doubt_s = float("inf")

    def now(self) -> float:
        """UTC seconds on the ledger's clock."""
        return self._clock.monotonic() + self._offset_s

    def set(self, ledger_s: float, asked_s: float, answered_s: float) -> None:
        """Set the clock from an exchange; `asked_s` and `answered_s` are on our monotonic clock."""
        doubt_s = (answered_s - asked_s) / 2
        offset_s = ledger_s - (asked_s + answered_s) / 2
        if doubt_s <= self._doubt_s or abs(offset_s - self._offset_s) > doubt_s + self.DRIFT_S:
            self._offset_s, self._doubt_s = offset_s, doubt_s


_decode = msgspec.json.Decoder(GateState).decode
_encode = msgspec.json.Encoder().encode


class LedgerSync:
    """Exchanges state about once a second, and at once if a gate closes or a request waits."""

    TICK_S = 0.1
    TRIES = 8
    """Attempts to write in one round; another process may win each of them."""
    PATIENCE_S = 2.0
    """Seconds. A slower ledger counts as lost: the gates go on with a smaller share."""
    LISTEN_S = 5.0

    def __init__(
        self,
        ledger: LimitLedger,
        time: LedgerTime,
        clock: Clock,
        wake: Callable[[LocalGate], None],
    ) -> None:
        self._ledger = ledger
        self._time = time
        self._clock = clock
        self._wake = wake
        self._gates: dict[str, tuple[LocalGate, SharedLimiter]] = {}
        self._entries: dict[str, LedgerEntry] = {}
        self._nudged = asyncio.Event()
        self._one_at_a_time = asyncio.Lock()
        """A read during a proposal would undo what the proposal changes."""

    def add(self, gate: LocalGate) -> None:
        if isinstance(gate.limiter, SharedLimiter):
            self._gates[gate.key] = gate, gate.limiter
            gate.limiter.usage.down = gate.down
            self.nudge()

    def nudge(self) -> None:
        self._nudged.set()

    async def run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._exchange_loop())
            tasks.create_task(self._listen_loop())

    async def close(self) -> None:
        """Publish what was learned and give up our share."""
        for _, share in self._gates.values():
            share.leave()
        await self._exchange(self._gates)

    async def _exchange_loop(self) -> None:
        while True:
            now_s = self._time.now()
            due = [key for key, (_, share) in self._gates.items() if self._is_due(share, now_s)]
            if due:
                await self._exchange(due)
            await self._rest()

    @staticmethod
    def _is_due(share: SharedLimiter, now_s: float) -> bool:
        return share.due(now_s) and not share.idle

    async def _rest(self) -> None:
        cancel = self._clock.later(self.TICK_S, self._nudged.set)
        await self._nudged.wait()
        cancel()
        self._nudged.clear()

    async def _listen_loop(self) -> None:
        while True:
            try:
                if await self._ledger.wait_urgent(self.LISTEN_S):
                    await self._read()
            except (StoreError, TimeoutError):
                await self._clock.sleep(1.0)

    async def _read(self) -> None:
        """Read after another process closed a gate or an operator changed one."""
        async with self._one_at_a_time:
            if self._gates:
                self._take_in((await self._ask((), [*self._gates])).entries, frozenset(), {})

    async def _exchange(self, keys: Iterable[str]) -> None:
        async with self._one_at_a_time:
            await self._propose(set(keys))

    async def _propose(self, pending: set[str]) -> None:
        for _ in range(self.TRIES):
            if not pending:
                return
            made = {key: self._merged(key) for key in pending}
            proposals = [self._proposal(key, state) for key, state in made.items()]
            try:
                report = await self._ask(proposals, [*pending])
            except (StoreError, TimeoutError):
                self._lose(pending)
                return
            self._take_in(report.entries, report.accepted, made)
            pending -= report.accepted

    def _merged(self, key: str) -> GateState:
        entry = self._entries.get(key)
        state = _decode(entry.state) if entry and entry.state else None
        gate, share = self._gates[key]
        share.usage.in_flight = gate.in_flight  # it is told of each send, but not of each reply
        merged = share.merge(state, self._time.now())
        before = (
            merged if state is None else msgspec.structs.replace(merged, answered=state.answered)
        )
        return before.with_answered(gate.answered)

    def _proposal(self, key: str, state: GateState) -> Proposal:
        entry = self._entries.get(key)
        version = entry.version if entry else 0
        return Proposal(key, version, _encode(state).decode(), self._gates[key][1].urgent)

    async def _ask(self, proposals: Iterable[Proposal], keys: list[str]) -> Exchange:
        asked_s = self._clock.monotonic()
        async with asyncio.timeout(self.PATIENCE_S):
            report = await self._ledger.exchange([*proposals], keys)
        self._time.set(report.now_s, asked_s, self._clock.monotonic())
        return report

    def _take_in(
        self,
        entries: Iterable[LedgerEntry],
        accepted: frozenset[str],
        made: dict[str, GateState],
    ) -> None:
        now_s = self._time.now()
        for entry in entries:
            before, self._entries[entry.key] = self._entries.get(entry.key), entry
            gate, share = self._gates[entry.key]
            if entry.key in accepted:
                share.accepted(made[entry.key], now_s)
            elif entry.state and (before is None or before.version != entry.version):
                state = _decode(entry.state)
                share.seen(state, now_s)
                gate.answered.update(answered_by(gate.key, state))
            self._wake(gate)

    def _lose(self, keys: Iterable[str]) -> None:
        now_s = self._time.now()
        for key in keys:
            gate, share = self._gates[key]
            share.lost(now_s)
            self._wake(gate)


def answered_by(key: str, state: GateState) -> tuple[str, ...]:
    """Hosts that have answered any process; earlier versions stored only the number of replies."""
    if key.startswith("host:") and state.pace.replies:
        return (key.removeprefix("host:"),)
    return state.answered
