"""Find a provider's limit with as few refusals as possible, and stay just below it.

In a dozen lines. Requests are spaced evenly at a rate. *Starting*, the rate grows until a request
is refused. A refusal means *stopped*: all refusals of requests already in flight are one event,
then single requests test whether the provider accepts more, further and further apart, unless
Retry-After says when. *Reopening* sends one request, then three, then more, so that a wrong guess
costs one refusal. The length of the stop and what was accepted before it show what the limit is: a
bucket or a one-second window ends at once, a minute's quota only at its edge, a cap on requests in
flight refuses only when many are in flight. Then the pace is *holding* just below the level for a
while, the longer the better it is confirmed, and after that *probing* a little above it. A level is
trusted (`settled`) once a probe ended close above it; until then probes are short and quick. A
limit declared in headers is *told*: no probing, and the first refusal that contradicts the limit
ends its use. Idle time proves nothing: a level ages only while it holds requests back.
"""

import math
from collections.abc import Mapping
from typing import Self

import msgspec

from headgate.core.pacing.declared import apply_declared
from headgate.core.pacing.headers import read_quota, read_retry_after
from headgate.core.pacing.learn import learn
from headgate.core.pacing.level import Level
from headgate.core.pacing.single_refusal import forget_unproved, is_at_end, is_outgrown, used_of
from headgate.core.pacing.state import Cause, PaceReading, PaceState, Window
from headgate.core.pacing.stop import PaceRefusal, refuse
from headgate.core.pacing.trust import unsettle
from headgate.core.rate import Ceilings

NO_ANSWER = 0
CHEAP_IN_FLIGHT = 6.0
"""Requests in flight at the time of a refusal that cost little."""
CHEAP_RATE = 40.0
"""Requests a second that cost little at any latency: most refusals arrive faster than answers."""
REST_S = 60.0
"""Seconds without a request after which a level is only remembered."""
UNLIMITED = Ceilings()
COLD_START = 10.0
"""Requests a second at a provider about which nothing is known or configured."""


