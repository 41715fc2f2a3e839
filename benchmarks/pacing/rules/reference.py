"""The reference pacer: the best rule known before ours, and the one to beat."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

from benchmarks.pacing.reading import retry_after, told
from benchmarks.pacing.rules.crowding import Crowding
from benchmarks.pacing.rules.delivery import Delivery
from benchmarks.pacing.rules.level import Level
from benchmarks.pacing.rules.rule import Reply, Rule


@dataclass
class Stop:
    """One stop after a refusal; refusals of what was already on the wire belong to it."""

    began_at: float = 0.0
    refused_at: float = 0.0
    """The latest refusal that made it start or last."""
    probe_at: float = 0.0
    probing: bool = False
    """One request is out to see whether the limit lets it pass."""
    wait_s: float = 0.0
    told_s: float = 0.0
    """The longest Retry-After in it."""
    rate: float = 0.0
    """The rate at which it hit."""
    one_by_one: bool = False
    """It ends with an answered probe, not by itself."""
    by_limit: bool = False
    """Else by a run of errors, from which no rate is learned."""
    repeated: bool = False
    surprising: bool = False
    """The rate was one that had been trusted."""

    def is_long(self) -> bool:
        """Seconds from which a wait is a window of the provider, not a bucket that fills."""
        return self.told_s > 2 or (self.refused_at - self.began_at > 1.5 and not self.told_s)


class Reference(Rule):
    """Even spacing at a learned rate; one event for each stop; cut to what was delivered."""

    START, DOUBLING_S = 10.0, 1.2
    HOLD_S = 12.0
    REQUESTS_PER_REFUSAL = 300
    RESTING_REFUSALS, REST_S = 8, 5.0
    """So many refusals within ten seconds earn a rest, for providers ban for that."""

    def __init__(self) -> None:
        self._rate = Level(self.START, self.DOUBLING_S)
        self._crowding = Crowding()
        self._delivery = Delivery()
        self._binding: Level | None = None
        self._next_at = self._last_sent = self._frozen_until = 0.0
        self._round_trip_s = 0.15
        self._refused_at: deque[float] = deque()
        self._errors = 0
        self._item_wait_s = 0.0
        self._stop = Stop()
        self._closed = False
        self._stop_before = self._opened_at = 0.0
        self._longest_s, self._window_opened_at = 0.0, -1e9
        self._answers = self._requests = 10**9
        """Since the last stop ended."""
        self._settled = False

    @classmethod
    def remembering(cls, rate: float) -> Reference:
        """Begin with what an earlier run has learned."""
        rule = cls()
        rule._rate.learn(rate, cls.HOLD_S)
        rule._settled = True
        return rule

    def gate(self, now: float, in_flight: int) -> float:
        if now < self._frozen_until:
            return self._frozen_until
        if self._closed:
            return math.inf if self._stop.probing else max(now, self._stop.probe_at)
        if self._requests - self._answers > 1 + 2 * self._answers:
            return math.inf  # just reopened: one, then three, so that a wrong guess costs little
        if self._crowding.full(in_flight):
            self._binding = self._crowding.cap
            return math.inf
        if self._next_at - 1e-9 > now:
            self._binding = self._rate
            return self._next_at
        return now

    def on_send(self, now: float, in_flight: int) -> None:
        if self._closed and self._stop.one_by_one:
            self._stop.probing = True
        elif self._closed:
            self._reopen(now)
        elif self._binding:
            self._binding.age_s += now - max(self._last_sent, self._opened_at)
        self._binding, self._last_sent = None, now
        self._requests += 1
        self._next_at = max(self._next_at, now) + 1 / self._rate.value()

    def on_reply(self, reply: Reply) -> None:
        self._round_trip_s += 0.1 * (reply.latency - self._round_trip_s)
        stop = self._stop
        probe = self._closed and stop.one_by_one and reply.sent_at >= stop.refused_at
        if probe:
            stop.probing = False
        self._listen(reply)
        if reply.refused:
            self._refused(reply, probe=probe)
            return
        self._delivery.add(reply.now)
        self._answers += reply.sent_at >= self._opened_at
        if reply.status == 200:
            self._answered(reply, probe=probe)
        else:
            self._erred(reply.now, probe=probe)

    def retry_delay(self, attempts: int, reply: Reply) -> float:
        if reply.refused:
            return self._item_wait_s
        return self.surroundings.rng.uniform(0, min(30.0, 0.5 * 2**attempts))

    def rate(self, now: float) -> float:
        return self._rate.value()

    def closed(self, now: float) -> bool:
        return self._closed or now < self._frozen_until

    def _listen(self, reply: Reply) -> None:
        """A limit that is told needs no probing; when its window is used up, rest."""
        limit = told(reply.headers)
        if limit is None:
            return
        rate = limit.quota / limit.window_s
        if rate != self._rate.known:
            self._rate.learn(rate, 0.0)
            self._next_at = min(self._next_at, reply.now + 1 / rate)
        self._rate.told = True
        if limit.remaining <= 0 and limit.window_s > 2:
            self._frozen_until = max(self._frozen_until, reply.now + limit.reset_s)

    def _answered(self, reply: Reply, *, probe: bool) -> None:
        self._errors = 0
        self._crowding.timed(reply.now, reply.in_flight, reply.latency)
        if probe:
            self._reopen(reply.now)
        self._crowding.accepted(reply.in_flight)

    def _erred(self, now: float, *, probe: bool) -> None:
        """An error says nothing about a rate; only an unbroken run of them stops."""
        self._errors += 1
        if probe:
            self._prolong(now, None, by_limit=False)
        elif self._errors >= 8 and not self._closed:
            self._close(now, None, one_by_one=True, by_limit=False)

    def _refused(self, reply: Reply, *, probe: bool) -> None:
        now, told_s = reply.now, retry_after(reply.headers)
        self._item_wait_s = 0.0
        self._rest_after_many(now)
        if self._closed and not probe:
            self._stop.probe_at = max(self._stop.probe_at, now + (told_s or 0.0))
        elif reply.sent_at < self._opened_at:
            pass  # sent before the last stop, which has answered for it
        elif not probe and self._too_crowded(reply.in_flight):
            self._item_wait_s = told_s or 0.0
        elif probe or self._answers < 5:
            self._prolong(now, told_s, by_limit=True)
        else:
            self._close(now, told_s, one_by_one=not self._rate.probing(), by_limit=True)

    def _rest_after_many(self, now: float) -> None:
        self._refused_at.append(now)
        while self._refused_at[0] < now - 10.5:
            self._refused_at.popleft()
        if len(self._refused_at) >= self.RESTING_REFUSALS:
            self._frozen_until = max(self._frozen_until, now + self.REST_S)

    def _too_crowded(self, in_flight: int) -> bool:
        rate, known = self._rate.value(), self._rate.known
        hold_s = max(20.0, 2 * self.REQUESTS_PER_REFUSAL / rate)
        if self._crowding.confirms(in_flight, hold_s):
            return True
        if not known or rate > 1.25 * known or not self._crowding.suspects(in_flight, hold_s):
            return False
        self._rate.learn(rate, 1.0, 0.7)  # it was not at fault: let it climb
        return True

    def _close(self, now: float, told_s: float | None, *, one_by_one: bool, by_limit: bool) -> None:
        self._stop_before = self._stop.began_at
        self._stop = Stop(
            began_at=now,
            wait_s=self._round_trip_s,
            rate=self._rate.value(),
            one_by_one=one_by_one,
            by_limit=by_limit,
            surprising=not self._rate.probing(),
        )
        self._wait(now, told_s)

    def _prolong(self, now: float, told_s: float | None, *, by_limit: bool) -> None:
        """Refused again at once: it is the same stop, and it was too short."""
        stop = self._stop
        stop.wait_s = min(1.6 * stop.wait_s, 16.0)
        stop.by_limit |= by_limit
        stop.one_by_one = stop.repeated = True
        stop.probing = False
        self._wait(now, told_s)

    def _wait(self, now: float, told_s: float | None) -> None:
        self._closed = True
        stop = self._stop
        stop.refused_at = now
        earliest = self._last_sent + 1 / self._rate.value()
        stop.probe_at = max(now + (told_s or stop.wait_s), earliest)
        stop.told_s = max(told_s or 0.0, stop.told_s)

    def _reopen(self, now: float) -> None:
        self._closed = False
        if self._stop.by_limit and not self._rate.told:
            self._learn(now, now - self._stop.began_at)
        self._opened_at, self._answers, self._requests = now, 0, 0
        self._next_at = max(now, self._last_sent + 1 / self._rate.value())

    def _learn(self, now: float, stopped_s: float) -> None:
        is_long = self._stop.is_long()
        self._longest_s = max(stopped_s if is_long else 0.0, 0.95 * self._longest_s)
        rate = max(self._window_mean(now, stopped_s) if is_long else self._short_stop(), 0.02)
        if self._settled:
            hold_s = max(self.HOLD_S, self.REQUESTS_PER_REFUSAL / rate, 30 * stopped_s)
            self._rate.learn(rate, hold_s, max(2.0, 6 / rate, self._longest_s / 3))
        else:
            self._rate.learn(rate, max(1.0, 10 / rate), max(1.0, 3 / rate))

    def _window_mean(self, now: float, stopped_s: float) -> float:
        """Over a long window: the mean from one opening to the next."""
        start, late_s = self._window_opened_at, 0.0
        if now - start > 400:
            start = max(0.0, now - 6 * stopped_s)
            late_s = 0.0 if self._stop.told_s else self._stop.wait_s / 2
        mean = self._delivery.between(start, now) / (now - start - late_s)
        rate = min(self._stop.rate, mean)
        if self._settled:  # what would fall further is a ban, and no window
            rate = max(rate, 0.5 * (self._rate.known or 0.0))
        self._settled, self._window_opened_at = True, now
        return rate

    def _short_stop(self) -> float:
        stop, known = self._stop, self._rate.known
        short_so_far = self._longest_s <= 2
        if stop.repeated and known and short_so_far:  # the limit has fallen
            self._settled = False
            return 0.5 * known
        far_above = self._settled and known is not None and stop.rate > 1.5 * known
        if known is None or (short_so_far and (far_above or self._answers < 20)):
            self._settled = False  # only the order of size is known
            return 0.7 * stop.rate
        rate = self._mean_between_stops() if stop.surprising else self._mean_of_last_seconds()
        if self._settled and not stop.surprising:  # what held until the probe counts as much
            rate = (known + min(rate, 1.06 * known)) / 2
        self._settled = True
        return rate

    def _mean_between_stops(self) -> float:
        return self._mean_since(max(self._stop_before, self._opened_at - 1.0), 0.88, 0.98)

    def _mean_of_last_seconds(self) -> float:
        seconds = max(3.0 if self._settled else 1.5, 20 / self._stop.rate)
        return self._mean_since(max(self._opened_at, self._stop.began_at - seconds), 0.6, 1.0)

    def _mean_since(self, start: float, lowest: float, highest: float) -> float:
        """What was delivered, within shares of the rate at which the stop hit."""
        end, cut = self._stop.began_at, self._stop.rate
        span_s = end - start - (self._round_trip_s if start <= self._opened_at else 0.0)
        mean = self._delivery.between(start, end) / span_s
        return min(highest * cut, max(mean, lowest * cut))
