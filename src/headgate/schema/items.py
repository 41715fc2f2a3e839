"""Items: in lists, with their history, why they wait; and views across jobs."""

from typing import Any

from headgate.core.status import ItemStatus, JobState
from headgate.schema.jobs import CountsView, WaitView
from headgate.schema.values import Identifier, Moment, WireValue


class ItemView(WireValue, frozen=True, kw_only=True):
    """An item in a list, without its input."""

    id: Identifier
    job_id: Identifier
    owner: str
    handler: str
    gate: str
    """The item's own gate, if it has one."""
    key: str
    line: int
    status: ItemStatus
    summary: str
    result: Any
    attempts: int
    crashes: int
    error_class: str | None
    last_error: str | None
    due_at: Moment
    locked_by: str | None
    updated_at: Moment
    waiting: WaitView | None = None
    """Why the item waits; null if it is finished or `waits` was not requested."""


class CallView(WireValue, frozen=True, kw_only=True):
    """One network or cache operation."""

    at: Moment
    verb: str
    kind: str
    provider: str
    host: str
    status: int | None
    bytes: int
    ran_ms: float
    waited_ms: float
    cause: str
    url: str
    """Without secrets; empty if it was not stored."""


class AttemptView(WireValue, frozen=True, kw_only=True):
    number: int
    epoch: int
    worker: str
    strategy: int
    outcome: str
    error_class: str | None
    reason: str | None
    leased_at: Moment
    ended_at: Moment
    waited_ms: float
    ran_ms: float
    failed_at: str | None
    """The line of handler code that failed, such as `lookup.py:12`."""
    traceback: str | None
    """The last frames of handler code, without Headgate's frames and without secrets."""
    calls: list[CallView]


class ItemWhole(ItemView, frozen=True, kw_only=True):
    """An item with its input, attempts and calls."""

    epoch: int
    strategy: int
    failures: int
    suspect: bool
    input: Any
    normalized: Any
    leased_at: Moment
    deadline_at: Moment
    decision: str | None
    """The last review decision and its reason."""
    history: list[AttemptView]


class Why(WireValue, frozen=True, kw_only=True):
    item_id: Identifier
    status: ItemStatus
    waiting: WaitView | None
    """Null if the item is finished."""
    ended: str
    """Class and message of the failure; empty while the item is open."""
    todo: str
    """What the user can do about it."""


class DeadOfJobView(WireValue, frozen=True, kw_only=True):
    job_id: Identifier
    name: str
    count: int


class DeadTotals(WireValue, frozen=True, kw_only=True):
    """Number of dead letters, in total and per job, newest job first."""

    count: int
    whole: bool
    """False if there were too many jobs to count; then only the newest were counted."""
    jobs: list[DeadOfJobView]


class Replayed(WireValue, frozen=True, kw_only=True):
    """The number of items that were (or would be) requeued, and their jobs."""

    count: int
    job_ids: list[Identifier]


class OldestOfJob(WireValue, frozen=True, kw_only=True):
    """A job with open items, and the item that is unchanged for longest."""

    job_id: Identifier
    name: str
    owner: str
    handler: str
    state: JobState
    counts: CountsView
    oldest_at: Moment
    item_id: Identifier


class OldestAtProvider(WireValue, frozen=True, kw_only=True):
    """A provider that open items wait for, and the item that is unchanged for longest."""

    name: str
    jobs: int
    """Number of jobs with such items."""
    oldest_at: Moment
    item_id: Identifier


class Oldest(WireValue, frozen=True, kw_only=True):
    """Both lists start with the longest wait."""

    jobs: list[OldestOfJob]
    providers: list[OldestAtProvider]