class Pace:
    """The pace of one gate. `now` is in seconds on any one clock; the state is all it knows."""

    def __init__(self, limits: Ceilings = UNLIMITED, *, start: float | None = None) -> None:
        self.limits = limits
        self.state = PaceState(rate=Level(start=start or limits.rate or COLD_START))
        self._in_flight = 0

    @classmethod
    def from_state(cls, state: PaceState, limits: Ceilings = UNLIMITED) -> Self:
        pace = cls(limits)
        pace.state = _copy(state)
        pace.state.ceiling_due = limits.fitted(pace.state.ceiling_due, pace.state.sent_at)
        return pace

    def remembered(self) -> PaceState:
        return _copy(self.state)

    # ---- sending

    def gate(self, now: float, in_flight: int) -> float:
        """The earliest time to send the next request; infinite: after a reply."""
        self._in_flight = in_flight
        at, cause = self._held(now, in_flight)
        if cause is not Cause.OPEN:
            self.state.bound = cause
        return at

    def why(self, now: float) -> Cause:
        """What holds the next request back, with the number in flight of the last `gate` call."""
        return self._held(now, self._in_flight)[1]

    def on_send(self, now: float, in_flight: int) -> None:
        """A request is sent; `in_flight` includes it."""
        state = self.state
        self._in_flight = in_flight
        if state.stop.open:
            if state.stop.alone:
                state.stop.asking = True
            else:
                self._reopen(now)
        else:
            self._age_level(now)
        if now - max(state.sent_at, state.due) > REST_S:
            forget_unproved(state, now)
            if state.rate.known is not None:
                state.rate.resumed_at = now
        state.bound, state.sent_at = Cause.OPEN, now
        state.sent += 1
        state.due = max(state.due, now) + 1 / state.rate.speed(now)
        state.ceiling_due = self.limits.spend(state.ceiling_due, now)

    def _held(self, now: float, in_flight: int) -> tuple[float, Cause]:
        state, limits = self.state, self.limits
        stop = state.stop
        if now < state.shut_until:
            return state.shut_until, Cause.TOLD
        if limits.concurrency is not None and in_flight >= limits.concurrency:
            return math.inf, Cause.CONCURRENCY
        ceiling = limits.opens_at(state.ceiling_due) if limits.limits else 0.0
        if stop.open:
            cause = Cause.RETRY_AFTER if stop.told_s else Cause.STOPPED
            if stop.asking and self._unanswered(now, in_flight, 1):
                return self._answer_due(in_flight), cause
            return max(now, stop.ask_at, ceiling), cause
        waiting = self._unanswered(now, in_flight, state.sent - state.answered)
        cautious = state.opened or not limits.limits  # the user knows what to begin with
        if cautious and waiting > 1 + 2 * state.answered:
            return self._answer_due(in_flight), Cause.REOPENING
        if state.cap is not None and in_flight >= max(1, int(state.cap.value * 1.0205)):
            return math.inf, Cause.CAP
        due = self._due
        if ceiling > max(due, now + 1e-9):
            return ceiling, Cause.CEILING
        if due - 1e-9 > now:
            return due, Cause.TOLD if state.told else Cause.RATE
        if state.window or state.wary or state.suspect:
            return self._in_quota(now, waiting)
        return now, Cause.OPEN

    @property
    def _due(self) -> float:
        """When the rate allows the next request; a configured rate applies until one is learned."""
        if self.limits.limits and self.state.rate.known is None:
            return 0.0
        return self.state.due

    def _unanswered(self, now: float, in_flight: int, sent: int) -> int:
        """The requests to wait for; a request can be sent and not yet count as in flight."""
        if now < self._answer_due(0):
            return sent
        return min(sent, in_flight)

    def _answer_due(self, in_flight: int) -> float:
        """When the last request is answered, or no longer worth waiting for."""
        if in_flight:
            return math.inf
        return self.state.sent_at + max(2.0, 4 * self.state.latency)

    def _in_quota(self, now: float, waiting: int) -> tuple[float, Cause]:
        state = self.state
        window = state.window or state.wary
        if window is not None:
            return self._in_window(now, window, waiting)
        if state.suspect is not None:
            return self._in_suspected(now, state.suspect, waiting)
        return now, Cause.OPEN

    def _in_window(self, now: float, window: Window, waiting: int) -> tuple[float, Cause]:
        """Beyond what a known window accepts, send one by one, and only while probing."""
        state = self.state
        used = state.delivery.count(now - window.seconds, now) + waiting
        firm = window.firm and not state.rate.probing
        if used < (window.count if firm else 0.98 * window.count - 1):
            return now, Cause.OPEN
        if used > 1.25 * window.count:
            self._outgrow(window, used)
        if firm:
            return now + max(0.02, 0.5 / state.rate.value), Cause.WINDOW
        if waiting > max(0.0, 2 * (used - window.count)):
            return self._answer_due(self._in_flight), Cause.RATE
        return now, Cause.RATE

    def _in_suspected(self, now: float, suspect: Window, waiting: int) -> tuple[float, Cause]:
        """Send one by one where a suspected quota would end: a real one costs one refusal."""
        used = used_of(self.state, suspect, now)
        if is_outgrown(suspect, used):
            self.state.suspect = None
        elif is_at_end(suspect, used, waiting):
            return self._answer_due(self._in_flight), Cause.RATE
        return now, Cause.OPEN

    def _outgrow(self, window: Window, used: float) -> None:
        """The window accepts more than was known: probe from there."""
        state = self.state
        state.wary = None
        if state.window is window and not state.told:
            window.count = used
            state.rate.known = max(used / window.seconds, state.rate.known or 0.0)
            state.rate.age_s = state.rate.hold_s

    def _age_level(self, now: float) -> None:
        state = self.state
        level = {
            Cause.RATE: state.rate,
            Cause.WINDOW: state.rate,
            Cause.CAP: state.cap,
        }.get(state.bound)
        if level is None:
            return
        trusted = not level.probing
        held_until = min(now, state.due + 0.05) if state.bound is Cause.RATE else now
        level.age_s += min(max(held_until - max(state.sent_at, state.opened), 0.0), 60.0)
        if trusted and level is state.rate and level.probing:
            state.probe_since = now

    # ---- learning

    def on_reply(
        self,
        now: float,
        sent_at: float,
        in_flight: int,
        status: int,
        headers: Mapping[str, str],
        latency: float,
    ) -> PaceReading:
        """Apply a reply; status 0: none will come. `in_flight` is the number when it was sent."""
        state = self.state
        asked = state.stop.open and state.stop.alone and sent_at >= state.stop.noticed
        if asked:
            state.stop.asking = False
        state.answered += sent_at >= state.opened
        if status == NO_ANSWER:
            return PaceReading(refused=False)
        state.replies += 1
        state.latency += 0.1 * (latency - state.latency)
        state.rate.cheap = max(CHEAP_RATE, CHEAP_IN_FLIGHT / max(state.latency, 0.001))
        retry_after = None
        if headers:
            quota = read_quota(headers, now)
            apply_declared(state, now, quota, self.limits.longest_wait_s)
            retry_after = self._believable(read_retry_after(headers, now))
        bare = status == 503 and not retry_after and 503 not in self.limits.refusals
        self._judge(now, bare=bare, alone=asked)
        if self._is_refusal(now, status, bare=bare, retry_after=retry_after):
            state.answered -= sent_at >= state.opened
            return refuse(state, now, PaceRefusal(sent_at, in_flight, retry_after, asked, bare))
        state.delivery.add(sent_at)
        state.crowd.took(in_flight)
        if asked:
            self._reopen(sent_at)
        elif state.stop.open and sent_at > state.stop.first:
            state.stop.after += 1
        return PaceReading(refused=False)

    def _is_refusal(
        self, now: float, status: int, *, bare: bool, retry_after: float | None
    ) -> bool:
        if bare:
            return self.state.outage.refuses(now)
        return (
            status == 429
            or (status == 503 and bool(retry_after))
            or (status in self.limits.refusals)
        )

    def _judge(self, now: float, *, bare: bool, alone: bool) -> None:
        """Find out whether bare 503s depend on our rate; if not, return to the rate before them."""
        state = self.state
        rate = state.rate.value
        if bare and state.outage.refuses(now):
            state.outage.suspect(now, rate)
        speed = state.outage.acquit(now, rate, bare=bare, alone=alone)
        if speed is not None:
            state.stop.open = False
            state.opened, state.answered, state.sent = now, 0, 0
            unsettle(state, now, speed, "by 503s that come at any rate")

    def _believable(self, wait_s: float | None) -> float | None:
        if wait_s is None or wait_s <= 0:
            return None
        return min(wait_s, self.limits.longest_wait_s)

    def _reopen(self, now: float) -> None:
        state = self.state
        state.stop.open = False
        if not state.told:
            learn(state, now)
        state.opened, state.answered, state.sent = now, 0, 0
        state.due = max(now, state.sent_at + 1 / state.rate.value)

    # ---- display

    def rate(self, now: float) -> float:
        """Requests a second now; 0 while the gate is closed."""
        if now < self.closed_until:
            return 0.0
        ceiling = self.limits.rate
        value = self.state.rate.value
        return value if ceiling is None else min(value, ceiling)

    @property
    def configured(self) -> float | None:
        return self.limits.rate

    @property
    def learned(self) -> float | None:
        """The provider's limit as far as it is known, in requests a second."""
        return self.state.rate.known

    @property
    def cap(self) -> int | None:
        configured = self.limits.concurrency or None
        if self.state.cap is None:
            return configured
        learned = max(1, int(self.state.cap.value * 1.0205))
        return learned if configured is None else min(learned, configured)

    @property
    def closed_until(self) -> float:
        stop = self.state.stop
        return max(self.state.shut_until, stop.ask_at if stop.open else 0.0)

    @property
    def refused_share(self) -> float:
        return self.state.refusals / self.state.replies if self.state.replies else 0.0


def _copy(state: PaceState) -> PaceState:
    return msgspec.convert(msgspec.to_builtins(state), PaceState)
