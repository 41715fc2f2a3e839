"""A gate as people see it: plain values, made from what the ledger holds and what is configured."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from headgate.core.gates import host_down
from headgate.core.gates.budget_view import BudgetUse, SpentCap, spent_cap, uses_of
from headgate.core.gates.configured_limiter import ANY
from headgate.core.gates.fair_split import ALIVE_S, Member, alive
from headgate.core.gates.host_down import HostDown, moments
from headgate.core.gates.keys import kind_of, name_of
from headgate.core.gates.state import GateState, Override
from headgate.core.pacing.pace import Pace
from headgate.core.pacing.state import Cause, PaceEvidence, PaceState
from headgate.core.provider import ProviderPolicy
from headgate.core.rate import Ceilings

SET = "set"
"""The cause of a wait for a rate that an operator has set, beside those of `Cause`."""
NO_RATE = ANY / 2
"""From here on a level is none: the gate only keeps a cap."""


class GateView(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a gate. Moments are UTC seconds on the ledger's clock."""

    key: str
    kind: str
    name: str
    configured: str = ""
    """The configured limits, as they are written."""
    configured_per_s: float | None = None
    configured_in_flight: int | None = None
    learned_per_s: float | None = None
    """What is known of the provider's limit; None: still looked for."""
    learned_in_flight: int | None = None
    told: bool = False
    """The provider names its limit itself."""
    now_per_s: float | None = None
    """What goes out at most at present, by all processes together; None: no rate limits it."""
    asked: bool = False
    """Something is known of it."""
    stage: str = "nothing was asked yet"
    """How it goes about the limit, in words."""
    cause: str = Cause.OPEN.value
    """What holds the next request back: a `Cause`, or `set`."""
    why: str = ""
    """The same in words."""
    closed: bool = False
    closed_until: float | None = None
    """When it opens; None while it is closed: after the next answer, or when an operator says."""
    waiting: bool = False
    """Somebody stands in line there."""
    in_flight: int = 0
    replies: int = 0
    refusals: int = 0
    refused_share: float = 0.0
    latency_s: float | None = None
    down: Mapping[str, HostDown] = {}
    """Hosts that do not answer, each with the reason and the moment that it is asked again."""
    budgets: Sequence[BudgetUse] = ()
    members: Mapping[str, Member] = {}
    """The processes that use it now."""
    override: Override | None = None
    """What an operator has said, as long as it counts."""
    evidence: Sequence[PaceEvidence] = ()

    @property
    def broken(self) -> dict[str, float]:
        """Hosts that do not answer, each with the moment that it is asked again."""
        return moments(self.down)

    @property
    def holds(self) -> bool:
        """Whether it keeps anything back at present."""
        return self.closed or (self.waiting and self.cause != Cause.OPEN)


def view_of(key: str, state: GateState | None, policy: ProviderPolicy, now: float) -> GateView:
    """What people are told of a gate; `policy` is what is configured for it."""
    view = GateView(
        key=key,
        kind=kind_of(key),
        name=name_of(key),
        configured=policy.rate,
        configured_per_s=ceilings_of(policy).rate,
        configured_in_flight=policy.concurrency,
        budgets=uses_of(state.budget if state else None, policy, now),
    )
    return view if state is None else _known(view, state, policy, now)


def ceilings_of(policy: ProviderPolicy) -> Ceilings:
    """What the settings allow at most."""
    return Ceilings(policy.limits, policy.burst or 1, policy.concurrency, policy.refusals)


def _known(view: GateView, state: GateState, policy: ProviderPolicy, now: float) -> GateView:
    pace = Pace.from_state(state.pace, ceilings_of(policy))
    members = alive(state.members, now)
    word = state.override if state.override and state.override.holds(now) else None
    spent = spent_cap(state.budget, policy, now)
    closed, until = _closed(pace, word, spent, now)
    at = _Moment(now, word, spent, members)
    cause = _cause(pace, at)
    rate = 0.0 if closed else _rate(pace, word)
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
        override=word,
        evidence=tuple(state.pace.evidence),
    )


def _down(members: Mapping[str, Member], now: float) -> dict[str, HostDown]:
    """Every host that a process leaves alone; of several words on one, that of the next trial.

    A process that leaves a host alone has nothing to exchange meanwhile, so it may not have been
    seen for longer than others: what it said counts until its next trial.
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
    """What holds beside the pace."""

    now: float
    word: Override | None
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
    pace: Pace, word: Override | None, spent: SpentCap | None, now: float
) -> tuple[bool, float | None]:
    if word is not None and word.paused:
        return True, word.until
    until = max(pace.closed_until, spent.until if spent else 0.0)
    if until > now:
        return True, until
    return pace.state.stop.open, None


def _rate(pace: Pace, word: Override | None) -> float:
    if word is not None and word.rate is not None:
        return word.rate
    if _is_capped(pace):
        return pace.configured or 0.0
    return pace.state.rate.value


def _is_capped(pace: Pace) -> bool:
    """Whether the configured rate is the one to go by: it is lower, or nothing is learned yet."""
    rate = pace.state.rate
    return pace.configured is not None and (rate.known is None or pace.configured <= rate.value)


def _cause(pace: Pace, at: _Moment) -> str:
    if at.word is not None and at.word.paused:
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
    """What those wait for who stand before a gate that is open."""
    if pace.cap is not None and at.in_flight >= pace.cap:
        return Cause.CONCURRENCY if pace.cap == pace.limits.concurrency else Cause.CAP
    if at.word is not None and at.word.rate is not None:
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
        return host_down.in_words(host, down[host], view.name)
    return _in_words(cause, state.pace)


def _in_words(cause: str, state: PaceState) -> str:
    if cause == SET:
        return "the rate that an operator set"
    if cause == Cause.RATE and state.rate.known is None:
        return "the limit is still looked for"
    return Cause(cause).words.partition(": ")[2]


def _stage(pace: Pace) -> str:
    state = pace.state
    if state.stop.open:
        return "stopped: it refused, and is asked whether it takes more"
    if state.told:
        return "told: the provider names its limit"
    if state.rate.known is None and pace.configured is not None:
        return "starting: the configured rate holds until something is refused"
    if state.rate.known is None:
        return "starting: the rate grows until something is refused"
    if state.rate.probing:
        return "probing: it looks for a little more"
    trust = "" if state.settled else ", which is not confirmed yet"
    return f"holding: it stays just below the known level{trust}"
