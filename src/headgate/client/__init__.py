"""A typed client of the HTTP API: `async with Client(url, token) as client: …`."""

from headgate.client.across_jobs import PendingFilter, Replay
from headgate.client.client import Client
from headgate.client.errors import (
    ApiError,
    Conflict,
    ExportNotFound,
    ItemNotFound,
    JobNotFound,
    MirrorNotFound,
    NotAllowed,
    NotFound,
    Refused,
    ServerFull,
    TooMuch,
    Unavailable,
    UserNotFound,
)
from headgate.client.items import ItemFilter
from headgate.client.jobs import Filter, Reprocess
from headgate.client.mirrors import NextPass, SourcePass
from headgate.client.queues import Rows
from headgate.client.submit import NewJob
from headgate.client.transport import ClientTimeouts
from headgate.schema.events import Changed, Counters, EventView, GateChange, Hello, Trouble
from headgate.schema.gates import Gate, GateList
from headgate.schema.items import ItemView, ItemWhole, Oldest
from headgate.schema.jobs import (
    CountsView,
    ErrorGroupView,
    ExportView,
    FedView,
    JobDetail,
    JobResponse,
    Preview,
    WaitView,
)
from headgate.schema.system import System
from headgate.schema.values import Page

__all__ = [
    "ApiError",
    "Changed",
    "Client",
    "ClientTimeouts",
    "Conflict",
    "Counters",
    "CountsView",
    "ErrorGroupView",
    "EventView",
    "ExportNotFound",
    "ExportView",
    "FedView",
    "Filter",
    "Gate",
    "GateChange",
    "GateList",
    "Hello",
    "ItemFilter",
    "ItemNotFound",
    "ItemView",
    "ItemWhole",
    "JobDetail",
    "JobNotFound",
    "JobResponse",
    "MirrorNotFound",
    "NewJob",
    "NextPass",
    "NotAllowed",
    "NotFound",
    "Oldest",
    "Page",
    "PendingFilter",
    "Preview",
    "Refused",
    "Replay",
    "Reprocess",
    "Rows",
    "ServerFull",
    "SourcePass",
    "System",
    "TooMuch",
    "Trouble",
    "Unavailable",
    "UserNotFound",
    "WaitView",
]
