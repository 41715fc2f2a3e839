"""A forecast as a table and as JSON."""

import shutil
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from headgate.app.cli.output import Output
from headgate.app.cli.plan_inputs import PlanInputs
from headgate.core.rate import UNITS, Limit
from headgate.core.time_text import moment
from headgate.core.words import counted
from headgate.engine.plan.advice import Advice
from headgate.engine.plan.forecast import BindingLimit, Forecast

MICROSECONDS = 1_000_000
TABLE_WIDTH = 88
"""Width in columns that the table needs."""
FROM = {
    "assumed": "as given",
    "learned": "as learned",
    "configured": "as configured, assuming that the provider allows it",
}
SHORT = {
    BindingLimit.RATE: "provider's limit",
    BindingLimit.CAP: "provider's cap",
    BindingLimit.CEILING: "configured rate",
    BindingLimit.CONCURRENCY: "configured cap",
    BindingLimit.BUDGET: "budget",
    BindingLimit.LANES: "latency",
    BindingLimit.START: "cold start",
}


def show_plan(
    screen: Output,
    inputs: PlanInputs,
    rows: Sequence[Forecast],
    helps: Sequence[Advice],
    now_us: int,
) -> None:
    screen.line(f"Plan for {inputs.subject.name}", "bold")
    screen.facts(_facts(inputs))
    for note in inputs.notes:
        screen.say(f"note: {note}")
    if not rows:
        screen.say("no requests are left to send")
        return
    screen.line("")
    _show_rows(screen, inputs.origin, rows, now_us)
    if inputs.origin == "unknown":
        name = inputs.provider or "the provider"
        screen.say(f"the limit of {name} is unknown: give it with --limit")
    if helps:
        screen.line("\nWhat would help", "bold")
        for advice in helps:
            took, instead = length(advice.seconds), length(advice.instead_of)
            screen.line(f"  {advice.change}: {took} instead of {instead}")
    screen.say(_how(rows), "dim")


def _facts(inputs: PlanInputs) -> dict[str, object]:
    workload, subject = inputs.workload, inputs.subject
    calls = f"{inputs.calls_per_item:.3g} per row"
    spared = f", {inputs.cache_hits:.0%} of them from the cache" if inputs.cache_hits else ""
    latency = "measured" if inputs.measured_latency else "assumed"
    lanes = f"{workload.lanes:,} at once"
    if workload.processes > 1:
        lanes += f" in {counted(workload.processes, 'process', 'processes')}"
    return {
        "provider": inputs.provider or None,
        "limit": limits_in_words(inputs),
        "rows": f"{subject.rows:,}",
        "requests": f"{workload.requests:,} ({calls}{spared})",
        "answers": f"in {length(workload.latency_s)} ({latency}), {lanes}",
        "budget": "; ".join(cap.words for cap in workload.caps) or None,
    }


def limits_in_words(inputs: PlanInputs) -> str:
    workload = inputs.workload
    if inputs.origin == "unknown":
        return "unknown"
    limits = workload.assumed.limits or workload.ceilings.limits
    parts = [limit_text(limit) for limit in limits]
    if workload.assumed.cap:
        parts.append(f"{workload.assumed.cap} at once")
    words = f"{', '.join(parts)}, {FROM[inputs.origin]}"
    if workload.assumed.limits and workload.ceilings.limits:
        words += f" (configured: {', '.join(map(limit_text, workload.ceilings.limits))})"
    return words


def limit_text(limit: Limit) -> str:
    """`10/s` or `100/3s`, as in the settings."""
    count = f"{limit.count:.0f}" if limit.count >= 1_000 else f"{limit.count:.4g}"
    for unit, seconds in UNITS.items():
        if limit.seconds == seconds:
            return f"{count}/{unit}"
    return f"{count}/{limit.seconds:g}s"


def _show_rows(screen: Output, origin: str, rows: Sequence[Forecast], now_us: int) -> None:
    """Print a table, or on a narrow terminal one fact per line."""
    first, about = ("if limit is", _guess) if origin == "unknown" else ("credentials", _credentials)
    if sys.stdout.isatty() and shutil.get_terminal_size().columns < TABLE_WIDTH:
        for row in rows:
            screen.facts({first: about(row), **_cells(row, now_us)})
            screen.line("")
        return
    headings = [f"#{name.upper()}" for name in (first, *_cells(rows[0], now_us))]
    cells = [(about(row), *_cells(row, now_us).values()) for row in rows]
    screen.table([*headings[:-1], headings[-1].removeprefix("#")], cells)


def _guess(row: Forecast) -> str:
    return ", ".join(map(limit_text, row.workload.assumed.limits)) or "none"


