"""Every error that Headgate raises on purpose.

HeadgateError
├── UsageError            the request is impossible; the message says what to do
│   ├── BadConfig         a job's configuration is not what its handler declares
│   ├── UnknownHandler    no handler has that name
│   ├── UnknownJob        no job has that id (or it belongs to another owner)
│   ├── UnknownItem       no item has that id
│   ├── UnknownExport     no export of that job has that id
│   ├── UnknownUser       no user has that name
│   ├── UnknownMirror     no mirror, or no stream of it, has that name or id
│   ├── NameTaken         a user with that name exists
│   ├── KeyReused         an idempotency key was used before, for another request
│   ├── CapReached        an owner has as many open jobs or items as allowed
│   ├── BadCursor         a page cursor is damaged or belongs to another query
│   ├── BadSetting        a setting has an unknown name or an impossible value
│   ├── IllegalMove       the present state does not allow the change
│   ├── SourceChanged     the source of a job has changed since the job was made
│   └── OptionsChanged    options that decide the result have changed
├── BadSource             the input cannot be read as rows
│   ├── WrongEncoding     its text has another encoding
│   └── SourceUnreachable the input cannot be fetched now; a later try may succeed
├── StaleIngest           another process moved the ingest position of this job
├── AttemptOver           an attempt ended by an exception (core/fault.py)
├── JobHalted             no item of a job can run before a repair (core/fault.py)
└── StoreError
    ├── StoreUnreachable  the database does not answer
    ├── StoreFull         the database has no space left to write
    └── StoreMismatch     the schema is newer or older than this program
"""

from collections.abc import Sequence
from typing import NamedTuple


class HeadgateError(Exception):
    """A problem that Headgate detected and can explain."""

    def __str__(self) -> str:
        return super().__str__() or (type(self).__doc__ or "").strip()


class UsageError(HeadgateError):
    """The request cannot be carried out."""


class FieldProblem(NamedTuple):
    field: str
    problem: str


class BadConfig(UsageError):
    """A job's configuration is not what its handler declares."""

    def __init__(self, message: str, problems: Sequence[FieldProblem] = ()) -> None:
        super().__init__(message)
        self.problems = tuple(problems)


class UnknownHandler(UsageError):
    """No handler has that name."""


class UnknownJob(UsageError):
    """No job has that id."""


class UnknownItem(UsageError):
    """No item has that id."""


class UnknownExport(UsageError):
    """No export of that job has that id."""


class UnknownUser(UsageError):
    """No user has that name."""


class UnknownMirror(UsageError):
    """No mirror has that name or id."""


class NameTaken(UsageError):
    """A user with that name exists already."""


class KeyReused(UsageError):
    """This idempotency key was used before, for another request; use a new one."""


class CapReached(UsageError):
    """The owner has as many open jobs or items as allowed; wait for some, or cancel some."""


class BadCursor(UsageError):
    """The page cursor is damaged or belongs to another query; start again without it."""


class BadSetting(UsageError):
    """A setting has an unknown name or an impossible value."""


class IllegalMove(UsageError):
    """The present state does not allow this change."""


class SourceChanged(UsageError):
    """The source has changed since the job was made."""


class OptionsChanged(UsageError):
    """Options that decide the result have changed since the job was made."""


class BadSource(HeadgateError):
    """The input cannot be read as rows."""


class WrongEncoding(BadSource):
    """The text of a file has another encoding than the one it was read in."""

    def __init__(self, message: str, fits: str | None = None) -> None:
        super().__init__(message)
        self.fits = fits


class SourceUnreachable(BadSource):
    """The input cannot be fetched now; a later try may succeed."""


class StaleIngest(HeadgateError):
    """Another command has moved the ingest position of this job."""


class WorkerFailed(HeadgateError):
    """Worker processes end before they can start to work."""


class StoreError(HeadgateError):
    """The store could not carry out the request."""


class StoreUnreachable(StoreError):
    """The store does not answer."""


class StoreFull(StoreError):
    """The store has no space left to write; make space and run the same command again."""


class StoreMismatch(StoreError):
    """The database schema does not fit this version of Headgate; run `headgate db migrate`."""
