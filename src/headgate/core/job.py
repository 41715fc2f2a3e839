"""Jobs: stored, to be made, and their counts."""

from collections.abc import Mapping
from typing import Any

import msgspec

from headgate.core.errors import UsageError
from headgate.core.status import OPEN, ItemStatus, JobState

LOCAL_OWNER = "local"
LONGEST_FIELD = 65_536
"""Most bytes of `config`, and of each other free field of a job, as JSON. Workers and lists read
them again and again."""


ARRIVAL = "arrival:"
"""Prefix of keys that name a file which arrived. Such keys are never deleted."""


def require_short(name: str, value: object) -> None:
    """UsageError if the value has more than `LONGEST_FIELD` bytes as JSON."""
    if len(msgspec.json.encode(value)) > LONGEST_FIELD:
        raise UsageError(
            f"`{name}` of a job has at most {LONGEST_FIELD // 1_024} kB; put the rest into a file"
            " or into the rows"
        )


class Once(msgspec.Struct, frozen=True):
    """An idempotency key: a job is made at most once for each owner and key.

    The same key with another digest is another request under a used key.
    """

    key: str
    digest: str = ""


class OwnerCaps(msgspec.Struct, frozen=True):
    """Limits on the unfinished work of one owner; None: no limit."""

    unfinished_jobs: int | None = None
    open_items: int | None = None


class Job(msgspec.Struct, frozen=True):
    id: int
    owner: str
    name: str
    handler: str
    source: str
    key_columns: tuple[str, ...]
    config: Mapping[str, Any]
    priority: int
    state: JobState
    open: bool
    eager: bool
    fingerprint: str
    columns: tuple[str, ...]
    ingest_run: int
    ingest_position: str
    ingest_complete: bool
    created_at: int
    updated_at: int
    started_at: int | None
    finished_at: int | None
    last_error: str | None
    pause_reason: str | None = None
    resume_at: int | None = None
    """When a pause ends by itself; None: when a user ends it."""
    reading: Mapping[str, Any] | None = None
    """How the server reads the source; None: the command that made the job reads it."""
    file: str = ""
    """The name of the file at its sender."""
    client: str = ""
    ingest: Mapping[str, Any] = {}
    """Progress and speed of the reading, as of the last committed batch."""
    options: Mapping[str, Any] | None = None
    """Options that decide the result, as the command that made the job had them; None: unknown."""
    mirror_id: int | None = None
    """The mirror that the job is a pass over; None: it is not a pass."""
    made_before: bool = False
    """Not stored: true if `once` or `newest` found this job instead of making it."""


class NewJob(msgspec.Struct, frozen=True):
    """A job to be made. Owner, handler, source and key columns are its identity."""

    handler: str
    source: str
    name: str = ""
    owner: str = LOCAL_OWNER
    key_columns: tuple[str, ...] = ()
    config: Mapping[str, Any] = {}
    priority: int = 0
    open: bool = False
    eager: bool = False
    fingerprint: str = ""
    columns: tuple[str, ...] = ()
    reading: Mapping[str, Any] | None = None
    file: str = ""
    client: str = ""
    options: Mapping[str, Any] | None = None
    newest: int | None = None
    """Make it only if this is still the newest job of its owner, handler and source (0: no job);
    else return that newest job, with `made_before`."""
    once: Once | None = None
    caps: OwnerCaps = OwnerCaps()

    def __post_init__(self) -> None:
        require_short("config", self.config)
        require_short("key", self.key_columns)
        require_short("read", self.reading)


class Binding(msgspec.Struct, frozen=True):
    """The parts of a job outside the store; they may be moved or replaced."""

    handler: str
    source: str
    config: Mapping[str, Any] = {}
    options: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        require_short("config", self.config)


class Counts(msgspec.Struct, frozen=True):
    """Number of items of a job by status; they add up to `total`."""

    pending: int = 0
    processing: int = 0
    done: int = 0
    not_found: int = 0
    skipped: int = 0
    review: int = 0
    error: int = 0
    cancelled: int = 0

    def of(self, status: ItemStatus) -> int:
        """Number of items with that status; each field is the name of a status in lower case."""
        return int(getattr(self, status.lower()))

    @property
    def total(self) -> int:
        return sum(map(self.of, ItemStatus))

    @property
    def open(self) -> int:
        return sum(map(self.of, OPEN))

    @property
    def finished(self) -> int:
        """Items that change only if a user requeues them."""
        return self.total - self.open
