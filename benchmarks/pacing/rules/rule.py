"""What the dispatcher asks of a rule: when the next request may go, and when a failed one again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from benchmarks.pacing.events import Events
from benchmarks.pacing.limits import Limit
from benchmarks.pacing.manners import Headers
from benchmarks.pacing.reading import retry_after

REFUSALS = frozenset({429, 503})


class Reply(NamedTuple):
    """One answer. `in_flight` is the count when its request left, that one included."""

    now: float
    sent_at: float
    in_flight: int
    status: int
    headers: Headers
    latency: float

    @property
    def refused(self) -> bool:
        """True if the reply only asks to slow down."""
        return self.status in REFUSALS


@dataclass(frozen=True)
class Surroundings:
    """What a rule may use beside its arguments."""

    events: Events
    """For rules that talk to a store; the others are told the time."""
    rng: Random
    truth: Limit | None
    """The provider's own limit: for the oracle alone."""
    wake: Callable[[], None]
    """Makes the dispatcher ask again, after something that it could not see."""


class Rule:
    """No limiter at all, and a retry loop as tenacity's users write it: full jitter up to 60 s."""

    surroundings: Surroundings

    def begin(self, surroundings: Surroundings) -> None:
        """Called once, before the first request."""
        self.surroundings = surroundings

    def gate(self, now: float, in_flight: int) -> float:
        """The earliest time for the next request; infinity: not before another reply."""
        return now

    def on_send(self, now: float, in_flight: int) -> None:
        """A request leaves; it is counted in `in_flight`."""

    def on_reply(self, reply: Reply) -> None:
        """An answer has come."""

    def on_limit_change(self, now: float) -> None:
        """The provider's limit has changed: for the oracle alone."""

    def retry_delay(self, attempts: int, reply: Reply) -> float:
        """How long the item of a failed request waits before it is ready again."""
        told = retry_after(reply.headers)
        if told is not None:
            return told + self.surroundings.rng.uniform(0, 0.5)
        return self.surroundings.rng.uniform(0, min(60.0, 2.0 ** (attempts - 1)))

    def rate(self, now: float) -> float | None:
        """The rate it goes by, for the charts; None for a rule that has none."""
        return None

    def closed(self, now: float) -> bool:
        """Whether it lets nothing out, for the charts."""
        return False
