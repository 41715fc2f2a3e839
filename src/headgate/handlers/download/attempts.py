"""What was tried for an item, and what it comes to when nothing of it led to a file."""

from collections.abc import Sequence
from enum import IntEnum
from typing import Any, Final

import msgspec

from headgate.core.fault import AttemptOver, Fault, FaultClass, worth_another_try
from headgate.core.outcome import GiveUp, NotFound, Outcome, Skipped
from headgate.core.verification import Finding, Flaw
from headgate.handlers.download.plan import ResolverResult, ResolverVerdict

NO_FILE: Final = "no-file"
"""Nobody knows a place where there is one."""
DEAD: Final = frozenset({"http-404", "http-410", "dns"})
"""Reasons for which an archive may have what a URL once had."""
_ABSENT: Final = frozenset({404, 410})
_PREPARING: Final = 202


class Weight(IntEnum):
    """How much a miss says about the item: of several, the greatest decides."""

    ABSENT = 0
    """There is no file there."""
    BARRED = 1
    """The host does not want programs like us there."""
    UNFIT = 2
    """Something came, or would come, that is not wanted; asking again changes nothing."""
    FAILED = 3
    """No answer, or not all of one; another attempt may get it."""
    THROTTLED = 4
    """It is not our turn yet."""


class Miss(msgspec.Struct, frozen=True):
    """A place or a resolver that led to no file."""

    resolver: str
    url: str
    reason: str
    """In a word that does not change."""
    weight: Weight
    words: str
    """For people."""
    status: int = 0
    fault: Fault | None = None

    def told(self) -> dict[str, Any]:
        """What is stored of it."""
        return {
            "resolver": self.resolver,
            "url": self.url or None,
            "reason": self.reason,
            "status": self.status or None,
        }


class PlanFailed(Exception):
    """A plan that led to no file; the next one may."""

    def __init__(self, reason: str, weight: Weight, words: str, status: int = 0) -> None:
        super().__init__(words)
        self.reason = reason
        self.weight = weight
        self.words = words
        self.status = status

    def miss(self, resolver: str, url: str) -> Miss:
        """The same, as it is kept."""
        return Miss(resolver, url, self.reason, self.weight, self.words, self.status)


def bad_status(status: int) -> PlanFailed:
    """A status that brings no file."""
    if status in _ABSENT:
        weight = Weight.ABSENT
    elif worth_another_try(status) or status == _PREPARING:
        weight = Weight.FAILED
    else:
        weight = Weight.UNFIT
    return PlanFailed(f"http-{status}", weight, f"the server answered {status}", status)


_PERHAPS_OF_THE_WAY: Final = frozenset({Flaw.SIZE_MISMATCH, Flaw.CUT_OFF, Flaw.CHECKSUM})


def unfit(finding: Finding, status: int, *, resumed: bool = False) -> PlanFailed:
    """A body that is not kept. One that was put together from two tries may be well when whole."""
    again = finding.flaw is Flaw.SIZE_MISMATCH or (resumed and finding.flaw in _PERHAPS_OF_THE_WAY)
    weight = Weight.FAILED if again else Weight.UNFIT
    return PlanFailed(finding.flaw, weight, str(finding), status)


def miss_of(over: AttemptOver, resolver: str, url: str) -> Miss:
    """What the client says of a request that it could not send, or got no answer to."""
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
    """A row that asks for nothing that could be looked for."""
    return AttemptOver(outcome_of([miss_of(over, "", "")], ""))


def miss_of_reading(resolver: str, reading: ResolverResult) -> Miss | None:
    """A resolver that named no file; None if it was not even asked."""
    match reading.verdict:
        case ResolverVerdict.NOT_ASKED | ResolverVerdict.FOUND:
            return None
        case ResolverVerdict.UNKNOWN | ResolverVerdict.NO_FILE:
            weight = Weight.ABSENT
        case ResolverVerdict.FAULT if not worth_another_try(reading.status):
            weight = Weight.UNFIT
        case _:
            weight = Weight.FAILED
    return Miss(resolver, "", reading.verdict, weight, reading.reason, reading.status)


def outcome_of(misses: Sequence[Miss], url: str) -> Outcome | Fault:
    """What becomes of an item for which nothing has led to a file; `url` is its own, if it is one.

    Whatever is worth waiting for comes before whatever is final.
    """
    if not misses:
        return NotFound("no resolver that is on knows such an identifier", _told(None, url, []))
    weight = max(miss.weight for miss in misses)
    decisive = next(miss for miss in misses if miss.weight is weight)
    result = _told(decisive, url, [miss for miss in misses if miss is not decisive])
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
    """The gate that opens first: another attempt then may do without the others."""
    faults = [miss.fault for miss in misses if miss.weight is Weight.THROTTLED and miss.fault]
    first = min(faults, key=lambda fault: fault.retry_after_s or 0.0)
    return msgspec.structs.replace(first, result=result)


def _told(decisive: Miss | None, url: str, others: Sequence[Miss]) -> dict[str, Any]:
    return {
        "reason": decisive.reason if decisive else NO_FILE,
        "resolver": (decisive and decisive.resolver) or None,
        "url": (decisive.url if decisive else "") or url or None,
        "tried": [miss.told() for miss in others],
    }
