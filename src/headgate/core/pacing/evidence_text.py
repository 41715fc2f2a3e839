"""The sentences of the evidence: what was seen and what was decided, for terminal, API and web."""

SAME = 0.005
"""A limit that changes by less than this share counts as unchanged."""


def per_time(rate: float) -> str:
    """A rate in a readable unit: 12.3/s, 25/min, 30/h."""
    for seconds, unit in ((1, "s"), (60, "min")):
        if rate * seconds >= 1:
            return f"{_figures(rate * seconds)}/{unit}"
    return f"{_figures(rate * 3_600)}/h"


def in_time(seconds: float) -> str:
    """A span in a readable unit: 0.15 s, 31 s, 10 min."""
    if seconds >= 600:
        return f"{seconds / 60:.0f} min"
    return f"{_figures(round(seconds, 2))} s"


def refused_at(rate: float, why: str = "") -> str:
    return f"refused at {per_time(rate)}, {why}" if why else f"refused at {per_time(rate)}"


def known_now(before: float | None, after: float, probe_in_s: float) -> str:
    if before is None:
        change = "limit taken as"
    elif abs(after / before - 1) < SAME:
        change = "limit stays at"
    else:
        change = "limit lowered to" if after < before else "limit raised to"
    probe = f"next probe in {in_time(probe_in_s)}" if probe_in_s else "probing for more from there"
    return f"{change} {per_time(after)}, {probe}"


def tried_next(rate: float) -> str:
    return f"trying {per_time(rate)} next"


def asked_again(seconds: float, *, alone: bool) -> str:
    return f"{'one request tries' if alone else 'sending'} again in {in_time(seconds)}"


def _figures(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
