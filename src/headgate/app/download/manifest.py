"""Lines of `attempts.csv` and `manifest.jsonl`, made from the stored attempts of items."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import msgspec

from headgate.core.call import Call, CallKind, decode_calls
from headgate.core.download_folder import AttemptStep, FinalOutcome, ManifestLine
from headgate.core.fault import FaultClass
from headgate.core.status import OPEN, ItemStatus
from headgate.core.time_text import stamp
from headgate.handlers.download.identifier import identifier_text
from headgate.ports.jobs import ItemHistory
from headgate.ports.reads import AttemptRow, ExportRow

FINAL = frozenset({"done", "not_found", "skipped", "review", "error", "cancelled", "reused"})
"""Final outcomes of an attempt: no other follows, unless the item is requeued."""


def last_visit(attempts: Sequence[AttemptRow]) -> Sequence[AttemptRow]:
    begin = 0
    for number, attempt in enumerate(attempts[:-1], 1):
        if attempt.outcome in FINAL:
            begin = number
    return attempts[begin:]


def started_us(attempt: AttemptRow) -> int:
    """Start of the handler call, in UTC microseconds."""
    return attempt.leased_at + attempt.waited_us


RETRY = "retry"
PLAN = "plan"
"""Step for a planned URL that gave no file."""
_UNSENT = {
    CallKind.CACHED: "cache-hit",
    CallKind.SHARED: "cache-hit",
    CallKind.BARRED: "robots",
}
_OWN_STEP = frozenset({200, 304})
"""Statuses with a step name of their own; any other is shown in the status column."""


class Tried(msgspec.Struct, frozen=True):
    resolver: str
    url: str | None = None
    reason: str = ""
    status: int | None = None


class _Kept(msgspec.Struct, frozen=True):
    """The part of a stored result that names the tried URLs."""

    resolver: str | None = None
    url: str | None = None
    tried: Sequence[Tried] = ()

    def resolver_at(self, host: str) -> str:
        """The resolver whose URL is at a host; after a redirect, the only resolver there is."""
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
    key, attempts = history.row.key, history.attempts
    kept = _read(history.row.result) if history.row.result else _Kept()
    for number, attempt in enumerate(attempts, 1):
        for call in decode_calls(attempt.calls):
            yield _of_call(key, attempt, call, kept)
        if number == len(attempts):
            yield from _plans(key, attempt, kept)
        yield _ending(key, attempt)


def step_name(call: Call) -> str:
    """`cache-hit`, `robots`, `http-200`, `http-304`, or `http-get` for any other reply."""
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
    final = attempt.outcome in FINAL
    reason = attempt.reason or ""
    return AttemptStep(
        **_about(key, attempt),
        step=attempt.outcome if final else RETRY,
        ran_ms=attempt.ran_us / 1_000,
        waited_ms=attempt.waited_us / 1_000,
        reason=reason if final else f"{attempt.outcome}: {reason}".removesuffix(": "),
    )


def _about(key: str, attempt: AttemptRow) -> dict[str, Any]:
    return {"id": key, "attempt": attempt.number, "at": stamp(attempt.ended_at)}


OUTCOMES: Mapping[ItemStatus, FinalOutcome] = {
    ItemStatus.DONE: FinalOutcome.DONE,
    ItemStatus.SKIPPED: FinalOutcome.SKIPPED,
    ItemStatus.NOT_FOUND: FinalOutcome.NOT_FOUND,
}
"""Manifest outcomes by status; any other final status is an error."""
DUPLICATE = "duplicate"

_decode = msgspec.json.Decoder(dict[str, Any]).decode


class Result(msgspec.Struct, frozen=True):
    reason: str | None = None
    resolver: str | None = None
    url: str | None = None
    final_url: str | None = None
    content_type: str | None = None
    bytes: int | None = None
    sha256: str | None = None
    path: str | None = None
    cache: str | None = None


_read_result = msgspec.json.Decoder(Result).decode


def manifest_line(history: ItemHistory, first: ExportRow | None = None) -> ManifestLine | None:
    """The line of an item; None while it is not finished.

    For a duplicate, `first` is the row with the same identifier: its file serves both.
    """
    row = history.row
    if row.status in OPEN:
        return None
    visit = last_visit(history.attempts)
    return ManifestLine(
        id=row.key,
        input=_given(row.input),
        outcome=OUTCOMES.get(row.status, FinalOutcome.ERROR),
        started_at=stamp(started_us(visit[0])) if visit else None,
        finished_at=stamp(visit[-1].ended_at) if visit else None,
        **msgspec.structs.asdict(_shared(first) if is_duplicate(row) else _own(row)),
    )


def is_duplicate(row: ExportRow) -> bool:
    return row.status is ItemStatus.SKIPPED and row.error_class == FaultClass.BAD_ROW


def first_key(row: ExportRow) -> str:
    return row.key.rpartition("#")[0]


def result_of(row: ExportRow) -> Result:
    return _read_result(row.result) if row.result else Result()


def _given(text: str) -> str:
    """The identifier as the row has it; for a bad row, its first value."""
    values = _decode(text)
    shown = identifier_text(values) or next((value for value in values.values() if value), text)
    return str(shown)


def _own(row: ExportRow) -> Result:
    result = result_of(row)
    if result.reason or row.status is ItemStatus.DONE:
        return result
    return msgspec.structs.replace(result, reason=_why(row))


def _why(row: ExportRow) -> str:
    if row.status is ItemStatus.CANCELLED:
        return "cancelled"
    return f"{row.error_class}: {row.error}" if row.error_class else row.error or ""


def _shared(first: ExportRow | None) -> Result:
    result = Result() if first is None else result_of(first)
    return msgspec.structs.replace(result, reason=DUPLICATE)
