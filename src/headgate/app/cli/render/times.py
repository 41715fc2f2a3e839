"""Times, durations, sizes and waits as text."""

from datetime import datetime
from typing import TYPE_CHECKING

from headgate.core.gates.wait import MICROSECONDS, Wait
from headgate.core.time_text import microseconds_of

if TYPE_CHECKING:
    from headgate.schema.jobs import WaitView

At = int | str | None
"""A time: UTC microseconds, or text as on the wire; None: there is none."""


def microseconds(at: int | str) -> int:
    return microseconds_of(at) if isinstance(at, str) else at


def local_time(at: At) -> str | None:
    """A time in the time zone of this machine. JSON uses UTC instead."""
    return None if at is None else f"{_local(at):%Y-%m-%d %H:%M:%S}"


def by_the_clock(at: int | str, now: int | str) -> str:
    """A time in the time zone of this machine, with the date unless it is today."""
    local, today = _local(at), _local(now)
    return f"{local:%H:%M:%S}" if local.date() == today.date() else f"{local:%Y-%m-%d %H:%M:%S}"


def ago(at: At, now: int | str) -> str:
    """`5 min ago`, or `in 5 min` for a time in the future."""
    if at is None:
        return ""
    seconds = (microseconds(now) - microseconds(at)) / 1_000_000
    if seconds < 0:
        return f"in {span(-seconds)}"
    return f"{span(seconds)} ago"


def span(seconds: float) -> str:
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes = int(seconds // 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours < 48 else f"{hours // 24} days"


def volume(size: int) -> str:
    amount = float(size)
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1_000:
            return (
                f"{amount:.0f} {unit}" if unit == "B" or amount >= 100 else f"{amount:.1f} {unit}"
            )
        amount /= 1_000
    return f"{amount:,.1f} TB"


def wait_in_words(wait: "Wait | WaitView", now_us: int) -> str:
    until = wait.until_us if isinstance(wait, Wait) else wait.until and microseconds(wait.until)
    if until and wait.next:
        when = ago(until, now_us) if until - now_us >= MICROSECONDS else "now"
        return f"{wait.why}; {wait.next} {when}"
    if not until or until <= now_us:
        return wait.why
    return f"{wait.why}, until {by_the_clock(until, now_us)} ({ago(until, now_us)})"


def _local(at: int | str) -> datetime:
    return datetime.fromtimestamp(microseconds(at) / 1_000_000).astimezone()
