"""Gates of providers: what was learned, and what an operator sets."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

import msgspec
from fastapi import APIRouter, Path, Query
from pydantic import Field

from headgate.app.api.bodies import BoundedRoute
from headgate.app.api.identity import Admin, CurrentUser
from headgate.app.api.models import RequestModel
from headgate.app.api.params import OwnJob
from headgate.app.api.problems import ProblemResponse, documented
from headgate.app.api.state import AppState, State
from headgate.app.schema_values import gate_list
from headgate.core.errors import UsageError
from headgate.core.gates.keys import find_gates, keys_of_provider
from headgate.core.provider import PRESETS, ProviderPolicy
from headgate.core.rate import parse_limits
from headgate.core.user import Role
from headgate.engine.gate_control import GateControl, GateReading, read_gates
from headgate.schema.gates import GateList

router = APIRouter(prefix="/api/providers", tags=["providers"], route_class=BoundedRoute)
of_job = APIRouter(prefix="/api/jobs", tags=["jobs"], route_class=BoundedRoute)

Name = Annotated[str, Path(max_length=300, description="A provider, a host, or a gate's full key.")]

Which = Annotated[
    Literal["used", "declared", "all"],
    Query(description="Also gates of configured providers, or of all built-in providers."),
]


class GateChangeRequest(RequestModel):
    """One change: set a rate, pause, return to the learned rate, or forget what was learned."""

    rate: str | None = Field(None, max_length=100, examples=["5/s"])
    paused: bool | None = None
    for_s: float | None = Field(
        None, gt=0, le=366 * 86_400, description="Duration; without it, until it is removed."
    )
    forget: bool = False


@router.get("", responses=documented())
async def ls(who: Admin, app_state: State, which: Which = "used") -> GateList:
    """List used gates, also those of configured providers, or all known."""
    used = [entry.key for entry in await app_state.store.limits.entries()]
    named = _named(app_state, which)
    keys = [key for name in named for key in keys_of_provider(name, named[name])]
    return gate_list(await _read(app_state, list(dict.fromkeys([*used, *keys]))))


@router.get("/{name:path}", responses=documented())
async def show(name: Name, who: Admin, app_state: State) -> GateList:
    """Show the gates of a provider with their evidence."""
    return gate_list(await _read(app_state, await _meant(app_state, name)))


@router.patch("/{name:path}", responses=documented())
async def change(name: Name, asked: GateChangeRequest, who: Admin, app_state: State) -> GateList:
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
    return gate_list(await _read(app_state, keys))


@of_job.get("/{jobId}/gates", responses=documented(503))
async def ls_of_job(job: OwnJob, who: CurrentUser, app_state: State) -> GateList:
    """List the gates that the requests of a job pass. Only admins see the other processes there."""
    reading = await app_state.limit_cache.read(job.id)
    if reading is None:
        raise ProblemResponse(503, "the ledger of limits does not answer; try again in a moment")
    if not who.may(Role.ADMIN):
        hidden = [msgspec.structs.replace(view, members={}) for view in reading.views]
        reading = GateReading(reading.now_s, hidden)
    return gate_list(reading)


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
