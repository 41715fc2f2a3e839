"""Gates as a table, as one page with evidence, and as JSON."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from headgate.app.cli.output import Output
from headgate.app.cli.render.jobs import plain
from headgate.app.cli.render.times import ago, by_the_clock, span
from headgate.core.gates.view import SET
from headgate.core.gates.wait import rate_text
from headgate.core.pacing.state import Cause
from headgate.schema.gates import BudgetView, Gate, GateList, HostDownView, OverrideView

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


def show_gates(screen: Output, gates: GateList) -> None:
    names = Counter(gate.name for gate in gates.items)
    lines = [
        # A host and its domain may have the same name.
        _line(gate, gates.now or "")
        | ({"GATE": f"{gate.name} ({gate.kind})"} if names[gate.name] > 1 else {})
        for gate in gates.items
    ]
    shown = [name for name in lines[0] if any(line[name] for line in lines)]
    screen.table(shown, [[line[name] for name in shown] for line in lines])


def show_gate(screen: Output, gate: Gate, now: str) -> None:
    screen.line(f"{gate.kind} {gate.name}", "bold")
    screen.facts(_facts(gate, now))
    if gate.members:
        screen.line("\nProcesses", "bold")
        screen.table(
            ("WORKER", "#IN FLIGHT", "#COULD USE", "LAST SEEN"),
            [
                (
                    member.worker,
                    member.in_flight,
                    "more" if member.could_use_per_s is None else rate_text(member.could_use_per_s),
                    ago(member.seen_at, now),
                )
                for member in gate.members
            ],
        )
    if gate.evidence:
        screen.line("\nEvidence, newest last", "bold")
        screen.table(
            ("AT", "SEEN", "DECIDED", "#BEFORE", "#AFTER"),
            [
                (
                    by_the_clock(line.at or now, now),
                    line.seen,
                    line.decided,
                    _pace(line.before),
                    _pace(line.after),
                )
                for line in gate.evidence
            ],
        )


def gate_json(gate: Gate) -> dict[str, Any]:
    shape: dict[str, Any] = plain(gate)
    if override := shape["override"]:
        override["rate_per_s"] = override.pop("rate")
    return shape


def override_in_words(override: OverrideView, now: str) -> str:
    state = "paused" if override.paused else f"at {rate_text(override.rate or 0.0)}"
    if override.until is None:
        return f"{state} until resumed"
    return f"{state} until {by_the_clock(override.until, now)}"


def _line(gate: Gate, now: str) -> dict[str, str]:
    until = gate.closed_until
    return {
        "GATE": gate.name,
        "#LIMIT": gate.configured,
        "#LEARNED": _pace(gate.learned_per_s),
        "#NOW": _pace(gate.now_per_s),
        "#IN FLIGHT": str(gate.in_flight) if gate.asked else "",
        "#429": f"{gate.refused_share:.1%}" if gate.replies else "",
        "#LATENCY": span(gate.latency_s) if gate.latency_s is not None else "",
        "WHY": LABELS[gate.cause] if gate.asked else "not used yet",
        "DOWN": ", ".join(gate.broken),
        "UNTIL": by_the_clock(until, now) if until else "",
    }


def _why(gate: Gate, now: str) -> str | None:
    if not gate.closed:
        return gate.why or None
    if gate.closed_until is None:
        return f"closed: {gate.why}"
    at = gate.closed_until
    return f"closed until {by_the_clock(at, now)} ({ago(at, now)}): {gate.why}"


def _pace(per_s: float | None) -> str:
    return "" if per_s is None else rate_text(per_s) if per_s else "0"


def _facts(gate: Gate, now: str) -> dict[str, object]:
    cap = gate.configured_in_flight
    limits = [gate.configured, f"{cap} at a time" if cap else ""]
    learned = [
        _pace(gate.learned_per_s),
        f"{gate.learned_in_flight} at a time" if gate.learned_in_flight else "",
    ]
    answers = f"{gate.replies:,}, of which {gate.refusals:,} refused ({gate.refused_share:.2%})"
    return {
        "configured": ", ".join(filter(None, limits)) or "nothing",
        "learned": ", ".join(filter(None, learned)) or "nothing yet",
        "now": _pace(gate.now_per_s),
        "why": _why(gate, now),
        "stage": gate.stage,
        "operator": override_in_words(gate.override, now) if gate.override else None,
        "in flight": gate.in_flight if gate.members else None,
        "answers": answers if gate.replies else None,
        "latency": span(gate.latency_s) if gate.latency_s is not None else None,
        "breaker": "; ".join(_down_in_words(host, each, now) for host, each in gate.down.items()),
        **{f"{use.name} in {span(use.seconds)}": _use(use) for use in gate.budgets},
    }


def _down_in_words(host: str, down: HostDownView, now: str) -> str:
    why = f" ({down.reason})" if down.reason else ""
    return f"open: {host} does not answer{why}, next try {ago(down.until, now)}"


def _use(use: BudgetView) -> str:
    kind = ", a hard cap" if use.hard else ""
    share = f"{use.used / use.count:.0%}"
    return f"{use.used:,.6g} of {use.count:,.6g} used ({share}){kind}"
