"""Failed plans of an item, and the outcome that they add up to."""

from collections.abc import Sequence
from enum import IntEnum
from typing import Any, Final

import msgspec

from headgate.core.fault import AttemptOver, Fault, FaultClass, is_retryable_status
from headgate.core.outcome import GiveUp, NotFound, Outcome, Skipped
from headgate.core.verification import Finding, Flaw
from headgate.handlers.download.plan import ResolverResult, ResolverVerdict

NO_FILE: Final = "no-file"
"""No resolver knows a file."""
DEAD: Final = frozenset({"http-404", "http-410", "dns"})
"""Reasons for which an archive may have what a URL once had."""
_ABSENT: Final = frozenset({404, 410})
_PREPARING: Final = 202


class Weight(IntEnum):
    """How much a miss decides: of several misses, the greatest weight wins."""

    ABSENT = 0
    """The place has no file."""
    BARRED = 1
    """The host does not allow programs."""
    UNFIT = 2
    """The file is not acceptable; another attempt gets the same."""
    FAILED = 3
    """The reply is missing or incomplete; another attempt may get it."""
    THROTTLED = 4
    """A gate is closed."""


class Miss(msgspec.Struct, frozen=True):
    resolver: str
    url: str
    reason: str
    """A stable code."""
    weight: Weight
    words: str
    """The text for people."""
    status: int = 0
    fault: Fault | None = None

    def record(self) -> dict[str, Any]:
        return {
            "resolver": self.resolver,
            "url": self.url or None,
            "reason": self.reason,
            "status": self.status or None,
        }


class PlanFailed(Exception):
    """A plan that led to no file; the next plan may."""

    def __init__(self, reason: str, weight: Weight, words: str, status: int = 0) -> None:
        super().__init__(words)
        self.reason = reason
        self.weight = weight
        self.words = words
        self.status = status

    def miss(self, resolver: str, url: str) -> Miss:
        return Miss(resolver, url, self.reason, self.weight, self.words, self.status)


def bad_status(status: int) -> PlanFailed:
    if status in _ABSENT:
        weight = Weight.ABSENT
    elif is_retryable_status(status) or status == _PREPARING:
        weight = Weight.FAILED
    else:
        weight = Weight.UNFIT
    return PlanFailed(f"http-{status}", weight, f"the server answered {status}", status)


_TRANSFER_FLAWS: Final = frozenset({Flaw.SIZE_MISMATCH, Flaw.CUT_OFF, Flaw.CHECKSUM})


def unfit(finding: Finding, status: int, *, resumed: bool = False) -> PlanFailed:
    """A body that is not acceptable. A body joined from two attempts may be right as a whole."""
    again = finding.flaw is Flaw.SIZE_MISMATCH or (resumed and finding.flaw in _TRANSFER_FLAWS)
    weight = Weight.FAILED if again else Weight.UNFIT
    return PlanFailed(finding.flaw, weight, str(finding), status)


def miss_of(over: AttemptOver, resolver: str, url: str) -> Miss:
    ending = over.ending
    if isinstance(ending, Skipped):
        return Miss(resolver, url, over.code or "barred", Weight.BARRED, str(over))
    if not isinstance(ending, Fault):
        return Miss(resolver, url, over.code or "failed", Weight.ABSENT, str(over))
    code = Flaw.BOMB if over.code == "bomb" else over.code or ending.kind
    weight = {
        FaultClass.THROTTLED: Weight.THROTTLED,
        FaultClass.TRANSIENT: Weight.FAILED,
        FaultClass.TIMEOUT: Weight.FAILED,
    }.get(ending.kind, Weight.UNFIT)
    return Miss(resolver, url, code, weight, str(over), 0, ending)


def bad_row(over: AttemptOver) -> AttemptOver:
    return AttemptOver(outcome_of([miss_of(over, "", "")], ""))


def miss_of_reading(resolver: str, reading: ResolverResult) -> Miss | None:
    """The miss for a resolver that named no file; None if the resolver was not asked."""
    match reading.verdict:
        case ResolverVerdict.NOT_ASKED | ResolverVerdict.FOUND:
            return None
        case ResolverVerdict.UNKNOWN | ResolverVerdict.NO_FILE:
            weight = Weight.ABSENT
        case ResolverVerdict.FAULT if not is_retryable_status(reading.status):
            weight = Weight.UNFIT
        case _:
            weight = Weight.FAILED
    return Miss(resolver, "", reading.verdict, weight, reading.reason, reading.status)


def outcome_of(misses: Sequence[Miss], url: str) -> Outcome | Fault:
    """Return the outcome of an item without a file; `url` is the item's own, if it is one.

    A fault that is worth a retry wins over a final outcome.
    """
    if not misses:
        return NotFound("no enabled resolver knows such an identifier", _result(None, url, []))
    weight = max(miss.weight for miss in misses)
    decisive = next(miss for miss in misses if miss.weight is weight)
    result = _result(decisive, url, [miss for miss in misses if miss is not decisive])
    words = decisive.words or decisive.reason
    match weight:
        case Weight.ABSENT:
            return NotFound(words, result)
        case Weight.BARRED | Weight.UNFIT:
            return GiveUp(words, result)
        case Weight.FAILED:
            kind = decisive.fault.kind if decisive.fault else FaultClass.TRANSIENT
            return Fault(kind, words, result=result)
        case _:
            return _soonest(misses, result)


def _soonest(misses: Sequence[Miss], result: dict[str, Any]) -> Fault:
    """The fault of the gate that opens first: the next attempt may not need the others."""
    faults = [miss.fault for miss in misses if miss.weight is Weight.THROTTLED and miss.fault]
    first = min(faults, key=lambda fault: fault.retry_after_s or 0.0)
    return msgspec.structs.replace(first, result=result)


def _result(decisive: Miss | None, url: str, others: Sequence[Miss]) -> dict[str, Any]:
    return {
        "reason": decisive.reason if decisive else NO_FILE,
        "resolver": (decisive and decisive.resolver) or None,
        "url": (decisive.url if decisive else "") or url or None,
        "tried": [miss.record() for miss in others],
    }
