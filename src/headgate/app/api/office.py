"""What every endpoint works with."""

from collections.abc import Sequence
from typing import Annotated

import msgspec
from fastapi import Depends, Request

from headgate.app.api.login_limit import LoginLimit
from headgate.app.api.pulse import Pulse
from headgate.app.api.slices import Slices
from headgate.app.data_folder import DataFolder
from headgate.app.handler_list import HandlerInfo
from headgate.app.settings import Settings
from headgate.core.configured import Configured
from headgate.ports.clock import Clock
from headgate.ports.store import Store


class Office(msgspec.Struct, frozen=True):
    """The store, the settings, and the few things that live as long as the server."""

    store: Store
    settings: Settings
    clock: Clock
    folder: DataFolder
    handlers: Sequence[HandlerInfo]
    """What `GET /api/handlers` lists: found out by another process."""
    pulse: Pulse
    slices: Slices
    logins: LoginLimit

    @property
    def limits(self) -> Configured:
        """What the settings say of gates."""
        return Configured(self.settings.providers, self.settings.gates)


def office_of(request: Request) -> Office:
    """The office of the application that a request came to."""
    office: Office = request.app.state.office
    return office


AtOffice = Annotated[Office, Depends(office_of)]
