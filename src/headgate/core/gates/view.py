"""A gate as users see it: plain values, made from the ledger's state and the settings."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from headgate.core.gates.budget import BudgetUse, SpentCap, budget_uses, spent_cap
from headgate.core.gates.configured_limiter import ANY
from headgate.core.gates.fair_split import ALIVE_S, alive
from headgate.core.gates.keys import gate_kind, gate_name
from headgate.core.gates.state import (
    GateState,
    HostDown,
    Member,
    Override,
    host_down_text,
    next_trials,
)
from headgate.core.pacing.pace import Pace
from headgate.core.pacing.state import Cause, PaceEvidence, PaceState
from headgate.core.provider import ProviderPolicy
from headgate.core.rate import Ceilings

SET = "set"
"""The cause of a wait for a rate that an operator set, in addition to the values of `Cause`."""
NO_RATE = ANY / 2
"""Requests a second from which a level means no rate: the gate only keeps a cap."""


class GateView(msgspec.Struct, frozen=True, kw_only=True):
    """Times are UTC seconds on the ledger's clock."""

    key: str
    kind: str
    name: str
    configured: str = ""
    """The configured limits, as the settings write them."""
    configured_per_s: float | None = None
    configured_in_flight: int | None = None
    learned_per_s: float | None = None
    """The provider's limit as far as it is known; None: not found yet."""
    learned_in_flight: int | None = None
    told: bool = False
    """The provider declares its limit."""
    now_per_s: float | None = None
    """Most requests a second at present, of all processes together; None: no rate applies."""
    asked: bool = False
    """The ledger has a state of this gate."""
    stage: str = "no request was sent yet"
    """The phase of the search for the limit, in words."""
    cause: str = Cause.OPEN.value
    """What holds the next request back: a `Cause`, or `set`."""
    why: str = ""
    """The cause in words."""
    closed: bool = False
    closed_until: float | None = None
    """When it opens; None while it is closed: after the next answer, or when an operator opens it.
    """
    waiting: bool = False
    """Requests wait at the gate."""
    in_flight: int = 0
    replies: int = 0
    refusals: int = 0
    refused_share: float = 0.0
    latency_s: float | None = None
    down: Mapping[str, HostDown] = {}
    """Hosts that do not answer, each with the reason and the time of the next trial."""
    budgets: Sequence[BudgetUse] = ()
    members: Mapping[str, Member] = {}
    override: Override | None = None
    evidence: Sequence[PaceEvidence] = ()

    @property
    def broken(self) -> dict[str, float]:
        """Hosts that do not answer, each with the time of the next trial."""
        return next_trials(self.down)

    @property
    def holds(self) -> bool:
        return self.closed or (self.waiting and self.cause != Cause.OPEN)


def gate_view(key: str, state: GateState | None, policy: ProviderPolicy, now: float) -> GateView:
    view = GateView(
        key=key,
        kind=gate_kind(key),
        name=gate_name(key),
        configured=policy.rate,
        configured_per_s=ceilings_of(policy).rate,
        configured_in_flight=policy.concurrency,
        budgets=budget_uses(state.budget if state else None, policy, now),
    )
    return view if state is None else _known(view, state, policy, now)


def ceilings_of(policy: ProviderPolicy) -> Ceilings:
    return Ceilings(policy.limits, policy.burst or 1, policy.concurrency, policy.refusals)


def _known(view: GateView, state: GateState, policy: ProviderPolicy, now: float) -> GateView:
    pace = Pace.from_state(state.pace, ceilings_of(policy))
    members = alive(state.members, now)
    override = state.override if state.override and state.override.holds(now) else None
    spent = spent_cap(state.budget, policy, now)
    closed, until = _closed(pace, override, spent, now)
    at = _Moment(now, override, spent, members)
    cause = _cause(pace, at)
    rate = 0.0 if closed else _rate(pace, override)
    down = _down(state.members, now)
    return msgspec.structs.replace(
        view,
        learned_per_s=_learned(state.pace),
        learned_in_flight=_learned_cap(state.pace),
        told=state.pace.told,
        asked=True,
        now_per_s=rate if rate < NO_RATE else None,
        stage=_stage(pace),
        cause=cause,
        why=spent.words if spent and cause == Cause.BUDGET else _why(view, state, cause, down),
        closed=closed,
        closed_until=until,
        waiting=at.waiting,
        in_flight=at.in_flight,
        replies=state.pace.replies,
        refusals=state.pace.refusals,
        refused_share=pace.refused_share,
        latency_s=state.pace.latency if state.pace.replies else None,
        down=down,
        members=members,
        override=override,
        evidence=tuple(state.pace.evidence),
    )


