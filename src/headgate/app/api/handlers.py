"""`GET /api/handlers`, and the checks of the handler that a new job names."""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter
from msgspec.structs import replace

from headgate.app.address_check import require_public
from headgate.app.api.bodies import BoundedRoute
from headgate.app.api.identity import CurrentUser
from headgate.app.api.problems import ProblemResponse, documented
from headgate.app.api.state import AppState, State
from headgate.core.config_schema import require_config
from headgate.core.errors import UsageError
from headgate.core.job import LOCAL_OWNER
from headgate.handlers.extract.source import NAME as EXTRACT
from headgate.handlers.lookup.handler import NAME as LOOKUP
from headgate.handlers.lookup.handler import of_config
from headgate.handlers.registry import DOWNLOAD, HandlerInfo
from headgate.schema.system import HandlerView
from headgate.schema.values import Listed

NOT_OFFERED = frozenset({DOWNLOAD, EXTRACT})
"""With `download`, a job could write to any path. `extract` reads secrets of the environment; its
passes begin at `/api/mirrors`, which checks who asks."""

router = APIRouter(prefix="/api/handlers", tags=["handlers"], route_class=BoundedRoute)


@router.get("", responses=documented())
async def ls(who: CurrentUser, app_state: State) -> Listed[HandlerView]:
    """List the handlers that a job can use, by name."""
    return Listed(items=[_view(info) for info in _offered(app_state)])


def require_handler(app_state: AppState, name: str) -> HandlerInfo:
    """Return the handler, or raise 422. Files and modules cannot be named over HTTP."""
    offered = _offered(app_state)
    found = next((info for info in offered if info.name == name), None)
    if found is None:
        known = ", ".join(info.name for info in offered) or "none"
        raise ProblemResponse(422, f"handler {name[:100]!r} not found; available: {known}")
    return found


def _offered(app_state: AppState) -> list[HandlerInfo]:
    """Return the handlers that any user may run with any config and items."""
    return [info for info in app_state.handlers if info.name not in NOT_OFFERED]


def configured(
    app_state: AppState, handler: HandlerInfo, config: Mapping[str, Any], owner: str
) -> HandlerInfo:
    """Return the handler with its configuration applied, or raise UsageError if that is invalid."""
    if handler.name == LOOKUP:
        spec = of_config(config)
        require_credentials(app_state, spec.provider or "", owner)
        handler = replace(handler, needs=spec.needs, guarded=spec.guarded, asks=spec.asks)
    else:
        require_config(handler.config_schema, config)
    require_public(handler, allow_private=app_state.settings.net.allow_private)
    return handler


def require_credentials(app_state: AppState, provider: str, owner: str) -> None:
    """Refuse a provider with credentials that the owner may not use."""
    policy = app_state.settings.providers.get(provider)
    if policy is None or owner == LOCAL_OWNER:
        return
    if policy.needs_credential and not policy.for_users:
        raise UsageError(
            f"provider: the credentials of {provider!r} are for the operator's own handlers; ask"
            " the operator to set `for_users`, or to add the description as a TOML file"
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
        config_schema=info.config_schema or None,
    )
