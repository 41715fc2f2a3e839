"""Gates: configured, learned and current limits, with their evidence."""

from collections.abc import Mapping

from headgate.schema.values import Moment, WireValue


class EvidenceView(WireValue, frozen=True, kw_only=True):
    """An observation, the decision, and the rate before and after."""

    at: Moment
    seen: str
    decided: str
    before: float | None
    after: float | None


class OverrideView(WireValue, frozen=True, kw_only=True):
    """A rate or a pause that an operator set."""

    rate: float | None
    paused: bool
    until: Moment


class MemberView(WireValue, frozen=True, kw_only=True):
    """A process that uses a gate."""

    worker: str
    seen_at: Moment
    in_flight: int
    waiting: bool
    could_use_per_s: float | None
    """Requests per second that it could use; null: more than the limit."""


class BudgetView(WireValue, frozen=True, kw_only=True):
    """A budget and its use."""

    name: str
    count: float
    seconds: float
    hard: bool
    used: float
    turns_at: Moment


class HostDownView(WireValue, frozen=True, kw_only=True):
    """A host that receives no requests because it does not answer."""

    until: Moment
    """Time of the next try."""
    reason: str
    """The last failure, such as `connection refused` or `answers 500`; empty if unknown."""
    since: Moment


class Gate(WireValue, frozen=True, kw_only=True):
    key: str
    kind: str
    name: str
    configured: str
    """The configured limits, as the settings write them."""
    configured_per_s: float | None
    configured_in_flight: int | None
    learned_per_s: float | None
    learned_in_flight: int | None
    told: bool
    """True if the provider declares its limit."""
    now_per_s: float | None
    asked: bool
    """True if the gate was used."""
    stage: str
    cause: str
    why: str
    closed: bool
    closed_until: Moment
    waiting: bool
    in_flight: int
    replies: int
    refusals: int
    refused_share: float
    latency_s: float | None
    broken: Mapping[str, Moment]
    """Hosts that do not answer, each with the time of the next try; see `down`."""
    down: Mapping[str, HostDownView]
    budgets: list[BudgetView]
    members: list[MemberView]
    override: OverrideView | None
    evidence: list[EvidenceView]


class GateList(WireValue, frozen=True, kw_only=True):
    """Gates at one moment of the ledger's clock."""

    items: list[Gate]
    now: Moment