def _down(members: Mapping[str, Member], now: float) -> dict[str, HostDown]:
    """Every host that a process sends nothing to; of several entries, the one with the next trial.

    A process that sends nothing to a host has nothing to exchange meanwhile, so its last exchange
    may be older than others': its entry counts until its next trial.
    """
    down: dict[str, HostDown] = {}
    for member in members.values():
        for host, each in member.hosts_down.items():
            if now - max(member.seen, each.until_s) >= ALIVE_S:
                continue
            if host not in down or each.until_s < down[host].until_s:
                down[host] = each
    return down


class _Moment(NamedTuple):
    now: float
    override: Override | None
    spent: SpentCap | None
    members: Mapping[str, Member]

    @property
    def waiting(self) -> bool:
        return any(each.waiting for each in self.members.values())

    @property
    def in_flight(self) -> int:
        return sum(each.in_flight for each in self.members.values())


def _learned(state: PaceState) -> float | None:
    known = state.told_rate if state.told else state.rate.known
    return None if known is None or known >= NO_RATE else known


def _learned_cap(state: PaceState) -> int | None:
    return int(state.cap.known) if state.cap and state.cap.known else None


def _closed(
    pace: Pace, override: Override | None, spent: SpentCap | None, now: float
) -> tuple[bool, float | None]:
    if override is not None and override.paused:
        return True, override.until
    until = max(pace.closed_until, spent.until if spent else 0.0)
    if until > now:
        return True, until
    return pace.state.stop.open, None


def _rate(pace: Pace, override: Override | None) -> float:
    if override is not None and override.rate is not None:
        return override.rate
    if _is_capped(pace):
        return pace.configured or 0.0
    return pace.state.rate.value


def _is_capped(pace: Pace) -> bool:
    """True if the configured rate applies: it is lower, or nothing is learned yet."""
    rate = pace.state.rate
    return pace.configured is not None and (rate.known is None or pace.configured <= rate.value)


def _cause(pace: Pace, at: _Moment) -> str:
    if at.override is not None and at.override.paused:
        return Cause.PAUSED
    if at.spent is not None and at.spent.until > max(pace.closed_until, at.now):
        return Cause.BUDGET
    stop = pace.state.stop
    if at.now < pace.state.shut_until:
        return Cause.TOLD
    if stop.open:
        return Cause.RETRY_AFTER if stop.told_s and stop.ask_at > at.now else Cause.STOPPED
    return _open_cause(pace, at) if at.waiting else Cause.OPEN


def _open_cause(pace: Pace, at: _Moment) -> str:
    if pace.cap is not None and at.in_flight >= pace.cap:
        return Cause.CONCURRENCY if pace.cap == pace.limits.concurrency else Cause.CAP
    if at.override is not None and at.override.rate is not None:
        return SET
    if _is_capped(pace):
        return Cause.CEILING
    return _learned_cause(pace.state, at.now)


def _learned_cause(state: PaceState, now: float) -> Cause:
    window = state.window
    if state.opened and state.sent - state.answered > 1 + 2 * state.answered:
        return Cause.REOPENING
    if state.told:
        return Cause.TOLD
    if window and window.firm and state.delivery.count(now - window.seconds, now) >= window.count:
        return Cause.WINDOW
    return Cause.RATE


def _why(view: GateView, state: GateState, cause: str, down: Mapping[str, HostDown]) -> str:
    """What holds the next request back; where the gate is open, a host that does not answer."""
    if cause == Cause.OPEN and down:
        host = min(down, key=lambda each: down[each].until_s)
        return host_down_text(host, down[host], view.name)
    return _cause_text(cause, state.pace)


def _cause_text(cause: str, state: PaceState) -> str:
    if cause == SET:
        return "the rate that an operator set"
    if cause == Cause.RATE and state.rate.known is None:
        return "the limit is not known yet"
    return Cause(cause).words.partition(": ")[2]


def _stage(pace: Pace) -> str:
    state = pace.state
    if state.stop.open:
        return "stopped: the provider refused; single requests test whether it accepts more"
    if state.told:
        return "told: the provider declares its limit"
    if state.rate.known is None and pace.configured is not None:
        return "starting: the configured rate applies until a request is refused"
    if state.rate.known is None:
        return "starting: the rate grows until a request is refused"
    if state.rate.probing:
        return "probing: trying a slightly higher rate"
    trust = "" if state.settled else ", which is not confirmed yet"
    return f"holding: just below the known limit{trust}"
