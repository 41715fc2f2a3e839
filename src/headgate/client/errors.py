"""Errors of the client.

HeadgateError
└── ApiError                 any problem that a server reports
    ├── Refused              4xx: the request cannot be carried out as it is (a UsageError)
    │   ├── NotAllowed       401, 403: the token is missing, unknown, or does not allow this
    │   ├── NotFound         404: the thing does not exist, or it belongs to another user
    │   │   ├── JobNotFound, ItemNotFound, ExportNotFound, UserNotFound, MirrorNotFound
    │   ├── Conflict         409: the state of the thing does not allow this (an IllegalMove)
    │   └── TooMuch          429: the limit of parallel work is reached, also later (a CapReached)
    ├── ServerFull           507: the server has no space left (a StoreFull)
    └── Unavailable          502, 503, 504 or no response at all (a StoreUnreachable)
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
    UnknownMirror,
    UnknownUser,
    UsageError,
)


class ApiError(HeadgateError):
    """A problem that a server reports."""

    def __init__(self, status: int, detail: str, errors: Sequence[Mapping[str, Any]] = ()) -> None:
        super().__init__(detail)
        self.status = status
        """HTTP status; 0: no response arrived."""
        self.detail = detail
        self.errors = errors
        """The wrong fields, with the reasons."""
        self.retry_after_s: float | None = None
        """Seconds until a retry may succeed, if the server says so."""


class Refused(ApiError, UsageError):
    """The request cannot be carried out as it is."""


class NotAllowed(Refused):
    """The token does not allow this."""


class NotFound(Refused):
    """The thing does not exist, or it belongs to another user."""


class JobNotFound(NotFound, UnknownJob):
    """No job of yours has that id."""


class ItemNotFound(NotFound, UnknownItem):
    """No item of yours has that id."""


class ExportNotFound(NotFound, UnknownExport):
    """No export of that job has that id."""


class UserNotFound(NotFound, UnknownUser):
    """No user has that name."""


class MirrorNotFound(NotFound, UnknownMirror):
    """No mirror, stream or row has that id."""


class Conflict(Refused, IllegalMove):
    """The state of the thing does not allow this."""


class TooMuch(Refused, CapReached):
    """The limit of parallel work is reached."""


class ServerFull(ApiError, StoreFull):
    """The server has no space left."""


class Unavailable(ApiError, StoreUnreachable):
    """The server does not answer, or cannot at present."""


class _Problem(msgspec.Struct):
    """The fields of RFC 9457 problem details that are used."""

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
    """The error for a response; `absent` is the class for a 404."""
    kind = absent if status == 404 else _KINDS.get(status)
    if kind is None:
        kind = Refused if 400 <= status < 500 else ApiError
    try:
        problem = msgspec.json.decode(body, type=_Problem)
    except (msgspec.DecodeError, UnicodeDecodeError):  # from a proxy between us and the server
        problem = _Problem()
    detail = problem.detail or problem.title or f"the server answered with status {status}"
    return kind(status, detail, problem.errors or ())