def _credentials(row: Forecast) -> str:
    return f"{row.workload.credentials:,}"


def _cells(row: Forecast, now_us: int) -> dict[str, str]:
    likely = row.likely
    return {
        "duration": band(row.low_s, row.high_s),
        "ends": clock(now_us + int(likely.seconds * MICROSECONDS), now_us),
        "steady": per_time(likely.steady_per_s),
        "refused": f"~{likely.refused:,}" if likely.refused else "0",
        "found": _found(likely.found_s),
        "limited by": SHORT[likely.binding],
    }


def _found(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    return length(seconds) if seconds >= 1 else "at once"


def _how(rows: Sequence[Forecast]) -> str:
    simulated = max(row.likely.simulated for row in rows)
    if not any(row.extrapolated for row in rows):
        return "every request was simulated, with the real pacing code"
    return (
        f"up to {simulated:,} requests were simulated with the real pacing code, the rest estimated"
    )


def length(seconds: float) -> str:
    """A duration in one or two units; finer than `span`."""
    if seconds < 1:
        return f"{seconds * 1_000:.0f} ms"
    if seconds < 120:
        return f"{seconds:.3g} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 120:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min"
    return f"{hours // 24:,} days {hours % 24} h"


def band(low_s: float, high_s: float) -> str:
    size, unit = next(
        (
            (size, unit)
            for size, unit, most in ((1, "s", 120), (60, "min", 7_200), (3_600, "h", 172_800))
            if high_s < most
        ),
        (86_400, "days"),
    )
    low, high = low_s / size, high_s / size
    digits = 1 if high < 10 or (size > 60 and high < 100) else 0
    ends = [f"{low:,.{digits}f}", f"{high:,.{digits}f}"]
    return f"{'-'.join(dict.fromkeys(ends))} {unit}"


def per_time(per_s: float) -> str:
    """A rate in the smallest unit of time in which it is at least 1."""
    for unit, seconds in UNITS.items():
        if per_s * seconds >= 1 or unit == "day":
            count = per_s * seconds
            return f"{count:,.0f}/{unit}" if count >= 1_000 else f"{count:.3g}/{unit}"
    raise AssertionError(per_s)


def clock(at_us: int, now_us: int) -> str:
    """A time in the time zone of this machine, with the date unless it is today."""
    at, today = (
        datetime.fromtimestamp(each / MICROSECONDS, UTC).astimezone() for each in (at_us, now_us)
    )
    return f"{at:%H:%M}" if at.date() == today.date() else f"{at:%Y-%m-%d %H:%M}"


def plan_json(
    inputs: PlanInputs, rows: Sequence[Forecast], helps: Sequence[Advice], now_us: int
) -> dict[str, Any]:
    workload = inputs.workload
    return {
        "subject": inputs.subject.name,
        "rows": inputs.subject.rows,
        "requests": workload.requests,
        "provider": inputs.provider or None,
        "limit": {
            "origin": inputs.origin,
            "limits": [limit_text(limit) for limit in workload.assumed.limits],
            "in_flight": workload.assumed.cap,
            "configured": [limit_text(limit) for limit in workload.ceilings.limits],
        },
        "calls_per_item": round(inputs.calls_per_item, 4),
        "cache_hits": round(inputs.cache_hits, 4),
        "latency_s": round(workload.latency_s, 4),
        "latency_measured": inputs.measured_latency,
        "concurrency": workload.lanes,
        "processes": workload.processes,
        "plans": [_row_json(row, now_us) for row in rows],
        "helps": [
            {
                "change": advice.change,
                "seconds": round(advice.seconds, 3),
                "instead_of": round(advice.instead_of, 3),
            }
            for advice in helps
        ],
        "notes": list(inputs.notes),
    }


def _row_json(row: Forecast, now_us: int) -> Mapping[str, object]:
    likely = row.likely
    return {
        "credentials": row.workload.credentials,
        "limits": [limit_text(limit) for limit in row.workload.assumed.limits],
        "seconds": {
            "low": round(row.low_s, 3),
            "likely": round(likely.seconds, 3),
            "high": round(row.high_s, 3),
        },
        "ends_at": moment(now_us + int(likely.seconds * MICROSECONDS)),
        "limited_by": likely.binding.value,
        "limited_by_words": likely.binding.words,
        "requests": row.workload.requests,
        "refused": likely.refused,
        "steady_per_s": round(likely.steady_per_s, 4),
        "found_s": None if likely.found_s is None else round(likely.found_s, 3),
        "simulated_requests": likely.simulated,
        "extrapolated": row.extrapolated,
    }
