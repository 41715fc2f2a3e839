"""Exit codes. The numbers are documented and do not change their meaning."""

from collections.abc import Iterator
from enum import IntEnum

from headgate.core.errors import (
    BadSource,
    HeadgateError,
    StaleIngest,
    StoreError,
    StoreFull,
    UsageError,
    WorkerFailed,
)
from headgate.ports.artifacts import FolderTrouble


class Exit(IntEnum):
    OK = 0
    INTERNAL = 1
    USAGE = 2
    FAILED_ITEMS = 3
    STOPPED = 4
    UNREACHABLE = 5
    PROBLEMS = 6
    INTERRUPTED = 130
    BROKEN_PIPE = 141


def of_error(error: HeadgateError) -> Exit:
    match error:
        case StoreFull() | StaleIngest() | WorkerFailed() | FolderTrouble():
            # No data is lost: the same command resumes once the cause is fixed.
            return Exit.STOPPED
        case StoreError():
            return Exit.UNREACHABLE
        case UsageError() | BadSource():
            return Exit.USAGE
        case _:
            return Exit.INTERNAL


def known_error(error: BaseException) -> HeadgateError | None:
    """The HeadgateError in `error`, also inside an exception group; None if there is none."""
    return next((one for one in _leaves(error) if isinstance(one, HeadgateError)), None)


def is_output_closed(error: BaseException) -> bool:
    return any(isinstance(one, BrokenPipeError) for one in _leaves(error))


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error
