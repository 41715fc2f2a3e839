"""A typed client of the HTTP API: `async with Client(url, token) as client: …`."""

from headgate.client.across_jobs import Oldest, PendingFilter, Replay
from headgate.client.client import Client
from headgate.client.errors import (
    ApiError,
    Conflict,
    ExportNotFound,
    ItemNotFound,
    JobNotFound,
    NotAllowed,
    NotFound,
    Refused,
    ServerFull,
    TooMuch,
    Unavailable,
    UserNotFound,
)
from headgate.client.events import Changed, Counters, Event, GateChange, Hello, Trouble
from headgate.client.exports import Export
from headgate.client.gates import Gate
from headgate.client.items import Item, ItemFilter, ItemWhole
from headgate.client.jobs import ErrorGroup, Filter, Job, JobDetail, Reprocess
from headgate.client.queues import Fed, Rows
from headgate.client.submit import NewJob, Preview
from headgate.client.system import System
from headgate.client.transport import ClientTimeouts
from headgate.client.values import Counts, Page, Wait

__all__ = [
    "ApiError",
    "Changed",
    "Client",
    "ClientTimeouts",
    "Conflict",
    "Counters",
    "Counts",
    "ErrorGroup",
    "Event",
    "Export",
    "ExportNotFound",
    "Fed",
    "Filter",
    "Gate",
    "GateChange",
    "Hello",
    "Item",
    "ItemFilter",
    "ItemNotFound",
    "ItemWhole",
    "Job",
    "JobDetail",
    "JobNotFound",
    "NewJob",
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
    "System",
    "TooMuch",
    "Trouble",
    "Unavailable",
    "UserNotFound",
    "Wait",
]
