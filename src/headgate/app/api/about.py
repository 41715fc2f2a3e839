"""What this installation is and offers, for whoever draws screens of it."""

from fastapi import APIRouter

from headgate import __version__
from headgate.app.api.bodies import BoundedRoute
from headgate.app.api.identity import Someone
from headgate.app.api.models import ResponseModel
from headgate.app.api.problems import documented
from headgate.app.api.state import State

router = APIRouter(prefix="/api/about", tags=["health"], route_class=BoundedRoute)


class Features(ResponseModel):
    """What can be switched off in the settings."""

    pending_view: bool


class About(ResponseModel):
    """The release, what is switched on, and how much is taken at once."""

    version: str
    features: Features
    upload_mb: int
    inline_items: int


@router.get("", responses=documented())
async def about(who: Someone, app_state: State) -> About:
    """Tell the release, what is switched on, and how much is taken at once."""
    policy = app_state.settings.server
    return About(
        version=__version__,
        features=Features(pending_view=policy.pending_view),
        upload_mb=policy.upload_mb,
        inline_items=policy.inline_items,
    )
