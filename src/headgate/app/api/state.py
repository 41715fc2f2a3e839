"""The application state that endpoints depend on."""

from collections.abc import Sequence
from typing import Annotated

import msgspec
from fastapi import Depends, Request

from headgate.app.api.capacity import BodyMemory, SlotQueue, StreamSlots, Threads
from headgate.app.api.job_readings import HistorySamples, LimitCache
from headgate.app.api.kickoff import Kickoffs
from headgate.app.api.monitor import Monitor
from headgate.app.data_folder import DataFolder
from headgate.app.loops import Loops
from headgate.app.processes.inspections import Inspections
from headgate.app.scanner import Scanner
from headgate.app.settings import Settings
from headgate.handlers.registry import HandlerInfo
from headgate.ports.clock import Clock
from headgate.ports.store import Store


class AppState(msgspec.Struct, frozen=True):
    store: Store
    settings: Settings
    clock: Clock
    folder: DataFolder
    handlers: Sequence[HandlerInfo]
    """Handlers of `GET /api/handlers`; another process loads them."""
    monitor: Monitor
    limit_cache: LimitCache
    history_samples: HistorySamples
    slices: Kickoffs
    scanner: Scanner
    logins: SlotQueue
    """Password checks, by address."""
    known_logins: SlotQueue
    """Password checks of accounts that have logged in from their address before."""
    uploads: SlotQueue
    """Uploads that are received."""
    previews: SlotQueue
    """Files whose first rows are read."""
    preview_copies: SlotQueue
    """Sources that are copied for a preview."""
    inspections: Inspections
    """Processes that read these files."""
    room: BodyMemory
    threads: Threads
    loops: Loops
    """Background tasks."""
    streams: StreamSlots
    own_token: str = ""
    """Id of the token that the server printed, if only this machine can reach it. Its reader also
    has the login link, so a session opened with it lasts as long as one of the link."""


def state_of(request: Request) -> AppState:
    app_state: AppState = request.app.state.app_state
    return app_state


State = Annotated[AppState, Depends(state_of)]
