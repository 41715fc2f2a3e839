"""A host that is left alone because it does not answer, and why."""

from collections.abc import Mapping

import msgspec


class HostDown(msgspec.Struct, frozen=True):
    """What is known of it. Moments are UTC seconds on the ledger's clock."""

    until_s: float
    """When it is asked again."""
    reason: str = ""
    """Its last failure in plain words: `connection refused`, `answers 500`; empty: not known."""
    since_s: float | None = None
    """Since when it is left alone; None: not known."""
    gave_up: bool = False
    """It has been away for so long that its rows end as errors instead of waiting."""
    doubtful: bool = False
    """Its errors may be about the rows: rows from elsewhere in the input are tried first."""


def in_words(host: str, down: HostDown, name: str = "") -> str:
    """Why a host is left alone; `name` is that of its provider."""
    status = down.reason.removeprefix("answers ")
    if status != down.reason:
        return f"paused itself: {name or host} keeps answering {status}"
    if down.reason.startswith("answered "):
        return f"{host} {down.reason}"
    return f"{host} does not answer" + (f" ({down.reason})" if down.reason else "")


def moments(down: Mapping[str, HostDown]) -> dict[str, float]:
    """For each host the moment that it is asked again."""
    return {host: each.until_s for host, each in down.items()}
