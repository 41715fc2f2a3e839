"""A host that gets no requests because it does not answer, and the reason."""

from collections.abc import Mapping

import msgspec


class HostDown(msgspec.Struct, frozen=True):
    """Times are UTC seconds on the ledger's clock."""

    until_s: float
    reason: str = ""
    """Its last failure in plain words: `connection refused`, `answers 500`; empty: not known."""
    since_s: float | None = None
    """Time of the first failure; None: not known."""
    gave_up: bool = False
    """Its rows no longer wait; they end as errors."""
    doubtful: bool = False
    """Its errors may be about the rows: rows from other places in the input are tried first."""


def in_words(host: str, down: HostDown, name: str = "") -> str:
    """Why a host gets no requests; `name` is that of its provider."""
    status = down.reason.removeprefix("answers ")
    if status != down.reason:
        return f"paused itself: {name or host} keeps answering {status}"
    if down.reason.startswith("answered "):
        return f"{host} {down.reason}"
    return f"{host} does not answer" + (f" ({down.reason})" if down.reason else "")


def moments(down: Mapping[str, HostDown]) -> dict[str, float]:
    """The time of the next trial of each host."""
    return {host: each.until_s for host, each in down.items()}
