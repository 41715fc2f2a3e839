"""What every endpoint works with."""

from collections.abc import Sequence
from typing import Annotated

import msgspec
from fastapi import Depends, Request

from headgate.app.api.capacity import BodyMemory, SlotQueue, StreamSlots
from headgate.app.api.history_samples import HistorySamples
from headgate.app.api.kickoff import Kickoffs
from headgate.app.api.limit_cache import LimitCache
from headgate.app.api.monitor import Monitor
from headgate.app.api.threads import Threads
from headgate.app.data_folder import DataFolder
from headgate.app.loops import Loops
from headgate.app.scanner import Scanner
from headgate.app.settings import Settings
from headgate.handlers.info import HandlerInfo
from headgate.ports.clock import Clock
from headgate.ports.store import Store


class AppState(msgspec.Struct, frozen=True):
    """The store, the settings, and the few things that live as long as the server."""

    store: Store
    settings: Settings
    clock: Clock
    folder: DataFolder
    handlers: Sequence[HandlerInfo]
    """What `GET /api/handlers` lists: found out by another process."""
    monitor: Monitor
    limit_cache: LimitCache
    history_samples: HistorySamples
    slices: Kickoffs
    scanner: Scanner
    logins: SlotQueue
    """For passwords that are checked, by address."""
    known_logins: SlotQueue
    """The same, for accounts that have logged in from their address before."""
    uploads: SlotQueue
    """For uploads that are taken in."""
    previews: SlotQueue
    """For files whose first rows are read."""
    preview_copies: SlotQueue
    """For sources that are copied for a preview."""
    room: BodyMemory
    threads: Threads
    loops: Loops
    """What runs beside the API."""
    streams: StreamSlots
    own_token: str = ""
    """The id of the token that the server printed, where only this machine reaches it. Whoever read
    it also read the login link, so a session opened with it lasts as long as one of the link."""


def state_of(request: Request) -> AppState:
    """The office of the application that a request came to."""
    app_state: AppState = request.app.state.app_state
    return app_state


State = Annotated[AppState, Depends(state_of)]
