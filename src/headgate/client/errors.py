"""What a server answers instead of what was asked for.

HeadgateError
└── ApiError                 any problem that a server tells of
    ├── Refused              4xx: the request cannot be carried out as it is (a UsageError)
    │   ├── NotAllowed       401, 403: no token, an unknown one, or one that may not do this
    │   ├── NotFound         404: there is no such thing, or it is somebody else's
    │   │   ├── JobNotFound, ItemNotFound, ExportNotFound, UserNotFound
    │   ├── Conflict         409: it is not in a state for that (an IllegalMove)
    │   └── TooMuch          429: as much is under way as may be, also after waiting (a CapReached)
    ├── ServerFull           507: the server has no space left (a StoreFull)
    └── Unavailable          502, 503, 504 or no answer at all (a StoreUnreachable)
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from headgate.core.errors import (
    CapReached,
    HeadgateError,
    IllegalMove,
    StoreFull,
    StoreUnreachable,
    UnknownExport,
    UnknownItem,
    UnknownJob,
    UnknownUser,
    UsageError,
)


class ApiError(HeadgateError):
    """A problem that a server tells of."""

    def __init__(self, status: int, detail: str, errors: Sequence[Mapping[str, Any]] = ()) -> None:
        super().__init__(detail)
        self.status = status
        """Of the answer; 0: there was none."""
        self.detail = detail
        self.errors = errors
        """Which fields are wrong, and how."""
        self.retry_after_s: float | None = None
        """When the server says that another try may do."""


class Refused(ApiError, UsageError):
    """The request cannot be carried out as it is."""


class NotAllowed(Refused):
    """The token does not let you do this."""


class NotFound(Refused):
    """There is no such thing, or it is somebody else's."""


class JobNotFound(NotFound, UnknownJob):
    """No job of yours has that id."""


class ItemNotFound(NotFound, UnknownItem):
    """No item of yours has that id."""


class ExportNotFound(NotFound, UnknownExport):
    """No export of that job has that id."""


class UserNotFound(NotFound, UnknownUser):
    """Nobody has that name."""


class Conflict(Refused, IllegalMove):
    """It is not in a state for that."""


class TooMuch(Refused, CapReached):
    """As much is under way as may be."""


class ServerFull(ApiError, StoreFull):
    """The server has no space left."""


class Unavailable(ApiError, StoreUnreachable):
    """The server does not answer, or cannot at present."""


class _Problem(msgspec.Struct):
    """RFC 9457 problem details, as far as they are read."""

    detail: str = ""
    title: str = ""
    errors: list[dict[str, Any]] | None = None


_KINDS: Mapping[int, type[ApiError]] = {
    401: NotAllowed,
    403: NotAllowed,
    409: Conflict,
    429: TooMuch,
    502: Unavailable,
    503: Unavailable,
    504: Unavailable,
    507: ServerFull,
}


def error_of(status: int, body: bytes, absent: type[NotFound] = NotFound) -> ApiError:
    """The error that an answer stands for; `absent` is what a 404 means here."""
    kind = absent if status == 404 else _KINDS.get(status)
    if kind is None:
        kind = Refused if 400 <= status < 500 else ApiError
    try:
        problem = msgspec.json.decode(body, type=_Problem)
    except (msgspec.DecodeError, UnicodeDecodeError):  # from something between us and the server
        problem = _Problem()
    detail = problem.detail or problem.title or f"the server answered with status {status}"
    return kind(status, detail, problem.errors or ())
