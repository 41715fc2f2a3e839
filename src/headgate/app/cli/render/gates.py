"""Gates as a table, as one page with evidence, and as JSON."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec

from headgate.app.cli.output import Output
from headgate.app.cli.render.jobs import ago, by_the_clock, span
from headgate.core.gates.budget_view import BudgetUse
from headgate.core.gates.host_down import HostDown
from headgate.core.gates.state import Override
from headgate.core.gates.view import SET, GateView
from headgate.core.gates.wait import MICROSECONDS, Wait, in_figures
from headgate.core.pacing.state import Cause
from headgate.core.time_text import as_microseconds, moment
from headgate.engine.gate_control import GateReading

LABELS: Mapping[str, str] = {
    Cause.OPEN: "open",
    Cause.RATE: "learned rate",
    Cause.TOLD: "declared limit",
    Cause.WINDOW: "full window",
    Cause.CAP: "learned cap",
    Cause.STOPPED: "refused",
    Cause.RETRY_AFTER: "asked to wait",
    Cause.REOPENING: "reopening",
    Cause.CEILING: "configured rate",
    Cause.CONCURRENCY: "configured cap",
    Cause.BUDGET: "spent budget",
    Cause.PAUSED: "paused",
    Cause.LEASE: "used share",
    SET: "set rate",
}
"""Short names of causes, so that the table fits on a narrow terminal."""


def show_gates(screen: Output, reading: GateReading) -> None:
    """Print one line for each gate, without empty columns."""
    names = Counter(view.name for view in reading.views)
    lines = [
        # A host and its domain may have the same name.
        _line(view, reading.now_s)
        | ({"GATE": f"{view.name} ({view.kind})"} if names[view.name] > 1 else {})
        for view in reading.views
    ]
    shown = [name for name in lines[0] if any(line[name] for line in lines)]
    screen.table(shown, [[line[name] for name in shown] for line in lines])


def show_gate(screen: Output, view: GateView, now_s: float) -> None:
    screen.line(f"{view.kind} {view.name}", "bold")
    screen.facts(_facts(view, now_s))
    if view.members:
        screen.line("\nProcesses", "bold")
        screen.table(
            ("WORKER", "#IN FLIGHT", "#COULD USE", "LAST SEEN"),
            [
                (
                    worker,
                    member.in_flight,
                    "more" if member.need < 0 else in_figures(member.need),
                    ago(as_microseconds(member.seen), as_microseconds(now_s)),
                )
                for worker, member in view.members.items()
            ],
        )
    if view.evidence:
        screen.line("\nEvidence, newest last", "bold")
        screen.table(
            ("AT", "SEEN", "DECIDED", "#BEFORE", "#AFTER"),
            [
                (
                    by_the_clock(as_microseconds(line.at), as_microseconds(now_s)),
                    line.seen,
                    line.decided,
                    _pace(line.before),
                    _pace(line.after),
                )
                for line in view.evidence
            ],
        )


def gate_json(view: GateView) -> dict[str, Any]:
    shape: dict[str, Any] = msgspec.structs.asdict(view)
    until = view.closed_until
    return {
        **shape,
        "closed_until": None if until is None else moment(as_microseconds(until)),
        "members": [
            {
                "worker": worker,
                "seen_at": moment(as_microseconds(member.seen)),
                "in_flight": member.in_flight,
                "could_use_per_s": None if member.need < 0 else member.need,
                "waiting": member.waiting,
            }
            for worker, member in view.members.items()
        ],
        "broken": {host: moment(as_microseconds(at)) for host, at in view.broken.items()},
        "down": {host: _down_json(each) for host, each in view.down.items()},
        "budgets": [
            {
                **msgspec.structs.asdict(use),
                "turns_at": None if use.turns_at is None else moment(as_microseconds(use.turns_at)),
            }
            for use in view.budgets
        ],
        "override": view.override and _override_json(view.override),
        "evidence": [
            {**msgspec.structs.asdict(line), "at": moment(as_microseconds(line.at))}
            for line in view.evidence
        ],
    }


def wait_json(wait: Wait | None) -> dict[str, Any] | None:
    if wait is None:
        return None
    return {
        "kind": wait.kind,
        "why": wait.why,
        "until": moment(wait.until_us),
        "gate": wait.gate or None,
        "next": wait.next or None,
        "evidence": wait.evidence or None,
    }


def wait_in_words(wait: Wait, now_us: int) -> str:
    """A wait and when it ends, in local time."""
    until = wait.until_us
    if until is not None and wait.next:
        when = ago(until, now_us) if until - now_us >= MICROSECONDS else "now"
        return f"{wait.why}; {wait.next} {when}"
    if until is None or until <= now_us:
        return wait.why
    return f"{wait.why}, until {by_the_clock(until, now_us)} ({ago(until, now_us)})"


def override_in_words(override: Override, now_s: float) -> str:
    state = "paused" if override.paused else f"at {in_figures(override.rate or 0.0)}"
    if override.until is None:
        return f"{state} until resumed"
    return f"{state} until {by_the_clock(as_microseconds(override.until), as_microseconds(now_s))}"


def _override_json(override: Override) -> dict[str, Any]:
    until = override.until
    ends = None if until is None else moment(as_microseconds(until))
    return {"rate_per_s": override.rate, "paused": override.paused, "until": ends}


def _line(view: GateView, now_s: float) -> dict[str, str]:
    until = view.closed_until
    return {
        "GATE": view.name,
        "#LIMIT": view.configured,
        "#LEARNED": _pace(view.learned_per_s),
        "#NOW": _pace(view.now_per_s),
        "#IN FLIGHT": str(view.in_flight) if view.asked else "",
        "#429": f"{view.refused_share:.1%}" if view.replies else "",
        "#LATENCY": span(view.latency_s) if view.latency_s is not None else "",
        "WHY": LABELS[view.cause] if view.asked else "not used yet",
        "DOWN": ", ".join(view.broken),
        "UNTIL": by_the_clock(as_microseconds(until), as_microseconds(now_s))
        if until is not None
        else "",
    }


def _why(view: GateView, now_s: float) -> str | None:
    if not view.closed:
        return view.why or None
    if view.closed_until is None:
        return f"closed: {view.why}"
    at, now = as_microseconds(view.closed_until), as_microseconds(now_s)
    return f"closed until {by_the_clock(at, now)} ({ago(at, now)}): {view.why}"


def _pace(per_s: float | None) -> str:
    return "" if per_s is None else in_figures(per_s) if per_s else "0"


def _facts(view: GateView, now_s: float) -> dict[str, object]:
    cap = view.configured_in_flight
    limits = [view.configured, f"{cap} at a time" if cap else ""]
    learned = [
        _pace(view.learned_per_s),
        f"{view.learned_in_flight} at a time" if view.learned_in_flight else "",
    ]
    answers = f"{view.replies:,}, of which {view.refusals:,} refused ({view.refused_share:.2%})"
    return {
        "configured": ", ".join(filter(None, limits)) or "nothing",
        "learned": ", ".join(filter(None, learned)) or "nothing yet",
        "now": _pace(view.now_per_s),
        "why": _why(view, now_s),
        "stage": view.stage,
        "operator": override_in_words(view.override, now_s) if view.override else None,
        "in flight": view.in_flight if view.members else None,
        "answers": answers if view.replies else None,
        "latency": span(view.latency_s) if view.latency_s is not None else None,
        "breaker": "; ".join(_down_in_words(host, each, now_s) for host, each in view.down.items()),
        **{f"{use.name} in {span(use.seconds)}": _use(use) for use in view.budgets},
    }


def _down_in_words(host: str, down: HostDown, now_s: float) -> str:
    why = f" ({down.reason})" if down.reason else ""
    again = ago(as_microseconds(down.until_s), as_microseconds(now_s))
    return f"open: {host} does not answer{why}, asked again {again}"


def _down_json(down: HostDown) -> dict[str, Any]:
    return {
        "until": moment(as_microseconds(down.until_s)),
        "reason": down.reason,
        "since": None if down.since_s is None else moment(as_microseconds(down.since_s)),
    }


def _use(use: BudgetUse) -> str:
    kind = ", a hard cap" if use.hard else ""
    share = f"{use.used / use.count:.0%}"
    return f"{use.used:,.6g} of {use.count:,.6g} used ({share}){kind}"
