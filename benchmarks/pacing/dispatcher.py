"""Worker slots with a backlog behind them, sending what a rule lets out."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from functools import partial
from random import Random

from benchmarks.pacing.events import Events
from benchmarks.pacing.log import Log
from benchmarks.pacing.manners import Headers
from benchmarks.pacing.provider import Provider
from benchmarks.pacing.rules.rule import Reply, Rule, Surroundings
from benchmarks.pacing.scenario import ALWAYS, Demand


@dataclass
class Item:
    """One piece of work. It keeps its slot until it is done; it never gives up."""

    attempts: int = 0


class Dispatcher:
    """One client process. Several may share a provider and a clock."""

    def __init__(
        self, events: Events, provider: Provider, rule: Rule, seed: int, demand: Demand = ALWAYS
    ) -> None:
        self.log = Log()
        self._events = events
        self._provider = provider
        self._rule = rule
        self._demand = demand
        self._rng = Random(seed * 104729 + 5)
        self._ready: deque[Item] = deque()
        self._in_flight = 0
        self._begun = 0
        self._wake_at = math.inf
        rng = Random(seed * 31337 + 3)
        rule.begin(Surroundings(events, rng, provider.limit, self.pump))

    def start(self, workers: int) -> None:
        """Give each worker its first item."""
        self._begun = workers
        for _ in range(workers):
            self._events.at(0.0, self._make_ready, Item())

    def change_limit(self, scale: float) -> None:
        """The provider allows more or less from now on; only an oracle is told."""
        assert self._provider.limit is not None
        self._provider.limit.rescale(self._events.now, scale)
        self._rule.on_limit_change(self._events.now)
        self.pump()

    def pump(self) -> None:
        """Send as much as the rule lets out now, and come back when it will let out more."""
        now = self._events.now
        while self._ready:
            opens_at = self._demand.next_work(now)
            if opens_at <= now:
                opens_at = self._rule.gate(now, self._in_flight)
            if opens_at > now + 1e-12:
                self._wake_by(opens_at)
                return
            self._send(self._ready.popleft())

    def _make_ready(self, item: Item) -> None:
        self._ready.append(item)
        self.pump()

    def _wake_by(self, time: float) -> None:
        if time < self._wake_at - 1e-9:
            self._wake_at = time
            self._events.at(time, self._wake, time)

    def _wake(self, time: float) -> None:
        if time == self._wake_at:  # else an earlier one was set meanwhile, and this one is stale
            self._wake_at = math.inf
            self.pump()

    def _send(self, item: Item) -> None:
        now = self._events.now
        item.attempts += 1
        self._in_flight += 1
        self.log.sent.append(now)
        self._rule.on_send(now, self._in_flight)
        way_there_s = self._provider.wire * self._rng.uniform(0.005, 0.025)
        answer = partial(self._answer, item, now, self._in_flight)
        self._events.at(now + way_there_s, self._provider.arrive, answer)

    def _answer(
        self, item: Item, sent_at: float, in_flight: int, status: int, headers: Headers
    ) -> None:
        now = self._events.now
        self._in_flight -= 1
        reply = Reply(now, sent_at, in_flight, status, headers, now - sent_at)
        self._rule.on_reply(reply)
        if status == 200:
            self.log.answered.append(now)
            self.log.latencies.append(now - sent_at)
            self._take_up()
        else:
            self._retry(item, reply)
        self.pump()

    def _take_up(self) -> None:
        """The next item of the backlog, if there is one."""
        if self._begun < self._demand.items:
            self._begun += 1
            self._ready.append(Item())

    def _retry(self, item: Item, reply: Reply) -> None:
        (self.log.refused if reply.refused else self.log.failed).append(reply.now)
        delay_s = self._rule.retry_delay(item.attempts, reply)
        if delay_s <= 0:
            self._ready.append(item)
        else:
            self._events.at(reply.now + delay_s, self._make_ready, item)
