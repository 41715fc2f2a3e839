"""The write that ends a lease."""

import msgspec

from headgate.core.fault import REASON_LIMIT, FaultClass, plain_text
from headgate.core.item import ClaimedItem
from headgate.core.redact_text import redacted
from headgate.core.retry import HANDED_BACK, RetryDecision
from headgate.core.signature import kind_of
from headgate.core.status import ItemStatus

PUT_OFF = frozenset({None, FaultClass.THROTTLED, FaultClass.DEFERRED})


class Settlement(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """New values for one item, guarded by `epoch`; also the row of its attempt.

    Array-like, because stores send whole batches to the database as one JSON array.
    """

    item_id: int
    job_id: int
    epoch: int
    status: ItemStatus
    outcome: str
    attempts: int
    failures: int
    crashes: int
    strategy: int
    suspect: bool
    throttled: bool
    due_in_us: int
    result: str | None
    normalized: str | None
    error_class: str | None
    reason: str | None
    waited_us: int
    ran_us: int
    calls: str | None = None
    """The network calls of the attempt, as JSON; None if there were none."""
    gate: str | None = None
    """The gate that sent the item back; the item waits for this gate."""
    signature: str | None = None
    """The kind of failure: see `core.signature`; None if the item did not fail."""
    digest: str | None = None
    """The digest by which the result can be reused for the same work; None: it is not reusable."""
    variant: str | None = None
    """The signature with its quoted values; None if nothing is quoted."""
    trace: str | None = None
    """Where in the user's code the attempt failed: `core.trace.Trace` as JSON; None elsewhere."""

    @property
    def is_put_off(self) -> bool:
        """The attempt says nothing about the row: it was refused, put off or handed back."""
        return self.status is ItemStatus.PENDING and self.error_class in PUT_OFF


def settle(
    item: ClaimedItem,
    verdict: RetryDecision,
    result: str | None = None,
    normalized: str | None = None,
    waited_us: int = 0,
    ran_us: int = 0,
) -> Settlement:
    """Turn a verdict on `item` into the write that applies it.

    An execution that ended by itself clears earlier suspicion; one that crashed adds to it. One
    that was refused at a gate does neither: else a row that crashes would run beside others again.
    """
    ended_alone = verdict.counted or (verdict.throttled and not verdict.turned_away)
    reason = None if verdict.reason is None else _stored_reason(verdict.reason)
    failed = verdict.status is ItemStatus.ERROR
    signature, variant = kind_of(verdict.error_class or "", reason) if failed else (None, None)
    return Settlement(
        item.id,
        item.job_id,
        item.epoch,
        verdict.status,
        verdict.outcome,
        item.attempts + verdict.counted,
        item.failures + verdict.failed,
        item.crashes + 1 if verdict.crashed else (0 if ended_alone else item.crashes),
        item.strategy + verdict.missed,
        verdict.alone or (item.suspect and not ended_alone),
        verdict.throttled,
        verdict.due_in_us,
        result,
        normalized,
        verdict.error_class,
        reason,
        waited_us,
        ran_us,
        signature=signature,
        variant=variant,
    )


def _stored_reason(reason: object) -> str:
    """A reason as it is stored: handlers' errors may quote their input, including secrets."""
    return plain_text(redacted(str(reason)[: 2 * REASON_LIMIT]))


def hand_back(item: ClaimedItem, reason: str, waited_us: int = 0, ran_us: int = 0) -> Settlement:
    """Return a started item unfinished: no attempt, no suspicion."""
    verdict = msgspec.structs.replace(HANDED_BACK, reason=reason)
    return settle(item, verdict, waited_us=waited_us, ran_us=ran_us)
