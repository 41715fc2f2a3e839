"""Gates of a server's ledger."""

from collections.abc import Sequence

from headgate.app.remote.values import ledger_s
from headgate.client import Client, Gate
from headgate.client.gates import Gates
from headgate.core.gates.budget_view import BudgetUse
from headgate.core.gates.fair_split import Member
from headgate.core.gates.host_down import HostDown
from headgate.core.gates.state import Override
from headgate.core.gates.view import GateView
from headgate.core.pacing.state import PaceEvidence
from headgate.engine.gate_control import GateReading


class RemoteGates:
    """Implements GateVerbs."""

    def __init__(self, client: Client) -> None:
        self._providers = client.providers

    async def ls(self, *, everything: bool) -> GateReading:
        return reading_of(await self._providers.ls("all" if everything else "declared"))

    async def show(self, name: str) -> GateReading:
        return reading_of(await self._providers.get(name))

    async def set_rate(self, name: str, rate: str, for_s: float | None) -> GateReading:
        return reading_of(await self._providers.set_rate(name, rate, for_s))

    async def pause(self, name: str, for_s: float | None) -> GateReading:
        return reading_of(await self._providers.pause(name, for_s))

    async def resume(self, name: str) -> tuple[list[str], GateReading]:
        before = await self._providers.get(name)
        overridden = [gate.key for gate in before.items if gate.override]
        return overridden, reading_of(await self._providers.resume(name))

    async def learned(self, name: str) -> list[str]:
        return [gate.key for gate in (await self._providers.get(name)).items if gate.asked]

    async def forget(self, keys: Sequence[str]) -> list[str]:
        for key in keys:
            await self._providers.forget(key)
        return [*keys]


def reading_of(gates: Gates) -> GateReading:
    """Gates with the time of the reading."""
    return GateReading(ledger_s(gates.now) or 0.0, [view_of(gate) for gate in gates.items])


def view_of(gate: Gate) -> GateView:
    override = gate.override
    changed = {"closed_until", "down", "budgets", "members", "override", "evidence"}
    same = [name for name in GateView.__struct_fields__ if name not in changed]
    return GateView(
        closed_until=ledger_s(gate.closed_until),
        down=_down_of(gate),
        budgets=[
            BudgetUse(use.name, use.count, use.seconds, use.hard, use.used, ledger_s(use.turns_at))
            for use in gate.budgets
        ],
        members={
            each.worker: Member(
                seen=ledger_s(each.seen_at) or 0.0,
                need=-1.0 if each.could_use_per_s is None else each.could_use_per_s,
                in_flight=each.in_flight,
                waiting=each.waiting,
            )
            for each in gate.members
        },
        override=Override(override.rate, override.paused, ledger_s(override.until))
        if override
        else None,
        evidence=[
            PaceEvidence(ledger_s(line.at) or 0.0, line.seen, line.decided, line.before, line.after)
            for line in gate.evidence
        ],
        **{name: getattr(gate, name) for name in same},
    )


def _down_of(gate: Gate) -> dict[str, HostDown]:
    """A server of an earlier version sends only the times."""
    plain = {host: HostDown(ledger_s(at) or 0.0) for host, at in gate.broken.items()}
    return plain | {
        host: HostDown(ledger_s(each.until) or 0.0, each.reason, ledger_s(each.since))
        for host, each in gate.down.items()
    }
