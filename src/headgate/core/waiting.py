"""Why a job is not faster, and what its rows wait for: one decision over stored facts.

The commands, the API, the web pages and the metrics all use `why_job`, so that they agree.
"""

import math
from collections.abc import Sequence

import msgspec

from headgate.core.fault import FaultClass
from headgate.core.gates.keys import own_name
from headgate.core.gates.view import GateView
from headgate.core.gates.wait import (
    MICROSECONDS,
    Wait,
    WaitKind,
    at_gate,
    at_stop,
    is_stopped,
    limiting_gate,
)
from headgate.core.job import Counts, Job
from headgate.core.status import UNFINISHED, JobState
from headgate.core.words import counted

FLOWING_US = 5 * MICROSECONDS
"""Microseconds since the last finished row up to which rows count as moving."""
SILENT_US = 60 * MICROSECONDS
"""Microseconds without news after which a command that reads a file counts as ended."""
COUNTED = 500
"""Most rows that are due later to be counted."""
TIMED = 20
"""Number of rows whose handler times make the mean."""
DASH = "\N{EN DASH}"
START = "start one with: headgate worker"
NO_WORKER = f"no worker is running; {START}"
STARTING = "a worker process is starting"


class Deferral(msgspec.Struct, frozen=True):
    error_class: str
    gate: str
    count: int
    next_us: int
    """When the first of them is due, in UTC microseconds."""
    reason: str = ""


class Situation(msgspec.Struct, frozen=True):
    """The stored facts about a job at one time. All of them are read through indexes."""

    now_us: int
    counts: Counts = Counts()
    due: bool = False
    """At least one row could be claimed now."""
    deferrals: Sequence[Deferral] = ()
    """Rows that are due later, at most `COUNTED` of them."""
    finished_us: int | None = None
    """When a row was last finished, in UTC microseconds."""
    workers: int = 0
    """Living workers that may take rows of this job."""
    others_busy: bool = False
    starts_workers: bool = False
    """The command that asks starts workers itself: a missing one is about to start."""

    @property
    def deferred(self) -> int:
        """Rows that are due later, counted up to `COUNTED`."""
        return sum(each.count for each in self.deferrals)

    @property
    def flowing(self) -> bool:
        return self.finished_us is not None and self.now_us - self.finished_us <= FLOWING_US


def situation_of_chosen(chosen: Counts, at: Situation) -> Situation:
    """The situation if only the rows that are counted in `chosen` run.

    The other rows are due and stay so; all rows that are due later count as chosen.
    """
    due = at.due and chosen.pending > at.deferred
    return msgspec.structs.replace(at, counts=chosen, due=due)


def why_job(job: Job, at: Situation, gates: Sequence[GateView]) -> Wait | None:
    """What decides the speed of a job; None if it has ended or nothing is left to do.

    Of several causes it names the one whose end would let the job continue: a pause, the reading of
    the file, a gate or host that lets nothing through, a missing worker, a gate that is open but
    slow, rows that are all due later, the turn of other jobs, and at last the handlers themselves.
    """
    if job.state not in UNFINISHED:
        return None
    if wait := _wait_of_job(job, at):
        return wait
    if not at.counts.open:
        return None
    held = limiting_gate(gates, flowing=at.flowing)
    if held is not None and is_stopped(held, flowing=at.flowing):
        return _without_worker(at_stop(held), at)
    is_slow = held is not None and at.counts.processing > at.deferred
    if at.deferrals and not (at.due or is_slow):
        return _without_worker(_deferred(at), at)
    if not at.workers:
        return Wait(WaitKind.WORKER, STARTING if at.starts_workers else NO_WORKER)
    if held is not None:
        return at_gate(held)
    return _at_handlers(at) if at.counts.processing else _untaken(at)


def _wait_of_job(job: Job, at: Situation) -> Wait | None:
    if job.state is JobState.PAUSED:
        return paused(job)
    if job.state is JobState.INGESTING and not (job.eager and at.counts.open):
        return reading(job, at.counts, at.now_us)
    return None


def is_at_work(job: Job, at: Situation) -> bool:
    """Whether a worker is running for a job, or its file is being read."""
    if job.state is JobState.INGESTING and not at.workers:
        return not _is_given_up(job, at.now_us)
    return at.workers > 0


def _is_given_up(job: Job, now_us: int) -> bool:
    """Whether the command that read the file stopped before the end of the file."""
    reported_us = int(job.ingest.get("at") or job.updated_at)
    return job.reading is None and now_us - reported_us > SILENT_US


def paused(job: Job) -> Wait:
    reason = f" ({job.pause_reason})" if job.pause_reason else ""
    following = "goes on" if job.resume_at else ""
    return Wait(WaitKind.PAUSED, f"job {job.id} is paused{reason}", job.resume_at, next=following)


