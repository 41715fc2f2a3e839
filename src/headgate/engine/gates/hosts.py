"""Hosts that do not answer, hosts that have answered, and the jobs that wait for them."""

from collections.abc import Callable, Iterator

from headgate.core.gates.state import HostDown
from headgate.engine.gates.gate import LocalGate
from headgate.engine.gates.sync import LedgerTime
from headgate.ports.gate import HostTrouble

GatesOf = Callable[[str], Iterator[LocalGate]]
"""The gates that learn from the answers of a host."""
OnHostEvent = Callable[[int, str], None]
"""Called with a job and an event to record for it."""


class Turned:
    __slots__ = ("hosts", "times")

    def __init__(self) -> None:
        self.times = 0
        self.hosts: set[str] = set()

    def note(self, host: str) -> None:
        self.times += 1
        self.hosts.add(host)


class HostRecords:
    """Implements Hosts for the gates of a process, and records events for the affected jobs."""

    MOST_JOBS = 100
    """Jobs that get an event about one outage."""
    QUIET_S = 60.0
    """Seconds between the events that a job gets about outages of the same host."""

    SOON_S = 0.001
    """A trial that is due within these seconds is due now."""
    HELD_AFTER = 16
    """A job is held after this many requests in a row were turned away."""

    def __init__(self, gates_of: GatesOf, time: LedgerTime) -> None:
        self._gates_of = gates_of
        self._time = time
        self.down: dict[str, HostDown] = {}
        """Hosts that do not answer, and when each is asked again."""
        self._notified: dict[str, set[int]] = {}
        """By host: the jobs that have an event about its present outage."""
        self.held: dict[int, Turned] = {}
        """Jobs whose last requests were all turned away."""
        self._last_notified: dict[tuple[str, int], float] = {}
        self.on_event: OnHostEvent = lambda _job_id, _message: None

    def is_down(self, host: str, trouble: HostTrouble, job_id: int) -> None:
        before, now_s = self.down.get(host), self._time.now()
        since_s = before.since_s if before else now_s
        until_s = now_s + trouble.for_s
        down = HostDown(until_s, trouble.reason, since_s, trouble.gave_up, trouble.doubtful)
        self.down[host] = down
        for gate in self._gates_of(host):
            gate.down[host] = down
        self._notify_down(host, job_id)
        if trouble.gave_up and before is not None and not before.gave_up:
            self._notify(
                host, f"{_trouble(host, down)} for {_span(now_s, since_s)}: its rows fail now"
            )

    def is_up(self, host: str) -> None:
        down, now_s = self.down.pop(host, None), self._time.now()
        for gate in self._gates_of(host):
            gate.down.pop(host, None)
        if down is not None:
            self._notify(host, f"{host} answers again, after {_span(now_s, down.since_s)}")
        self._notified.pop(host, None)

    def keeps_waiting(self, host: str, job_id: int) -> None:
        if host in self.down:
            self.held.setdefault(job_id, Turned()).note(host)
            self._notify_down(host, job_id)

    def lets_out(self, host: str, job_id: int) -> None:
        """A request of this job is sent; unless it is a trial, the job is not held any more."""
        if host not in self.down:
            self.held.pop(job_id, None)

    def trials(self, job_id: int) -> int | None:
        """Items of a job that can be used as trials now; None if the job is not held.

        For jobs whose items do not name their host: otherwise every item would be leased only to be
        handed back.
        """
        turned = self.held.get(job_id)
        if turned is None or turned.times < self.HELD_AFTER:
            return None
        if any(host not in self.down or self.down[host].gave_up for host in turned.hosts):
            del self.held[job_id]
            return None
        return sum(not self.is_shut(host, self.SOON_S) for host in turned.hosts)

    def has_answered(self, host: str) -> bool:
        return any(host in gate.answered for gate in self._gates_of(host))

    def answers(self, host: str) -> None:
        for gate in self._gates_of(host):
            gate.answered.add(host)

    def is_shut(self, host: str, least_s: float) -> bool:
        """True if its items should stay in the store for at least `least_s` seconds."""
        down = self.down.get(host)
        if down is None or down.gave_up:
            return False
        return down.until_s - self._time.now() >= least_s

    def _notify_down(self, host: str, job_id: int) -> None:
        notified = self._notified.setdefault(host, set())
        if self.down[host].doubtful or job_id in notified or len(notified) >= self.MOST_JOBS:
            return
        now_s = self._time.now()
        last_s = self._last_notified.get((host, job_id))
        if last_s is not None and now_s - last_s < self.QUIET_S:
            return
        notified.add(job_id)
        if len(self._last_notified) >= 10_000:
            self._last_notified.clear()
        self._last_notified[host, job_id] = now_s
        down = self.down[host]
        again_s = max(down.until_s - now_s, 0.0)
        self.on_event(job_id, f"{_trouble(host, down)}; next try in {again_s:.0f} s")

    def _notify(self, host: str, message: str) -> None:
        for job_id in sorted(self._notified.get(host, ())):
            self.on_event(job_id, message)


def _trouble(host: str, down: HostDown) -> str:
    if down.reason.startswith("answer"):
        return f"{host} {down.reason}"
    return f"{host} does not answer ({down.reason})" if down.reason else f"{host} does not answer"


def _span(now_s: float, since_s: float | None) -> str:
    seconds = now_s - since_s if since_s is not None else 0.0
    return f"{seconds / 60:.0f} min" if seconds >= 120 else f"{seconds:.0f} s"
