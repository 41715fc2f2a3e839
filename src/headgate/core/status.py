"""The statuses of items and jobs, how they are shown, and the legal moves, as data.

Two rules for this file: every status and every move is named here and nowhere else, and commands,
docs, tests and the web UI derive them from the tables. SQL repeats the statuses; tests compare it.
The order of a status in its class is the order on every screen.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from headgate.core.errors import IllegalMove


class ItemStatus(StrEnum):
    PENDING = "PENDING"
    PROCESSING = "PROCESSING"
    DONE = "DONE"
    NOT_FOUND = "NOT_FOUND"
    SKIPPED = "SKIPPED"
    REVIEW = "REVIEW"
    ERROR = "ERROR"
    CANCELLED = "CANCELLED"


OPEN = frozenset({ItemStatus.PENDING, ItemStatus.PROCESSING})
FINISHED = frozenset(ItemStatus) - OPEN
TERMINAL = FINISHED - {ItemStatus.REVIEW}
RETRIED = frozenset({ItemStatus.ERROR, ItemStatus.NOT_FOUND})
"""The statuses that are requeued unless others are named."""


class ItemMove(StrEnum):
    CLAIM = "claim"
    FINISH = "finish"
    MISS = "miss"
    SKIP = "skip"
    ASK = "ask"
    FAIL = "fail"
    RETRY = "retry"
    HAND_BACK = "hand_back"
    CANCEL = "cancel"
    ACCEPT = "accept"
    REJECT = "reject"
    PASS_OVER = "pass_over"  # noqa: S105  not a password
    REQUEUE = "requeue"


class JobState(StrEnum):
    INGESTING = "INGESTING"
    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    DONE = "DONE"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"


UNFINISHED = frozenset(
    {JobState.INGESTING, JobState.QUEUED, JobState.RUNNING, JobState.PAUSED},
)
CLAIMABLE = frozenset({JobState.QUEUED, JobState.RUNNING})


class JobMove(StrEnum):
    REOPEN_INGEST = "reopen_ingest"
    INGESTED = "ingested"
    START = "start"
    PAUSE = "pause"
    RESUME_INGEST = "resume_ingest"
    RESUME = "resume"
    FINISH = "finish"
    FAIL = "fail"
    CANCEL = "cancel"
    REPROCESS = "reprocess"


class StatusDisplay(NamedTuple):
    label: str
    tone: str
    """A colour: `--TONE` and `--TONE-soft` in web/src/design/tokens.css."""
    icon: str
    """A name in web/src/design/Icon.tsx."""
    help: str
    """One or two sentences, without markup: a tooltip in the web UI, a row in the docs."""
    one: str = ""
    """The word after the number 1; by default the label in lower case."""
    many: str = ""
    """The word after any other number; by default the same as `one`."""
    always_counted: bool = False
    """True if progress lines and lists of jobs also show the number 0."""

    def noun(self, number: int) -> str:
        """The word after `number`: `error` after 1, `errors` after 2."""
        one = self.one or self.label.lower()
        return one if number == 1 else self.many or one


ITEM_DISPLAY: Mapping[ItemStatus, StatusDisplay] = {
    ItemStatus.PENDING: StatusDisplay(
        "Pending",
        "pending",
        "circle",
        "Waits for a worker. With a due time in the future it is a delayed retry.",
    ),
    ItemStatus.PROCESSING: StatusDisplay(
        "Processing",
        "processing",
        "half",
        "Leased to a worker: it runs, or waits in the worker's buffer.",
        one="running",
    ),
    ItemStatus.DONE: StatusDisplay(
        "Done",
        "done",
        "check",
        "The handler returned a result.",
        always_counted=True,
    ),
    ItemStatus.NOT_FOUND: StatusDisplay(
        "Not found",
        "not-found",
        "none",
        "The service answered that there is nothing. Not a failure.",
        always_counted=True,
    ),
    ItemStatus.SKIPPED: StatusDisplay("Skipped", "skipped", "skip", "Skipped on purpose."),
    ItemStatus.REVIEW: StatusDisplay(
        "Review",
        "review",
        "question",
        "A person must choose between candidates.",
        one="to review",
    ),
    ItemStatus.ERROR: StatusDisplay(
        "Error",
        "error",
        "cross",
        "Failed permanently, with a class and a reason. These are the dead letters.",
        many="errors",
        always_counted=True,
    ),
    ItemStatus.CANCELLED: StatusDisplay(
        "Cancelled",
        "cancelled",
        "stop",
        "Its job was cancelled before it was finished.",
    ),
}

JOB_DISPLAY: Mapping[JobState, StatusDisplay] = {
    JobState.INGESTING: StatusDisplay(
        "Reading",
        "processing",
        "arrowDown",
        "Its source is being read. Nothing is claimed yet, except with --eager.",
    ),
    JobState.QUEUED: StatusDisplay(
        "Queued",
        "pending",
        "circle",
        "Has all its rows, or is an open queue; waits for its first claim.",
    ),
    JobState.RUNNING: StatusDisplay("Running", "processing", "play", "Items have been claimed."),
    JobState.PAUSED: StatusDisplay("Paused", "warn", "pause", "Nothing is claimed until resumed."),
    JobState.DONE: StatusDisplay(
        "Done",
        "done",
        "check",
        "No item is PENDING or PROCESSING, and no more will come. Items in REVIEW may remain.",
    ),
    JobState.FAILED: StatusDisplay(
        "Failed",
        "error",
        "cross",
        "The source could not be read. Failed items never make a job FAILED.",
    ),
    JobState.CANCELLED: StatusDisplay(
        "Cancelled",
        "cancelled",
        "stop",
        "Cancelled by a user; its open items became CANCELLED.",
    ),
}


class ItemTransition(NamedTuple):
    sources: frozenset[ItemStatus]
    target: ItemStatus


class JobTransition(NamedTuple):
    sources: frozenset[JobState]
    target: JobState


def _item(target: ItemStatus, *sources: ItemStatus) -> ItemTransition:
    return ItemTransition(frozenset(sources), target)


def _job(target: JobState, *sources: JobState) -> JobTransition:
    return JobTransition(frozenset(sources), target)


TRANSITIONS: Mapping[ItemMove, ItemTransition] = {
    ItemMove.CLAIM: _item(ItemStatus.PROCESSING, ItemStatus.PENDING),
    ItemMove.FINISH: _item(ItemStatus.DONE, ItemStatus.PROCESSING),
    ItemMove.MISS: _item(ItemStatus.NOT_FOUND, ItemStatus.PROCESSING),
    ItemMove.SKIP: _item(ItemStatus.SKIPPED, ItemStatus.PROCESSING),
    ItemMove.ASK: _item(ItemStatus.REVIEW, ItemStatus.PROCESSING),
    ItemMove.FAIL: _item(ItemStatus.ERROR, ItemStatus.PROCESSING),
    ItemMove.RETRY: _item(ItemStatus.PENDING, ItemStatus.PROCESSING),
    ItemMove.HAND_BACK: _item(ItemStatus.PENDING, ItemStatus.PROCESSING),
    ItemMove.CANCEL: _item(ItemStatus.CANCELLED, *OPEN),
    ItemMove.ACCEPT: _item(ItemStatus.DONE, ItemStatus.REVIEW),
    ItemMove.REJECT: _item(ItemStatus.NOT_FOUND, ItemStatus.REVIEW),
    ItemMove.PASS_OVER: _item(ItemStatus.SKIPPED, ItemStatus.REVIEW),
    ItemMove.REQUEUE: _item(ItemStatus.PENDING, *FINISHED),
}

JOB_TRANSITIONS: Mapping[JobMove, JobTransition] = {
    # New rows for a job whose source grew, or for an open queue that was already drained.
    JobMove.REOPEN_INGEST: _job(
        JobState.INGESTING,
        JobState.QUEUED,
        JobState.RUNNING,
        JobState.DONE,
        JobState.FAILED,
    ),
    JobMove.INGESTED: _job(JobState.QUEUED, JobState.INGESTING),
    JobMove.START: _job(JobState.RUNNING, JobState.QUEUED),
    JobMove.PAUSE: _job(
        JobState.PAUSED,
        JobState.INGESTING,
        JobState.QUEUED,
        JobState.RUNNING,
    ),
    # The state before the pause decides which of the two resumes it.
    JobMove.RESUME_INGEST: _job(JobState.INGESTING, JobState.PAUSED),
    JobMove.RESUME: _job(JobState.QUEUED, JobState.PAUSED),
    JobMove.FINISH: _job(JobState.DONE, JobState.QUEUED, JobState.RUNNING),
    JobMove.FAIL: _job(JobState.FAILED, *UNFINISHED),
    JobMove.CANCEL: _job(JobState.CANCELLED, *UNFINISHED),
    JobMove.REPROCESS: _job(JobState.QUEUED, JobState.DONE, JobState.FAILED, JobState.CANCELLED),
}


def item_after(move: ItemMove, status: ItemStatus) -> ItemStatus:
    """The status that `move` leads to from `status`, or IllegalMove."""
    sources, target = TRANSITIONS[move]
    if status not in sources:
        raise IllegalMove(f"an item in {status} cannot {move}")
    return target


def job_after(move: JobMove, state: JobState) -> JobState:
    """The state that `move` leads to from `state`, or IllegalMove."""
    sources, target = JOB_TRANSITIONS[move]
    if state not in sources:
        raise IllegalMove(f"a job in {state} cannot {move.replace('_', ' ')}")
    return target


def moves_from(status: ItemStatus) -> list[ItemMove]:
    return [move for move, (sources, _) in TRANSITIONS.items() if status in sources]