def reading(job: Job, counts: Counts, now_us: int) -> Wait:
    if _is_given_up(job, now_us):
        why = "the file is not read to its end; run the same headgate command again"
        return Wait(WaitKind.READING, why)
    rows = f" {counts.total:,} rows read" if counts.total else ""
    return Wait(WaitKind.READING, f"reading the file…{rows}")


def _without_worker(wait: Wait, at: Situation) -> Wait:
    if at.workers or at.counts.processing or at.starts_workers:
        return wait
    return and_no_worker(wait)


def and_no_worker(wait: Wait) -> Wait:
    """The wait with a note that no worker is running to continue when it ends."""
    return msgspec.structs.replace(wait, why=f"{wait.why}; and no worker is running ({START})")


def _deferred(at: Situation) -> Wait:
    """The wait of the largest group of rows that are due later."""
    group = max(at.deferrals, key=lambda each: (each.count, -each.next_us))
    one = group.count == 1
    some = f"{group.count:,}{' or more' if at.deferred >= COUNTED else ''}"
    rows = f"{some} {'row' if one else 'rows'}"
    kind, what = _reason_of(group, one=one)
    following = "it is due" if one else "the next is due"
    return Wait(kind, f"{rows} {what}", group.next_us, group.gate, following, group.reason)


def _reason_of(group: Deferral, *, one: bool) -> tuple[WaitKind, str]:
    waits = "waits" if one else "wait"
    match kind_of_deferral(group.error_class, group.gate):
        case WaitKind.DEFERRED:
            return WaitKind.DEFERRED, f"{waits} because the handler asked to try later"
        case WaitKind.RETRY:
            return WaitKind.RETRY, f"failed and {waits} for a retry"
        case kind:
            return kind, f"{'was' if one else 'were'} sent back by {own_name(group.gate)}"


def kind_of_deferral(error_class: str | None, gate: str) -> WaitKind:
    """Why a row is due later. Older stores mark a deferral by `throttled` without a gate."""
    if error_class == FaultClass.THROTTLED and gate:
        return WaitKind.REFUSED
    if error_class in {FaultClass.DEFERRED, FaultClass.THROTTLED}:
        return WaitKind.DEFERRED
    return WaitKind.RETRY


def _untaken(at: Situation) -> Wait:
    if at.others_busy:
        return Wait(WaitKind.TURN, "workers are busy with other jobs; its turn comes next")
    which = "a row" if at.finished_us is None else "the next row"
    return Wait(WaitKind.WORKER, f"a worker is running, but it has not taken {which} yet")


def _at_handlers(at: Situation) -> Wait:
    busy = in_progress(at.counts.processing)
    if at.flowing:
        what = "running at full speed" if at.due else "the last rows are running"
        return Wait(WaitKind.RUNNING, f"nothing {DASH} {what} ({busy})")
    if at.finished_us is None:
        return Wait(WaitKind.HANDLER, f"{busy}; no row is finished yet")
    ago_s = (at.now_us - at.finished_us) // MICROSECONDS
    return Wait(WaitKind.HANDLER, f"{busy}; the last row was finished {ago_s:,} s ago")


def in_progress(count: int) -> str:
    """Leased rows: workers take some rows ahead, so more than run at the same time."""
    return f"{counted(count, 'row')} in progress"


SLOW_S = 30.0
"""Seconds for which a job must be slow before it counts."""
SLOW_SHARE = 0.05
"""Share of the expected speed below which a job is slow."""
EXPECTED = frozenset(
    {
        WaitKind.PAUSED,
        WaitKind.READING,
        WaitKind.DEFERRED,
        WaitKind.RETRY,
        WaitKind.PROVIDER_PAUSED,
        WaitKind.BUDGET,
        WaitKind.TURN,
    }
)
"""Waits that a user, the handler, the settings or another job asked for."""


def expected_per_s(
    wait: Wait, gates: Sequence[GateView], lanes: int, handler_s: float | None
) -> float | None:
    """Rows a second that a job could do, from the rate of its gate and the speed of its handlers.

    None where neither is known, or where no speed can be expected. A closed gate allows nothing. A
    host that does not answer leaves the rate of its gate as it was.
    """
    if wait.kind in EXPECTED:
        return None
    rates = [_rate_of(gate) for gate in gates if gate.key == wait.gate]
    if handler_s:
        rates.append(lanes / handler_s)
    lowest = min(rates, default=math.inf)
    return None if math.isinf(lowest) else lowest


def _rate_of(gate: GateView) -> float:
    return math.inf if gate.now_per_s is None else gate.now_per_s


def is_slow(per_s: float | None, expected: float | None) -> bool:
    """Whether `per_s`, measured over the last `SLOW_S` seconds, is far below `expected`."""
    return per_s is not None and expected is not None and per_s < expected * SLOW_SHARE
