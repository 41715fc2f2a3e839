"""A provider in virtual time: its limit, its manners, its latency, its temper."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from random import Random

from benchmarks.pacing.events import Events
from benchmarks.pacing.limits import Decision
from benchmarks.pacing.manners import NOTHING, Headers
from benchmarks.pacing.scenario import Scenario

Answer = Callable[[int, Headers], None]
"""Called when an answer has reached the client."""

BAN_WINDOW_S = 10.0
BAN_S = 30.0
UNLIMITED = Decision(accepted=True, wait_s=0.0, remaining=0, reset_s=0.0)


class Provider:
    """Answers every request: at once with a refusal, or when the work on it is done."""

    def __init__(self, scenario: Scenario, seed: int, events: Events) -> None:
        self.limit = scenario.limit() if scenario.limit else None
        self.bans = 0
        self.wire = scenario.wire
        self._scenario = scenario
        self._events = events
        self._rng = Random(seed * 7919 + 17)
        self._log_median = scenario.latency.log_median
        self._refused_at: deque[float] = deque()
        self._banned_until = -1.0
        self._busy = 0
        self._queue: deque[tuple[Answer, int, Headers]] = deque()
        self._arrived = 0
        self._strays = scenario.strays.places(seed) if scenario.strays else frozenset()

    def arrive(self, answer: Answer) -> None:
        """A request has arrived."""
        now = self._events.now
        self._arrived += 1
        if self._arrived - 1 in self._strays:
            self._refuse(answer, 429, self._stray_headers())
            return
        if now < self._banned_until:
            told = self._scenario.manners.banned(self._banned_until - now)
            self._refuse(answer, 429, told)
            return
        decision = self.limit.decide(now) if self.limit else UNLIMITED
        if decision.accepted:
            self._accept(answer, decision)
        else:
            self._lose_patience(now)
            assert self.limit is not None
            told = self._scenario.manners.refused(self.limit, decision)
            self._refuse(answer, self._scenario.refusal_status, told)

    def _stray_headers(self) -> Headers:
        strays = self._scenario.strays
        return {"retry-after": strays.retry_after} if strays and strays.retry_after else NOTHING

    def _refuse(self, answer: Answer, status: int, headers: Headers) -> None:
        delay_s = self.wire * self._rng.uniform(0.015, 0.06)
        self._events.at(self._events.now + delay_s, answer, status, headers)

    def _lose_patience(self, now: float) -> None:
        if self._scenario.ban_after is None:
            return
        refused_at = self._refused_at
        refused_at.append(now)
        while refused_at[0] < now - BAN_WINDOW_S:
            refused_at.popleft()
        if len(refused_at) > self._scenario.ban_after:
            self.bans += 1
            self._banned_until = now + BAN_S
            refused_at.clear()

    def _accept(self, answer: Answer, decision: Decision) -> None:
        headers = NOTHING
        if self.limit:
            headers = self._scenario.manners.accepted(self.limit, decision)
            self.limit.entered()
        status = 500 if self._has_a_spike() else 200
        slots = self._scenario.slots
        if slots and self._busy >= slots:
            self._queue.append((answer, status, headers))
        else:
            self._work(answer, status, headers)

    def _has_a_spike(self) -> bool:
        spikes = self._scenario.spikes
        return (
            spikes is not None
            and spikes.covers(self._events.now)
            and self._rng.random() < spikes.share
        )

    def _work(self, answer: Answer, status: int, headers: Headers) -> None:
        self._busy += 1
        takes_s = math.exp(self._rng.gauss(self._log_median, self._scenario.latency.sigma))
        self._events.at(self._events.now + takes_s, self._finish, answer, status, headers)

    def _finish(self, answer: Answer, status: int, headers: Headers) -> None:
        self._busy -= 1
        if self.limit:
            self.limit.left()
        if self._queue:
            self._work(*self._queue.popleft())
        way_back_s = self.wire * self._rng.uniform(0.003, 0.012)
        self._events.at(self._events.now + way_back_s, answer, status, headers)
