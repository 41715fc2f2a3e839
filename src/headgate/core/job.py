"""A batch, and what is asked of it."""

from collections.abc import Mapping
from typing import Any

import msgspec

from headgate.core.errors import UsageError
from headgate.core.status import JobState

LOCAL_OWNER = "local"
LONGEST_FIELD = 65_536
"""Bytes of `config`, and of each other thing that is said of a job, as JSON. Workers and lists read
them again and again."""


ARRIVAL = "arrival:"
"""How a key begins that names a file which arrived: such keys are never forgotten."""


def require_short(name: str, value: object) -> None:
    """UsageError if that takes more than `LONGEST_FIELD` bytes."""
    if len(msgspec.json.encode(value)) > LONGEST_FIELD:
        raise UsageError(
            f"`{name}` of a job has at most {LONGEST_FIELD // 1_024} kB; put the rest into a file"
            " or into the rows"
        )


class Once(msgspec.Struct, frozen=True):
    """A name by which a job is made at most once for each owner.

    The same name with another digest is another request under a used name.
    """

    key: str
    digest: str = ""


class OwnerCaps(msgspec.Struct, frozen=True):
    """How much one owner may have under way at the same time; None: as much as they like."""

    unfinished_jobs: int | None = None
    open_items: int | None = None


class Job(msgspec.Struct, frozen=True):
    """A stored job."""

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
    """When a pause ends by itself; None: when somebody ends it."""
    reading: Mapping[str, Any] | None = None
    """How the server reads the source; None: the command that made the job reads it."""
    file: str = ""
    """The name of the file as its sender calls it."""
    client: str = ""
    """The address that the job was made from."""
    ingest: Mapping[str, Any] = {}
    """How far and how fast the reading is, as the last committed batch told."""
    options: Mapping[str, Any] | None = None
    """Options that decide the result, as the command that made the job had them; None: unknown."""
    made_before: bool = False
    """Not stored: it was there when another command wanted to make it (`once`, `newest`)."""


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
    """See `Job.options`."""
    newest: int | None = None
    """Make it only if this is still the newest job of its owner, handler and source (0: there is
    none); else that newest job is the answer, with `made_before`."""
    once: Once | None = None
    caps: OwnerCaps = OwnerCaps()

    def __post_init__(self) -> None:
        """Refuse what is too long, wherever the job comes from."""
        require_short("config", self.config)
        require_short("key", self.key_columns)
        require_short("read", self.reading)


class Binding(msgspec.Struct, frozen=True):
    """What a job is bound to outside the store; it may be moved or replaced."""

    handler: str
    source: str
    config: Mapping[str, Any] = {}
    options: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        """Refuse what is too long."""
        require_short("config", self.config)


class Counts(msgspec.Struct, frozen=True):
    """How many items of a job stand where; they add up to `total`."""

    pending: int = 0
    processing: int = 0
    done: int = 0
    not_found: int = 0
    skipped: int = 0
    review: int = 0
    error: int = 0
    cancelled: int = 0

    @property
    def total(self) -> int:
        """Every item of the job."""
        return self.open + self.finished

    @property
    def open(self) -> int:
        """Items that still have to be worked on."""
        return self.pending + self.processing

    @property
    def finished(self) -> int:
        """Items that nobody will touch unless asked to."""
        return self.done + self.not_found + self.skipped + self.review + self.error + self.cancelled
