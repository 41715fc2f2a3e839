"""`GET /api/about`: the version, the features that are switched on, and the size limits."""

from fastapi import APIRouter

from headgate import __version__
from headgate.app.api.bodies import BoundedRoute
from headgate.app.api.identity import CurrentUser
from headgate.app.api.models import ResponseModel
from headgate.app.api.problems import documented
from headgate.app.api.state import State

router = APIRouter(prefix="/api/about", tags=["health"], route_class=BoundedRoute)


class Features(ResponseModel):
    """Features that the settings can switch off."""

    pending_view: bool


class About(ResponseModel):
    """The version, the features that are switched on, and the size limits."""

    version: str
    features: Features
    upload_mb: int
    inline_items: int


@router.get("", responses=documented())
async def about(who: CurrentUser, app_state: State) -> About:
    """Return the version, the features that are switched on, and the size limits."""
    policy = app_state.settings.server
    return About(
        version=__version__,
        features=Features(pending_view=policy.pending_view),
        upload_mb=policy.upload_mb,
        inline_items=policy.inline_items,
    )
