"""The shared state of one gate, as the ledger stores it: pace, members, override and budget."""

import math
from collections.abc import Collection, Mapping
from typing import ClassVar, TypedDict

import msgspec

from headgate.core.gates.budget import BudgetState
from headgate.core.pacing.state import PaceState


class HostDown(msgspec.Struct, frozen=True):
    """Times are UTC seconds on the ledger's clock."""

    until_s: float
    reason: str = ""
    """Its last failure in plain words: `connection refused`, `answers 500`; empty: not known."""
    since_s: float | None = None
    """Time of the first failure; None: not known."""
    gave_up: bool = False
    """Its rows no longer wait; they end as errors."""
    doubtful: bool = False
    """Its errors may be about the rows: rows from other places in the input are tried first."""


def host_down_text(host: str, down: HostDown, name: str = "") -> str:
    """Why a host gets no requests; `name` is that of its provider."""
    status = down.reason.removeprefix("answers ")
    if status != down.reason:
        return f"paused itself: {name or host} keeps answering {status}"
    if down.reason.startswith("answered "):
        return f"{host} {down.reason}"
    return f"{host} does not answer" + (f" ({down.reason})" if down.reason else "")


def next_trials(down: Mapping[str, HostDown]) -> dict[str, float]:
    """The time of the next trial of each host."""
    return {host: each.until_s for host, each in down.items()}


Down = Mapping[str, HostDown]
"""Hosts that do not answer, with the reason."""


class Member(msgspec.Struct, frozen=True):
    """A process at a gate, as of its last exchange."""

    seen: float
    need: float
    """Requests a second that it could use; -1 means infinite, which JSON cannot write."""
    in_flight: int = 0
    mean_in_flight: float = msgspec.field(default=0.0, name="flying")
    """Mean number of its requests in flight over about the last second. Stored as `flying`."""
    slots: int = 0
    """Requests that it may have in flight, where that is limited."""
    waiting: bool = False
    """Requests wait at the gate in this process."""
    joined: float = 0.0
    had: float = 0.0
    """Send slots and permits it has had; a new member starts with as many as the others."""
    drawn: Mapping[str, float] = {}
    """Amounts drawn from a budget and not spent yet."""
    broken: Mapping[str, float] = {}
    """Hosts that do not answer it, each with the time of the next trial.

    Processes of earlier versions know only this field; `down` says the same and more.
    """
    down: Down = {}
    """Hosts that do not answer it, with the reason; earlier versions do not write this field."""

    @property
    def wants(self) -> float:
        return math.inf if self.need < 0 else self.need

    @property
    def hosts_down(self) -> dict[str, HostDown]:
        """Hosts that do not answer it, from the fields of this version and of earlier ones."""
        return {host: HostDown(until) for host, until in self.broken.items()} | dict(self.down)


class DownFields(TypedDict):
    """The fields for hosts that do not answer, of this version and of earlier ones."""

    broken: Mapping[str, float]
    down: Down


def down_fields(down: Down) -> DownFields:
    return {"broken": next_trials(down), "down": dict(down)}


class Override(msgspec.Struct, frozen=True):
    rate: float | None = None
    paused: bool = False
    until: float | None = None
    """When the override ends; None: when the operator ends it."""

    @property
    def end(self) -> float:
        return math.inf if self.until is None else self.until

    def holds(self, now: float) -> bool:
        return self.until is None or now < self.until


class GateState(msgspec.Struct, frozen=True):
    pace: PaceState
    members: Mapping[str, Member] = {}
    override: Override | None = None
    budget: BudgetState | None = None
    lines: tuple[float, ...] = ()
    """For each line of send slots, the first unreserved slot."""
    answered: tuple[str, ...] = ()
    """Hosts behind the gate that have answered at least once, the newest last."""

    MOST_ANSWERED: ClassVar[int] = 100
    """Number of hosts kept in `answered`; a gate for any host would fill the ledger."""

    def with_answered(self, hosts: Collection[str]) -> "GateState":
        news = sorted(set(hosts) - set(self.answered))
        if not news:
            return self
        kept = (*self.answered, *news)[-self.MOST_ANSWERED :]
        return msgspec.structs.replace(self, answered=kept)
