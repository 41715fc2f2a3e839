"""From the stored attempts at an item to the lines of `attempts.csv`."""

from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit

import msgspec

from headgate.app.download.visits import STANDS
from headgate.core.call import Call, CallKind, calls_in
from headgate.core.manifest import AttemptStep
from headgate.core.moment import stamp
from headgate.ports.job_reads import ItemHistory
from headgate.ports.reads import AttemptRow

RETRY = "retry"
PLAN = "plan"
"""A place that was tried and gave no file."""
_UNSENT = {
    CallKind.CACHED: "cache-hit",
    CallKind.SHARED: "cache-hit",
    CallKind.BARRED: "robots",
}
_OWN_STEP = frozenset({200, 304})
"""Statuses that are steps of their own; any other stands beside what was sent."""


class Tried(msgspec.Struct, frozen=True):
    """A plan that failed before the one that decided."""

    resolver: str
    url: str | None = None
    reason: str = ""
    status: int | None = None


class _Kept(msgspec.Struct, frozen=True):
    """What an item keeps of the places that it was looked for at."""

    resolver: str | None = None
    url: str | None = None
    tried: Sequence[Tried] = ()

    def resolver_at(self, host: str) -> str:
        """Who named the place that is at a host; after a redirect, whoever named any."""
        places = {
            urlsplit(url).netloc: resolver
            for resolver, url in (*((one.resolver, one.url) for one in self.tried), self._last())
            if url and resolver
        }
        names = set(places.values())
        return places.get(host) or (names.pop() if len(names) == 1 else "")

    def _last(self) -> tuple[str | None, str | None]:
        return self.resolver, self.url


_read = msgspec.json.Decoder(_Kept).decode


def steps_of(history: ItemHistory) -> Iterator[AttemptStep]:
    """Every step on the way to an item, in order."""
    key, attempts = history.row.key, history.attempts
    kept = _read(history.row.result) if history.row.result else _Kept()
    for number, attempt in enumerate(attempts, 1):
        for call in calls_in(attempt.calls):
            yield _of_call(key, attempt, call, kept)
        if number == len(attempts):
            yield from _plans(key, attempt, kept)
        yield _ending(key, attempt)


def step_name(call: Call) -> str:
    """`cache-hit`, `http-200`, `http-304`, and `http-get` for whatever ended otherwise."""
    if call.kind in _UNSENT:
        return _UNSENT[call.kind]
    if call.verb == "GET" and call.status in _OWN_STEP:
        return f"http-{call.status}"
    return f"http-{call.verb.lower()}"


def _of_call(key: str, attempt: AttemptRow, call: Call, kept: _Kept) -> AttemptStep:
    return AttemptStep(
        id=key,
        attempt=attempt.number,
        at=stamp(call.at_us),
        step=step_name(call),
        resolver=call.provider or kept.resolver_at(call.host),
        host=call.host,
        status=call.status or None,
        bytes=call.bytes,
        ran_ms=round(call.ran_ms, 3),
        waited_ms=round(call.waited_ms, 3),
        reason=str(call.kind) if call.kind is CallKind.SHARED else call.cause,
    )


def _plans(key: str, last: AttemptRow, kept: _Kept) -> Iterator[AttemptStep]:
    for plan in kept.tried:
        yield AttemptStep(
            **_about(key, last),
            step=PLAN,
            resolver=plan.resolver,
            host=urlsplit(plan.url or "").netloc,
            status=plan.status or None,
            reason=plan.reason,
        )


def _ending(key: str, attempt: AttemptRow) -> AttemptStep:
    stands = attempt.outcome in STANDS
    said = attempt.reason or ""
    return AttemptStep(
        **_about(key, attempt),
        step=attempt.outcome if stands else RETRY,
        ran_ms=attempt.ran_us / 1_000,
        waited_ms=attempt.waited_us / 1_000,
        reason=said if stands else f"{attempt.outcome}: {said}".removesuffix(": "),
    )


def _about(key: str, attempt: AttemptRow) -> dict[str, Any]:
    return {"id": key, "attempt": attempt.number, "at": stamp(attempt.ended_at)}
