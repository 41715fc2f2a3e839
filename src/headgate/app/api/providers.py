"""Gates of providers: what was learned, and what an operator sets."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

import msgspec
from fastapi import APIRouter, Path, Query
from pydantic import Field

from headgate.app.api.bodies import BoundedRoute
from headgate.app.api.identity import Admin
from headgate.app.api.models import Moment, RequestModel, ResponseModel, moment_of_seconds
from headgate.app.api.problems import ProblemResponse, documented
from headgate.app.api.state import AppState, State
from headgate.core.errors import UsageError
from headgate.core.gates.keys import find_gates, keys_of_provider
from headgate.core.gates.view import GateView
from headgate.core.presets import PRESETS
from headgate.core.provider import ProviderPolicy
from headgate.core.rate import parse_limits
from headgate.engine.gate_control import GateControl, GateReading, read_gates

router = APIRouter(prefix="/api/providers", tags=["providers"], route_class=BoundedRoute)

Name = Annotated[str, Path(max_length=300, description="A provider, a host, or a gate's full key.")]

Which = Annotated[
    Literal["used", "declared", "all"],
    Query(description="Also gates of configured providers, or of all built-in providers."),
]


class EvidenceView(ResponseModel):
    """An observation, the decision, and the rate before and after."""

    at: Moment
    seen: str
    decided: str
    before: float | None
    after: float | None


class OverrideView(ResponseModel):
    rate: float | None
    paused: bool
    until: Moment


class MemberView(ResponseModel):
    """A process that uses a gate."""

    worker: str
    seen_at: Moment
    in_flight: int
    waiting: bool
    could_use_per_s: float | None
    """Requests per second that it could use; null: more than the limit."""


class BudgetView(ResponseModel):
    """A budget and its use."""

    name: str
    count: float
    seconds: float
    hard: bool
    used: float
    turns_at: Moment


class HostDownView(ResponseModel):
    """A host that receives no requests because it does not answer."""

    until: Moment
    """Time of the next try."""
    reason: str
    """The last failure, such as `connection refused` or `answers 500`; empty if unknown."""
    since: Moment


class Gate(ResponseModel):
    key: str
    kind: str
    name: str
    configured: str
    configured_per_s: float | None
    configured_in_flight: int | None
    learned_per_s: float | None
    learned_in_flight: int | None
    told: bool
    now_per_s: float | None
    asked: bool
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
    broken: dict[str, Moment]
    """Hosts that do not answer, each with the time of the next try; see `down`."""
    down: dict[str, HostDownView]
    budgets: list[BudgetView]
    members: list[MemberView]
    override: OverrideView | None
    evidence: list[EvidenceView]


class Gates(ResponseModel):
    """Gates at one moment of the ledger's clock."""

    items: list[Gate]
    now: Moment


class GateChange(RequestModel):
    """One change: set a rate, pause, return to the learned rate, or forget what was learned."""

    rate: str | None = Field(None, max_length=100, examples=["5/s"])
    paused: bool | None = None
    for_s: float | None = Field(
        None, gt=0, le=366 * 86_400, description="Duration; without it, until it is removed."
    )
    forget: bool = False


@router.get("", responses=documented())
async def ls(who: Admin, app_state: State, which: Which = "used") -> Gates:
    """List used gates, also those of configured providers, or all known."""
    used = [entry.key for entry in await app_state.store.limits.entries()]
    named = _named(app_state, which)
    keys = [key for name in named for key in keys_of_provider(name, named[name])]
    return gates_view(await _read(app_state, list(dict.fromkeys([*used, *keys]))))


@router.get("/{name:path}", responses=documented())
async def show(name: Name, who: Admin, app_state: State) -> Gates:
    """Show the gates of a provider with their evidence."""
    return gates_view(await _read(app_state, await _meant(app_state, name)))


@router.patch("/{name:path}", responses=documented())
async def change(name: Name, asked: GateChange, who: Admin, app_state: State) -> Gates:
    """Set a rate, pause, use the learned rate (`paused: false`), or forget what was learned."""
    keys = await _meant(app_state, name)
    control = GateControl(app_state.store, app_state.settings.gate_limits)
    said = [asked.rate is not None, asked.paused is not None, asked.forget]
    if sum(said) != 1:
        raise ProblemResponse(422, "name exactly one of `rate`, `paused` and `forget`")
    if asked.rate is not None:
        await control.set_rate(keys, _per_s(asked.rate), asked.for_s)
    elif asked.forget:
        await control.forget(keys)
    elif asked.paused:
        await control.pause(keys, asked.for_s)
    else:
        await control.resume(keys)
    return gates_view(await _read(app_state, keys))


async def _meant(app_state: AppState, name: str) -> list[str]:
    known = [entry.key for entry in await app_state.store.limits.entries()]
    try:
        return find_gates(name, known, app_state.settings.providers)
    except UsageError as error:
        raise ProblemResponse(404, str(error)) from error


async def _read(app_state: AppState, keys: Sequence[str]) -> GateReading:
    return await read_gates(app_state.store.limits, app_state.settings.gate_limits, keys)


def _per_s(text: str) -> float:
    try:
        limits = parse_limits(text)
    except ValueError as error:
        raise ProblemResponse(422, str(error)) from error
    if not limits:
        raise ProblemResponse(422, "`rate` is empty: write it as 5/s, 100/min, 2000/day or 1/3s")
    return min(limit.count / limit.seconds for limit in limits)


def _named(app_state: AppState, which: str) -> Mapping[str, ProviderPolicy]:
    providers = app_state.settings.providers
    if which == "used":
        return {}
    if which == "all":
        return providers
    return {name: each for name, each in providers.items() if PRESETS.get(name) != each}


def gates_view(reading: GateReading) -> Gates:
    items = [gate(view) for view in reading.views]
    return Gates(items=items, now=moment_of_seconds(reading.now_s))


def gate(view: GateView) -> Gate:
    values = msgspec.structs.asdict(view)
    word = view.override
    return Gate(
        **values
        | {
            "closed_until": moment_of_seconds(view.closed_until),
            "broken": {host: moment_of_seconds(at) for host, at in view.broken.items()},
            "down": {
                host: HostDownView(
                    until=moment_of_seconds(each.until_s),
                    reason=each.reason,
                    since=moment_of_seconds(each.since_s),
                )
                for host, each in view.down.items()
            },
            "budgets": [
                msgspec.structs.asdict(use) | {"turns_at": moment_of_seconds(use.turns_at)}
                for use in view.budgets
            ],
            "members": [
                {
                    "worker": worker,
                    "seen_at": moment_of_seconds(member.seen),
                    "in_flight": member.in_flight,
                    "waiting": member.waiting,
                    "could_use_per_s": None if member.need < 0 else member.need,
                }
                for worker, member in view.members.items()
            ],
            "override": word
            and OverrideView(
                rate=word.rate, paused=word.paused, until=moment_of_seconds(word.until)
            ),
            "evidence": [
                msgspec.structs.asdict(line) | {"at": moment_of_seconds(line.at)}
                for line in view.evidence
            ],
        }
    )
