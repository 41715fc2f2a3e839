"""Everything Headgate raises on purpose.

HeadgateError
├── UsageError            the caller asked for something that cannot be; the message says what to do
│   ├── BadConfig         a job's configuration is not what its handler declares
│   ├── UnknownHandler    no handler answers to that name
│   ├── UnknownJob        no job has that id (or it belongs to somebody else)
│   ├── UnknownItem       no item has that id
│   ├── UnknownExport     no export of that job has that id
│   ├── UnknownUser       nobody has that name
│   ├── NameTaken         somebody has that name already
│   ├── KeyReused         an idempotency key was used before, for another request
│   ├── CapReached        an owner has as much under way as they may
│   ├── BadCursor         a page cursor is damaged or belongs to another query
│   ├── BadSetting        a setting has an unknown name or an impossible value
│   ├── IllegalMove       the state table has no such move
│   ├── SourceChanged     the source of a job is not what it was when the job was made
│   └── OptionsChanged    options that decide the result are not what they were
├── BadSource             the input cannot be read as rows
│   ├── WrongEncoding     its text is not in the encoding that it was read in
│   └── SourceUnreachable the place of the input does not hand it out now; it may do so later
├── StaleIngest           somebody else moved the ingest position of this job
├── AttemptOver           an attempt ended by being raised out of (core/fault.py)
├── JobHalted             nothing of a job can be worked on before a repair (core/fault.py)
└── StoreError
    ├── StoreUnreachable  the database does not answer
    ├── StoreFull         the database has no space left to write
    └── StoreMismatch     the schema is newer or older than this program
"""

from collections.abc import Sequence
from typing import NamedTuple


class HeadgateError(Exception):
    """Something Headgate noticed and can explain."""

    def __str__(self) -> str:
        return super().__str__() or (type(self).__doc__ or "").strip()


class UsageError(HeadgateError):
    """The request cannot be carried out as asked."""


class FieldProblem(NamedTuple):
    """A field that is wrong, and how."""

    field: str
    problem: str


class BadConfig(UsageError):
    """A job's configuration is not what its handler declares."""

    def __init__(self, message: str, problems: Sequence[FieldProblem] = ()) -> None:
        super().__init__(message)
        self.problems = tuple(problems)


class UnknownHandler(UsageError):
    """No handler answers to that name."""


class UnknownJob(UsageError):
    """No job has that id."""


class UnknownItem(UsageError):
    """No item has that id."""


class UnknownExport(UsageError):
    """No export of that job has that id."""


class UnknownUser(UsageError):
    """Nobody has that name."""


class NameTaken(UsageError):
    """Somebody has that name already."""


class KeyReused(UsageError):
    """This idempotency key was used before, for another request; take a new one."""


class CapReached(UsageError):
    """As much is under way as one owner may have; wait for it, or cancel some of it."""


class BadCursor(UsageError):
    """The page cursor is damaged or belongs to another query; start again without it."""


class BadSetting(UsageError):
    """A setting has an unknown name or an impossible value."""


class IllegalMove(UsageError):
    """The state table has no such move."""


class SourceChanged(UsageError):
    """The source is not what it was when the job was made."""


class OptionsChanged(UsageError):
    """Options that decide the result are not what they were when the job was made."""


class BadSource(HeadgateError):
    """The input cannot be read as rows."""


class WrongEncoding(BadSource):
    """The text of a file is not in the encoding that it was read in."""

    def __init__(self, message: str, fits: str | None = None) -> None:
        super().__init__(message)
        self.fits = fits


class SourceUnreachable(BadSource):
    """The place of the input does not hand it out now; another try may get it."""


class StaleIngest(HeadgateError):
    """Another command has moved the ingest position of this job."""


class WorkerFailed(HeadgateError):
    """Worker processes end before they can start working."""


class StoreError(HeadgateError):
    """The store could not do what was asked."""


class StoreUnreachable(StoreError):
    """The store does not answer."""


class StoreFull(StoreError):
    """The store has no space left to write; make space and run the same command again."""


class StoreMismatch(StoreError):
    """The database schema does not fit this version of Headgate; run `headgate db migrate`."""
