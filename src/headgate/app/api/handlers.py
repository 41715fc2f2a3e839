"""Handlers: what may be done with an item."""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter
from msgspec.structs import replace

from headgate.app.address_check import require_public
from headgate.app.api.bodies import BoundedRoute
from headgate.app.api.identity import Someone
from headgate.app.api.models import Json, ResponseModel
from headgate.app.api.problems import ProblemResponse, documented
from headgate.app.api.state import AppState, State
from headgate.core.config_schema import require_config
from headgate.core.errors import UsageError
from headgate.core.job import LOCAL_OWNER
from headgate.handlers.info import HandlerInfo
from headgate.handlers.lookup.handler import NAME as LOOKUP
from headgate.handlers.lookup.handler import of_config
from headgate.handlers.registry import DOWNLOAD

router = APIRouter(prefix="/api/handlers", tags=["handlers"], route_class=BoundedRoute)


class HandlerView(ResponseModel):
    """A handler by its name."""

    name: str
    about: str
    provider: str | None
    strategies: list[str]
    pack: int | None
    version: str
    needs: list[str]
    """Columns that every row must have."""
    config_schema: Json | None
    """What its configuration must look like, as a JSON Schema; null: anything."""


class Handlers(ResponseModel):
    """All of them, by name."""

    items: list[HandlerView]


@router.get("", responses=documented())
async def ls(who: Someone, app_state: State) -> Handlers:
    """List the handlers that jobs may name."""
    return Handlers(items=[_view(info) for info in _offered(app_state)])


def require_handler(app_state: AppState, name: str) -> HandlerInfo:
    """The handler of that name, or 422: over HTTP nobody names files or modules."""
    offered = _offered(app_state)
    found = next((info for info in offered if info.name == name), None)
    if found is None:
        known = ", ".join(info.name for info in offered) or "none"
        raise ProblemResponse(422, f"there is no handler {name[:100]!r}; there are: {known}")
    return found


def _offered(app_state: AppState) -> list[HandlerInfo]:
    """All but the one that writes wherever a job says: whoever may do so has a shell there."""
    return [info for info in app_state.handlers if info.name != DOWNLOAD]


def configured(
    app_state: AppState, handler: HandlerInfo, config: Mapping[str, Any], owner: str
) -> HandlerInfo:
    """The handler under a configuration, or UsageError if it could not work with that."""
    if handler.name == LOOKUP:
        spec = of_config(config)
        _require_credentials(app_state, spec.provider or "", owner)
        handler = replace(handler, needs=spec.needs, guarded=spec.guarded, asks=spec.asks)
    else:
        require_config(handler.config_schema, config)
    require_public(handler, allow_private=app_state.settings.net.allow_private)
    return handler


def _require_credentials(app_state: AppState, provider: str, owner: str) -> None:
    """Refuse a lookup that names a provider whose credentials its owner may not use."""
    policy = app_state.settings.providers.get(provider)
    if policy is None or owner == LOCAL_OWNER:
        return
    if policy.needs_credential and not policy.for_users:
        raise UsageError(
            f"lookup.provider: the credentials of {provider!r} are for the operator's own handlers;"
            " ask the operator to set `for_users`, or to add the lookup as a TOML file"
        )


def _view(info: HandlerInfo) -> HandlerView:
    return HandlerView(
        name=info.name,
        about=info.about,
        provider=info.provider,
        strategies=list(info.strategies),
        pack=info.pack,
        version=info.version,
        needs=list(info.needs),
        config_schema=dict(info.config_schema) if info.config_schema else None,
    )
