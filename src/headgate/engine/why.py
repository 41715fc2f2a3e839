"""Why something is waiting, from stored facts alone: an item, or a whole job."""

from collections.abc import Collection, Sequence
from enum import StrEnum

import msgspec

from headgate.core.gate_key import provider_in
from headgate.core.gate_view import GateView
from headgate.core.job import Job
from headgate.core.pace_state import Cause
from headgate.core.status import ItemStatus, JobState
from headgate.ports.reads import AttemptRow, ItemRow

MICROSECONDS = 1_000_000


class WaitKind(StrEnum):
    """What kind of thing is waited for."""

    JOB = "job"
    """The job does not give out items now."""
    DUE = "due"
    """The item's own time has not come."""
    GATE = "gate"
    """A provider's limit."""
    WORKER = "worker"
    """Nobody is there to do it, or who did it is gone."""
    RUNNING = "running"
    """It is being worked on."""
    TURN = "turn"
    """Nothing holds it: others come first."""


class Wait(msgspec.Struct, frozen=True):
    """A wait and its cause."""

    kind: WaitKind
    why: str
    until_us: int | None = None
    """When it ends, as far as is known."""
    gate: str = ""


class ItemFacts(msgspec.Struct, frozen=True):
    """All that is stored about an item's situation."""

    row: ItemRow
    job: Job
    gates: Sequence[GateView]
    """Those that the job's requests pass."""
    workers: Collection[str]
    """Who is alive."""
    now_us: int
    last: AttemptRow | None = None
    """The attempt that ended last, where it is known."""


def why_item(facts: ItemFacts) -> Wait | None:
    """What an item waits for; None for one that is finished."""
    match facts.row.status:
        case ItemStatus.PROCESSING:
            return _running(facts)
        case ItemStatus.PENDING:
            return _of_job(facts.job) or _due(facts) or _of_surroundings(facts)
        case _:
            return None


def binding(gates: Sequence[GateView]) -> GateView | None:
    """The gate that decides a job's speed; None if none of them holds anything back.

    Of several, one that is open does: what waits at a closed one is left alone meanwhile.
    """
    held = [gate for gate in gates if gate.holds]
    return max(held, key=lambda gate: (not gate.closed, gate.now_per_s or 0.0), default=None)


def at_gate(gate: GateView) -> Wait:
    """The wait before a gate that holds something back."""
    until = None if gate.closed_until is None else int(gate.closed_until * MICROSECONDS)
    pace = gate.now_per_s
    shown = f", {in_figures(pace)}" if pace and not gate.closed and gate.cause in PACED else ""
    return Wait(WaitKind.GATE, f"{gate.name}: {gate.why}{shown}", until, gate.key)


PACED = frozenset({Cause.RATE, Cause.TOLD, Cause.CEILING, "set"})
"""Causes of which the rate is the figure to know."""


def in_figures(per_s: float) -> str:
    """A rate as people say it: by the minute or the hour where it is slow."""
    if per_s >= 100:
        return f"{per_s:,.0f}/s"
    for size, unit in ((1, "s"), (60, "min"), (3_600, "h")):
        if per_s * size >= 1:
            return f"{per_s * size:.1f}".removesuffix(".0") + f"/{unit}"
    return f"{per_s * 86_400:.1f}".removesuffix(".0") + "/day"


def _of_job(job: Job) -> Wait | None:
    if job.state is JobState.PAUSED:
        reason = f" ({job.pause_reason})" if job.pause_reason else ""
        return Wait(WaitKind.JOB, f"job {job.id} is paused{reason}", job.resume_at)
    if job.state is JobState.INGESTING and not job.eager:
        return Wait(WaitKind.JOB, f"the source of job {job.id} is not read to its end")
    return None


def _due(facts: ItemFacts) -> Wait | None:
    row, last = facts.row, facts.last
    if row.due_at <= facts.now_us:
        return None
    reason = (last and last.reason) or row.last_error or "put off"
    unknown = "retry" if row.last_error else "later"
    outcome = last.outcome.replace("_", " ") if last else unknown
    return Wait(WaitKind.DUE, f"{outcome}: {reason}", row.due_at, row.gate)


def _of_surroundings(facts: ItemFacts) -> Wait:
    gates = _own(facts)
    shut = [gate for gate in gates if gate.closed]
    if shut and len(shut) == len(gates):
        return at_gate(min(shut, key=lambda gate: gate.closed_until or float("inf")))
    if not facts.workers:
        return Wait(WaitKind.WORKER, "no worker is running; `headgate worker` starts one")
    held = binding(gates)
    if held is not None:
        wait = at_gate(held)
        return msgspec.structs.replace(wait, why=f"its turn at {wait.why}")
    return Wait(WaitKind.TURN, "nothing holds it; its turn will come")


def _running(facts: ItemFacts) -> Wait:
    worker = facts.row.locked_by or ""
    if worker not in facts.workers:
        return Wait(WaitKind.WORKER, f"its worker {worker} is gone; it will be taken back")
    held = binding([gate for gate in _own(facts) if worker in gate.members])
    if held is None:
        return Wait(WaitKind.RUNNING, "it is being worked on")
    wait = at_gate(held)
    return msgspec.structs.replace(wait, why=f"it is being worked on; requests wait for {wait.why}")


def _own(facts: ItemFacts) -> list[GateView]:
    """The gate of an item's own, else all those of its job."""
    own = facts.row.gate
    mine = [gate for gate in facts.gates if own in {gate.key, gate.name, provider_in(gate.key)}]
    return (mine if own else []) or list(facts.gates)
