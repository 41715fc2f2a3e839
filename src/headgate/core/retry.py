"""What follows from an outcome or a fault: the only place that decides it."""

from typing import Protocol, assert_never

import msgspec

from headgate.core.bounds import Count, Factor, Patience, Seconds
from headgate.core.fault import Fault, FaultClass
from headgate.core.item import ClaimedItem
from headgate.core.outcome import Done, GiveUp, NotFound, Outcome, RetryLater, Review, Skipped
from headgate.core.status import ItemStatus

MICROSECONDS = 1_000_000
LEAST_WAIT_S = 1.0
"""Seconds. The least wait after the first `RetryLater` of an item."""
WAIT_GROWTH = 0.1
"""The least wait, as a share of the time since the first `RetryLater` in a row."""
LONGEST_LEAST_WAIT_S = 60.0
"""Seconds. The least wait does not grow beyond this."""


class Rng(Protocol):
    """The part of a random generator that a decision needs; passed in, so that tests can fix it."""

    def uniform(self, a: float, b: float, /) -> float: ...


class RetryPolicy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How often to try again, and after which waits."""

    max_attempts_error: Count = 3
    """Failed attempts after which an item ends as ERROR."""
    max_attempts_not_found: Count | None = None
    """Attempts that may find nothing; unset: one for each strategy of the handler, else one."""
    max_attempts_ever: Count = 30
    """Attempts, over all reprocessing, after which an item comes back only if its attempts are
    reset."""
    backoff_base_s: Patience = 5.0
    """Longest wait before the second attempt."""
    backoff_factor: Factor = 6.0
    """Growth of the longest wait with each further failure."""
    backoff_cap_s: Patience = 600.0
    """Upper limit of every wait; each wait is drawn evenly from 0 to its longest."""
    stall_limit_s: Seconds = 86_400.0
    """An item that is throttled for this long without a break ends as ERROR `stalled`."""
    max_crashes: Count = 3
    """Process crashes after which an item ends as ERROR `poison`: one beside other items, then
    alone."""


class RetryDecision(msgspec.Struct, frozen=True):
    status: ItemStatus
    outcome: str
    counted: bool = True
    failed: bool = False
    missed: bool = False
    crashed: bool = False
    throttled: bool = False
    turned_away: bool = False
    """A gate or a service refused it, so its handler has not shown that it can finish."""
    alone: bool = False
    due_in_us: int = 0
    error_class: str | None = None
    reason: str | None = None


FINISHED = RetryDecision(ItemStatus.DONE, "done")
CRASHED = "crashed"
"""The outcome of an attempt whose process died."""
HANDED_BACK = RetryDecision(ItemStatus.PENDING, "handed_back", counted=False)


def decide(
    item: ClaimedItem,
    ended: Outcome | Fault,
    policy: RetryPolicy,
    strategies: int,
    rng: Rng,
) -> RetryDecision:
    match ended:
        case Done():
            return FINISHED
        case NotFound(reason):
            return _missed(item, reason, policy, strategies)
        case Skipped(reason):
            return RetryDecision(ItemStatus.SKIPPED, "skipped", reason=reason)
        case Review(_, reason):
            return RetryDecision(ItemStatus.REVIEW, "review", reason=reason)
        case RetryLater(after, reason):
            return _deferred(item, after, reason, policy)
        case GiveUp(reason):
            return _failed(Fault(FaultClass.PERMANENT, reason))
        case Fault():
            return _after_fault(item, ended, policy, rng)
        case _ as never:
            assert_never(never)


def after_crash(item: ClaimedItem, cause: str, policy: RetryPolicy) -> RetryDecision:
    crashes = item.crashes + 1
    if crashes >= policy.max_crashes:
        reason = f"its process died {crashes} times while running it; last: {cause}"
        return RetryDecision(
            ItemStatus.ERROR,
            CRASHED,
            counted=False,
            crashed=True,
            error_class=FaultClass.POISON,
            reason=reason,
        )
    what = "was running when its process crashed"
    if crashes > 1:
        what = f"its process crashed {crashes} times while running it"
    return RetryDecision(
        ItemStatus.PENDING,
        CRASHED,
        counted=False,
        crashed=True,
        alone=True,
        error_class=FaultClass.CRASHED,
        reason=f"{what} ({cause}); runs alone next",
    )


def backoff_s(failures: int, policy: RetryPolicy, rng: Rng) -> float:
    """Full jitter: anywhere from 0 to the exponential step, so that retries spread out."""
    step = policy.backoff_base_s * policy.backoff_factor ** min(failures - 1, 64)
    return rng.uniform(0.0, min(step, policy.backoff_cap_s))


def _after_fault(item: ClaimedItem, fault: Fault, policy: RetryPolicy, rng: Rng) -> RetryDecision:
    match fault.kind:
        case FaultClass.THROTTLED:
            asked = fault.retry_after_s
            wait_s = backoff_s(1, policy, rng) if asked is None else max(asked, 0.0)
            verdict = _put_off(item, fault, wait_s, policy)
            return msgspec.structs.replace(verdict, turned_away=True)
        case FaultClass.TRANSIENT | FaultClass.TIMEOUT:
            return _retried(item, fault, policy, rng)
        case _:
            return _failed(fault)


def _retried(item: ClaimedItem, fault: Fault, policy: RetryPolicy, rng: Rng) -> RetryDecision:
    failures = item.failures + 1
    if failures >= policy.max_attempts_error:
        return _failed(fault)
    return RetryDecision(
        ItemStatus.PENDING,
        "retry",
        failed=True,
        due_in_us=_microseconds(backoff_s(failures, policy, rng)),
        error_class=fault.kind,
        reason=fault.reason,
    )


def _failed(fault: Fault) -> RetryDecision:
    return RetryDecision(
        ItemStatus.ERROR,
        "error",
        failed=True,
        error_class=fault.kind,
        reason=fault.reason,
    )


def _missed(item: ClaimedItem, reason: str, policy: RetryPolicy, strategies: int) -> RetryDecision:
    allowed = policy.max_attempts_not_found or max(strategies, 1)
    if item.strategy + 1 < allowed:
        return RetryDecision(ItemStatus.PENDING, "not_found", missed=True, reason=reason)
    return RetryDecision(ItemStatus.NOT_FOUND, "not_found", reason=reason)


def _deferred(item: ClaimedItem, after_s: float, reason: str, policy: RetryPolicy) -> RetryDecision:
    """The handler chose the time. A time that is too short would run one item over and over.

    The least wait grows with the time that the item has been deferred already.
    """
    deferred_s = item.throttled_us / MICROSECONDS
    least_s = min(max(LEAST_WAIT_S, deferred_s * WAIT_GROWTH), LONGEST_LEAST_WAIT_S)
    return _put_off(item, Fault(FaultClass.DEFERRED, reason), max(after_s, least_s), policy)


def _put_off(item: ClaimedItem, fault: Fault, wait_s: float, policy: RetryPolicy) -> RetryDecision:
    if item.throttled_us >= policy.stall_limit_s * MICROSECONDS:
        return _failed(Fault(FaultClass.STALLED, f"throttled without a break: {fault.reason}"))
    return RetryDecision(
        ItemStatus.PENDING,
        fault.kind.value,
        counted=False,
        throttled=True,
        due_in_us=_microseconds(min(wait_s, policy.stall_limit_s)),
        error_class=fault.kind,
        reason=fault.reason,
    )


def _microseconds(seconds: float) -> int:
    return int(seconds * MICROSECONDS)


FIRST_REST_S = 0.5
"""Seconds. The pause after the first failure; it doubles with each further one."""
LONGEST_REST_S = 30.0
"""Seconds. The longest pause of a process that fails before it does any work."""
LONGEST_REST_AFTER_WORK_S = 2.0
"""Seconds. The longest pause of a process that did work before it ended."""
SOUND_S = 60.0
"""Seconds of running after which earlier failures no longer count."""


def restart_delay_s(failures: int, *, worked: bool) -> float:
    """Seconds to wait after this number of failures in a row, the last one included."""
    longest_s = LONGEST_REST_AFTER_WORK_S if worked else LONGEST_REST_S
    return min(FIRST_REST_S * 2.0 ** min(failures - 1, 16), longest_s)
