"""Everything a pace knows, as values: what it is kept by, handed over by, and shown by."""

from enum import StrEnum

import msgspec

from headgate.core.pacing.level import Level
from headgate.core.pacing.refusal_cause import ConcurrencyEvidence, OutageEvidence
from headgate.core.pacing.throughput import Throughput, Tier


class Cause(StrEnum):
    """What holds the next request back."""

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
        """The same for people; begins with the cause's own name."""
        return f"{self.value}: {_WORDS[self]}"


_WORDS = {
    Cause.OPEN: "nothing holds it",
    Cause.RATE: "the learned rate",
    Cause.TOLD: "the limit that the provider tells",
    Cause.WINDOW: "what fits into the provider's window is used up",
    Cause.CAP: "as many in flight as the provider takes",
    Cause.STOPPED: "the provider refused; one request asks whether it takes more",
    Cause.RETRY_AFTER: "the provider asked to wait",
    Cause.REOPENING: "just reopened, waiting for the first answers",
    Cause.CEILING: "the configured rate",
    Cause.CONCURRENCY: "the configured number in flight",
    Cause.BUDGET: "a budget is spent",
    Cause.PAUSED: "paused by an operator",
    Cause.LEASE: "waiting for this worker's share of the rate",
}


class PaceReading(msgspec.Struct, frozen=True):
    """What a reply means for its sender."""

    refused: bool
    retry_in_s: float = 0.0


class PaceEvidence(msgspec.Struct, frozen=True, array_like=True):
    """One decision: what was seen, what was made of it, and the rate before and after."""

    at: float
    seen: str
    decided: str
    before: float | None
    after: float | None


class Stop(msgspec.Struct):
    """The present stop, or the last one. All refusals of what was sent before it are one event."""

    open: bool = False
    """It lasts: nothing goes out but single requests that ask."""
    first: float = 0.0
    """When the first request that was refused had been sent."""
    previous: float = 0.0
    """The same of the stop before."""
    dark: float = 0.0
    """When the first was sent of those refused since the last one that was taken."""
    last: float = 0.0
    """When the last one that was refused had been sent."""
    noticed: float = 0.0
    ask_at: float = 0.0
    """When the next request may go."""
    wait: float = 0.0
    alone: bool = False
    """One request at a time asks; else the first one reopens."""
    asking: bool = False
    """It is on its way."""
    bare: bool = False
    """Nothing but 503s without a word."""
    told_s: float = 0.0
    """The longest Retry-After, 0 if there was none."""
    told_until: float = 0.0
    """The earliest end that any of them named."""
    cut: float = 0.0
    """The rate at which it happened."""
    surprise: bool = False
    """It happened below what was trusted."""
    resuming: bool = False
    """It happened on the way up to a remembered level."""
    hits: int = 0
    """How many were refused at once."""
    after: int = 0
    """How many were taken of those sent after the first that was refused."""
    storm: int = 0
    """Refusals in a short time, without those of single requests."""
    asked: int = 0
    """Single requests refused since the last one that was taken."""
    trickles: int = 0
    """How often it reopened only for a moment."""


class Window(msgspec.Struct):
    """A quota that is renewed after a long time, as stops have shown it."""

    count: float
    seconds: float
    since: float
    until: float
    """It was renewed between these moments."""
    firm: bool = False
    """A second stop has confirmed it."""
    proved: bool = False
    """More than one refusal speaks for it."""


class Probe(msgspec.Struct):
    """How a look for more ended: the burst is what it took beyond the rate."""

    since: float
    until: float
    taken: float
    known: float
    """What was trusted before it."""


class PaceState(msgspec.Struct):
    """All that one process needs to go on where another left off."""

    rate: Level
    cap: Level | None = None
    crowd: ConcurrencyEvidence = msgspec.field(default_factory=ConcurrencyEvidence)
    delivery: Throughput = msgspec.field(default_factory=Throughput)
    stop: Stop = msgspec.field(default_factory=Stop)
    window: Window | None = None
    wary: Window | None = None
    """What was taken before a storm of refusals: beyond that only one by one."""
    suspect: Window | None = None
    """What a single refusal with a long Retry-After may have been; another one must confirm it."""
    probe: Probe | None = None
    due: float = 0.0
    """When the rate lets the next one go."""
    ceiling_due: list[float] = []
    sent_at: float = 0.0
    bound: Cause = Cause.OPEN
    """What held the last request back."""
    opened: float = 0.0
    sent: int = 0
    """Since the last stop ended."""
    answered: int = 0
    settled: bool = False
    """The known rate is trusted."""
    confirmed: int = 0
    """How often in a row a look for more found the same."""
    tries: int = 0
    surprises: int = 0
    """In a row."""
    peak: float = 0.0
    """The highest level that was confirmed, and when it last was."""
    peak_at: float = 0.0
    burst: float | None = None
    probe_since: float = 0.0
    bans: int = 0
    full: list[tuple[float, float]] = []
    """What the last seconds and the last minute had taken at the latest stops."""
    told: bool = False
    """The provider names its limit, and is believed."""
    told_rate: float = 0.0
    told_at: float = 0.0
    told_since: float = 0.0
    """When it last named another one."""
    told_window: float = 0.0
    """The longest time to a reset that it named."""
    least: float = 0.0
    """The least that it told to remain, lately and in the time before that."""
    least_before: float = 0.0
    least_since: float = 0.0
    ignored_until: float = msgspec.field(default=0.0, name="deaf_until")
    """Declared limits are ignored until then. Stored under its former name."""
    shut_until: float = 0.0
    """The provider told that nothing is left until then."""
    latency: float = 0.15
    outage: OutageEvidence = msgspec.field(default_factory=OutageEvidence)
    refused: Tier = msgspec.field(default_factory=lambda: Tier(15.0, 45))
    lone: Tier = msgspec.field(default_factory=lambda: Tier(15.0, 45))
    """Single refusals that changed nothing."""
    strays: Tier = msgspec.field(default_factory=lambda: Tier(15.0, 45))
    """Those of them beside which others were taken: no look for more had caused them."""
    passed: float = 0.0
    """The highest rate that was taken for a few seconds before a stop, and when."""
    passed_at: float = 0.0
    recent: list[float] = []
    """When the refusals of the last seconds came."""
    replies: int = 0
    refusals: int = 0
    evidence: list[PaceEvidence] = []
