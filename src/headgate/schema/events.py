"""Events of the log, and the messages of the event stream."""

import msgspec

from headgate.core.status import JobState
from headgate.schema.jobs import CountsView, Eta, WaitView
from headgate.schema.values import Identifier, JsonObject, Moment, WireValue


class EventView(WireValue, frozen=True, kw_only=True):
    """An entry of the log of decisions."""

    id: Identifier
    at: Moment = None
    job_id: Identifier | None = None
    item_id: Identifier | None = None
    kind: str
    message: str


class Hello(WireValue, frozen=True, kw_only=True):
    """The stream has started, or started again."""


class Counters(WireValue, frozen=True, kw_only=True):
    """The progress of a job."""

    job_id: Identifier
    state: JobState
    counts: CountsView
    ingest: JsonObject = msgspec.field(default_factory=dict)
    rate: float | None = None
    eta: Eta | None = None
    limited_by: WaitView | None = None
    """What limits the job's speed."""
    at: Moment = None


class Changed(WireValue, frozen=True, kw_only=True):
    """Items of a job have changed since a cursor."""

    job_id: Identifier
    after: str


class GateChange(WireValue, frozen=True, kw_only=True):
    """A gate has changed."""

    key: str
    name: str
    now_per_s: float | None
    learned_per_s: float | None
    closed: bool
    closed_until: float | None
    """UTC seconds."""
    why: str
    in_flight: int
    latency_s: float | None
    refused_share: float
    at: Moment = None


class Trouble(WireValue, frozen=True, kw_only=True):
    """The server cannot read its store at present; it keeps trying."""

    detail: str


News = Hello | Counters | Changed | EventView | GateChange | Trouble
