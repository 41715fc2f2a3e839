"""The state of a pace as plain values, to be stored, passed on and shown."""

from enum import StrEnum

import msgspec

from headgate.core.pacing.level import Level
from headgate.core.pacing.refusal_cause import ConcurrencyEvidence, OutageEvidence
from headgate.core.pacing.throughput import Throughput, Tier


class Cause(StrEnum):
    OPEN = "open"
    RATE = "rate"
    TOLD = "told"
    WINDOW = "window"
    CAP = "cap"
    STOPPED = "stopped"
    RETRY_AFTER = "retry-after"
    REOPENING = "reopening"
    CEILING = "ceiling"
    CONCURRENCY = "concurrency"
    BUDGET = "budget"
    PAUSED = "paused"
    LEASE = "lease"

    @property
    def words(self) -> str:
        return f"{self.value}: {_WORDS[self]}"


_WORDS = {
    Cause.OPEN: "nothing limits requests",
    Cause.RATE: "the learned rate",
    Cause.TOLD: "the limit that the provider declares",
    Cause.WINDOW: "the provider's quota for this period is used up",
    Cause.CAP: "as many requests in flight as the provider accepts",
    Cause.STOPPED: "the provider refused; single requests test whether it accepts more",
    Cause.RETRY_AFTER: "the provider asked to wait",
    Cause.REOPENING: "just reopened, waiting for the first answers",
    Cause.CEILING: "the configured rate",
    Cause.CONCURRENCY: "the configured number of requests in flight",
    Cause.BUDGET: "a budget is spent",
    Cause.PAUSED: "paused by an operator",
    Cause.LEASE: "waiting for this worker's share of the rate",
}


class PaceReading(msgspec.Struct, frozen=True):
    refused: bool
    retry_in_s: float = 0.0


class PaceEvidence(msgspec.Struct, frozen=True, array_like=True):
    at: float
    seen: str
    decided: str
    before: float | None
    after: float | None


class Stop(msgspec.Struct):
    """The present stop, or the last one. All refusals of requests sent before it are one event."""

    open: bool = False
    """The stop lasts: only single requests are sent, as tests."""
    first: float = 0.0
    previous: float = 0.0
    """`first` of the stop before."""
    dark: float = 0.0
    """Send time of the first request refused since the last accepted one."""
    last: float = 0.0
    noticed: float = 0.0
    ask_at: float = 0.0
    """Earliest time of the next request."""
    wait: float = 0.0
    alone: bool = False
    """Only one request at a time is sent, as a test; else the first one reopens the gate."""
    asking: bool = False
    bare: bool = False
    """Only 503s without Retry-After."""
    told_s: float = 0.0
    """The longest Retry-After in seconds; 0 if there was none."""
    told_until: float = 0.0
    """The earliest end that any Retry-After named."""
    cut: float = 0.0
    """Rate at the time of the refusal, in requests a second."""
    surprise: bool = False
    """The refusal came below the trusted level."""
    resuming: bool = False
    """The refusal came while a remembered level was being resumed."""
    hits: int = 0
    """Requests refused as one event."""
    after: int = 0
    """Accepted requests sent after the first refused one."""
    storm: int = 0
    """Refusals in a short time, without refused tests."""
    asked: int = 0
    """Tests refused since the last accepted request."""
    trickles: int = 0
    """Times it reopened only for a moment."""


class Window(msgspec.Struct):
    """A quota that is renewed after a long time, as stops have shown it."""

    count: float
    seconds: float
    since: float
    until: float
    """The quota was renewed between `since` and `until`."""
    firm: bool = False
    """A second stop has confirmed it."""
    proved: bool = False
    """More than one refusal is evidence for it."""


class Probe(msgspec.Struct):
    """The end of a probe: requests accepted above the rate are the burst."""

    since: float
    until: float
    taken: float
    known: float
    """The trusted level before the probe."""


class PaceState(msgspec.Struct):
    """All that one process needs to continue the work of another."""

    rate: Level
    cap: Level | None = None
    crowd: ConcurrencyEvidence = msgspec.field(default_factory=ConcurrencyEvidence)
    delivery: Throughput = msgspec.field(default_factory=Throughput)
    stop: Stop = msgspec.field(default_factory=Stop)
    window: Window | None = None
    wary: Window | None = None
    """Requests accepted before a storm of refusals: beyond that, send one by one."""
    suspect: Window | None = None
    """The quota that a single refusal with a long Retry-After suggests; another one must confirm
    it."""
    probe: Probe | None = None
    due: float = 0.0
    """When the rate allows the next request."""
    ceiling_due: list[float] = []
    sent_at: float = 0.0
    bound: Cause = Cause.OPEN
    opened: float = 0.0
    sent: int = 0
    """Requests sent since the last stop ended."""
    answered: int = 0
    settled: bool = False
    confirmed: int = 0
    """Probes in a row that found the same level."""
    tries: int = 0
    surprises: int = 0
    """Stops in a row whose refusal came below the trusted level."""
    peak: float = 0.0
    """The highest confirmed level, and when it was last confirmed."""
    peak_at: float = 0.0
    burst: float | None = None
    probe_since: float = 0.0
    bans: int = 0
    full: list[tuple[float, float]] = []
    """Requests accepted in the last ten seconds and in the last minute before each of the latest
    stops."""
    told: bool = False
    """The provider declares its limit, and no refusal has contradicted it."""
    told_rate: float = 0.0
    told_at: float = 0.0
    told_since: float = 0.0
    """When the declared limit last changed."""
    told_window: float = 0.0
    """The longest time to a reset that the provider declared, in seconds."""
    least: float = 0.0
    """The least that remained of the declared quota, in this interval and in the one before."""
    least_before: float = 0.0
    least_since: float = 0.0
    ignored_until: float = msgspec.field(default=0.0, name="deaf_until")
    """Declared limits are ignored until then. Stored under its former name."""
    shut_until: float = 0.0
    """The provider declared that nothing remains until then."""
    latency: float = 0.15
    outage: OutageEvidence = msgspec.field(default_factory=OutageEvidence)
    refused: Tier = msgspec.field(default_factory=lambda: Tier(15.0, 45))
    lone: Tier = msgspec.field(default_factory=lambda: Tier(15.0, 45))
    """Single refusals that changed nothing."""
    strays: Tier = msgspec.field(default_factory=lambda: Tier(15.0, 45))
    """Single refusals among accepted requests: no probe had caused them."""
    passed: float = 0.0
    """The highest rate accepted for a few seconds before a stop, and when."""
    passed_at: float = 0.0
    recent: list[float] = []
    """Times of the refusals of the last seconds."""
    replies: int = 0
    refusals: int = 0
    evidence: list[PaceEvidence] = []
