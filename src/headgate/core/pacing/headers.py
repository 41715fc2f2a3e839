"""The limits that a reply declares, as numbers: RateLimit fields, X-RateLimit-*, Retry-After.

Nothing here raises: a header without a meaning counts as absent.
"""

import math
import re
from collections.abc import Mapping
from datetime import UTC

import msgspec

EPOCH_FLOOR = 1_000_000_000.0
"""A reset of at least this many seconds is a date, not a span."""
_PARAMETER = re.compile(r";\s*([a-z]+)\s*=\s*\"?([0-9.eE+-]+)")
_NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?")


class Quota(msgspec.Struct, frozen=True):
    """A limit as the provider declares it; None where the provider does not say."""

    count: float | None = None
    seconds: float | None = None
    remaining: float | None = None
    reset_s: float | None = None

    @property
    def rate(self) -> float | None:
        if self.count is None or self.seconds is None or min(self.count, self.seconds) <= 0:
            return None
        return min(max(self.count / self.seconds, 1e-5), 1e6)


def read_quota(headers: Mapping[str, str], now: float) -> Quota | None:
    """The tightest of the limits that the reply declares, or None."""
    if "ratelimit" in headers or "ratelimit-policy" in headers:
        return _fields(headers)
    for prefix in ("x-ratelimit-", "x-rate-limit-", "ratelimit-"):
        if prefix + "remaining" in headers or prefix + "limit" in headers:
            return _legacy(headers, prefix, now)
    return None


def read_retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds to wait, from a number or a date; negative: in the past; None: not readable."""
    text = headers.get("retry-after", "").strip()
    if not text:
        return None
    seconds = _number(text)
    if seconds is not None:
        return seconds if seconds < EPOCH_FLOOR else seconds - now
    moment = _date(text)
    if moment is None:
        return None
    sent = _date(headers.get("date", ""))
    return moment - (now if sent is None else sent)


def _fields(headers: Mapping[str, str]) -> Quota | None:
    """The IETF's fields: the policy in force, and what is left of it."""
    policies = _items(headers.get("ratelimit-policy", ""))
    states = _items(headers.get("ratelimit", "")) or _older_draft(headers.get("ratelimit", ""))
    if len(states) == 1 and len(policies) == 1:
        return _quota(policies[0][1] | states[0][1])
    named = dict(policies)
    found = [_quota(named.get(name, {}) | state) for name, state in states]
    found = found or [_quota(policy) for _, policy in policies]
    return min(found, key=lambda quota: quota.rate or math.inf, default=None)


def _items(text: str) -> list[tuple[str, dict[str, float]]]:
    """The members of a list by name, with their numeric parameters."""
    items = []
    for part in text.split(","):
        name, _, rest = part.partition(";")
        values = {
            key: value
            for key, raw in _PARAMETER.findall(";" + rest)
            if (value := _number(raw)) is not None
        }
        count = _number(name)
        if count is not None:
            values.setdefault("q", count)
        if values:
            items.append((name.strip().strip('"'), values))
    return items


def _older_draft(text: str) -> list[tuple[str, dict[str, float]]]:
    """The format `limit=100, remaining=50, reset=5`."""
    words = dict(part.strip().partition("=")[::2] for part in text.split(","))
    values = {
        key: value
        for key, word in (("q", "limit"), ("r", "remaining"), ("t", "reset"))
        if (value := _number(words.get(word, ""))) is not None
    }
    return [("", values)] if values else []


def _quota(values: Mapping[str, float]) -> Quota:
    return Quota(values.get("q") or None, values.get("w") or None, values.get("r"), values.get("t"))


def _legacy(headers: Mapping[str, str], prefix: str, now: float) -> Quota | None:
    limit = headers.get(prefix + "limit", "")
    window = re.search(r"[;,]\s*w=([0-9.]+)", limit)
    reset = _number(headers.get(prefix + "reset", ""))
    if reset is None and prefix + "reset-after" in headers:
        reset = _number(headers[prefix + "reset-after"])
    if reset is not None and reset >= EPOCH_FLOOR:
        sent = _date(headers.get("date", ""))
        reset = max(
            reset / (1000.0 if reset > 1e12 else 1.0) - (now if sent is None else sent), 0.0
        )
    return Quota(
        _leading(limit) or None,
        _number(window.group(1)) if window else None,
        _leading(headers.get(prefix + "remaining", "")),
        reset,
    )


def _leading(text: str) -> float | None:
    return _number(re.split(r"[;,\s]", text.strip(), maxsplit=1)[0])


def _number(text: str) -> float | None:
    text = text.strip()
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _date(text: str) -> float | None:
    if not text:
        return None
    try:
        from email.utils import parsedate_to_datetime  # noqa: PLC0415  few answers have a date

        moment = parsedate_to_datetime(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return moment.timestamp()
    except (TypeError, ValueError, OverflowError, IndexError):
        return None
