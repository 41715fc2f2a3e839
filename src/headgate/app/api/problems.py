"""Errors as RFC 9457 problem details. The title is the HTTP status phrase."""

import errno
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.routing import Match, Route

from headgate.app.telemetry import logger
from headgate.core.errors import (
    BadConfig,
    BadCursor,
    BadSource,
    CapReached,
    HeadgateError,
    IllegalMove,
    KeyReused,
    NameTaken,
    StoreError,
    StoreFull,
    StoreMismatch,
    UnknownExport,
    UnknownItem,
    UnknownJob,
    UnknownMirror,
    UnknownUser,
    UsageError,
    WorkerFailed,
    WrongEncoding,
)
from headgate.core.redact_text import redacted

MEDIA_TYPE = "application/problem+json"
TITLES = {
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    406: "Not Acceptable",
    408: "Request Timeout",
    409: "Conflict",
    413: "Content Too Large",
    415: "Unsupported Media Type",
    421: "Misdirected Request",
    422: "Unprocessable Content",
    429: "Too Many Requests",
    500: "Internal Server Error",
    503: "Service Unavailable",
    507: "Insufficient Storage",
}
FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
BUSY = frozenset({errno.EMFILE, errno.ENFILE})
UNREADABLE = "We cannot read this file"
STATUSES: tuple[tuple[type[HeadgateError], int], ...] = (
    (UnknownJob, 404),
    (UnknownItem, 404),
    (UnknownExport, 404),
    (UnknownUser, 404),
    (UnknownMirror, 404),
    (IllegalMove, 409),
    (NameTaken, 409),
    (KeyReused, 422),
    (CapReached, 429),
    (BadCursor, 400),
    (UsageError, 422),
    (BadSource, 422),
    (StoreFull, 507),
    (StoreError, 503),
    (WorkerFailed, 503),
)


class Problem(BaseModel):
    """RFC 9457 problem details."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    errors: list[dict[str, Any]] | None = None
    """Invalid fields, each with its problem."""
    encoding: str | None = None
    """An encoding that fits a file that was read in the wrong one."""


class ProblemResponse(Exception):
    """Raised to answer with a problem."""

    def __init__(
        self, status: int, detail: str, headers: Mapping[str, str] | None = None, **more: Any
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = headers
        self.more = more


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    always = (400, 401, 403, 404, 405, 408, 413, 421, 422, 429, 503)
    schema = {"schema": {"$ref": "#/components/schemas/Problem"}}
    described: dict[int | str, dict[str, Any]] = {
        status: {
            "description": TITLES[status],
            "content": {MEDIA_TYPE: schema, "application/json": schema},
        }
        for status in sorted({*always, *statuses})
    }
    # FastAPI prepares a model again wherever it is named: 700 times, a fifth of the start time.
    described[400]["model"] = Problem
    return described


def answer(
    status: int, detail: str, headers: Mapping[str, str] | None = None, **more: Any
) -> Response:
    body = {
        "type": "about:blank",
        "title": TITLES.get(status, "Error"),
        "status": status,
        "detail": redacted(detail),
        **more,
    }
    return JSONResponse(body, status, dict(headers or {}), media_type=MEDIA_TYPE)


def status_of(error: HeadgateError) -> int:
    return next((status for kind, status in STATUSES if isinstance(error, kind)), 500)


def install(app: FastAPI) -> None:
    """Answer every exception of the application with a problem."""
    app.add_exception_handler(ProblemResponse, _refused)
    app.add_exception_handler(HeadgateError, _ours)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(OSError, _system)
    app.add_exception_handler(Exception, _defect)


async def _refused(_request: Request, error: Exception) -> Response:
    assert isinstance(error, ProblemResponse)  # noqa: S101  registered for this class
    return answer(error.status, error.detail, error.headers, **error.more)


async def _ours(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HeadgateError)  # noqa: S101  registered for this class
    status = status_of(error)
    headers = {"Retry-After": "5"} if status in {429, 503, 507} else None
    if isinstance(error, BadConfig):
        fields = [
            {"field": f"config.{field}" if field else "config", "problem": problem}
            for field, problem in error.problems
        ]
        return answer(status, str(error), headers, errors=fields)
    if isinstance(error, WrongEncoding):
        return answer(status, str(error), headers, title=UNREADABLE, encoding=error.fits)
    if isinstance(error, BadSource):
        return answer(status, str(error), headers, title=UNREADABLE)
    return answer(status, public_detail(error), headers)


def public_detail(error: HeadgateError) -> str:
    """Return the message for the client. The path of the store appears only in the server's log."""
    match error:
        case StoreFull():
            return "the server's disk is full; see the server's log"
        case StoreMismatch():
            return "the server's store has another schema version; see the server's log"
        case StoreError():
            return "the server's store does not answer; see the server's log"
        case _:
            return str(error)


async def _invalid(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101  registered for this class
    fields = [
        {"field": ".".join(str(part) for part in each["loc"][1:]), "problem": each["msg"]}
        for each in error.errors()
    ]
    first = fields[0] if fields else {"field": "", "problem": "not valid"}
    where = f"{first['field']}: " if first["field"] else ""
    return answer(422, f"{where}{first['problem']}", errors=fields)


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101  registered for this class
    if error.status_code == 404:
        return answer(404, f"{request.url.path} does not exist; see /api/openapi.json")
    if error.status_code == 405:
        allowed = ", ".join(sorted(_methods_at(request)))
        detail = f"{request.method} is not allowed at {request.url.path}; allowed: {allowed}"
        return answer(405, detail, {"Allow": allowed})
    return answer(error.status_code, str(error.detail), error.headers)


def _methods_at(request: Request) -> set[str]:
    """Return the methods of a path. Starlette itself reports only those of the first route."""
    routes: Sequence[Route] = request.app.state.routes
    matching = [route for route in routes if route.matches(request.scope)[0] is not Match.NONE]
    return {method for route in matching for method in route.methods or ()}


async def _system(request: Request, error: Exception) -> Response:
    """Answer a full disk and a lack of files as such; any other OSError is an internal error."""
    number = error.errno if isinstance(error, OSError) else None
    if number in FULL:
        return answer(507, "the server's disk is full; nothing was stored", {"Retry-After": "60"})
    if number in BUSY:
        return answer(
            503, "the server has too many open files; try again later", {"Retry-After": "5"}
        )
    return await _defect(request, error)


async def _defect(request: Request, error: Exception) -> Response:
    logger().error("request failed", path=request.url.path, error=repr(error))
    return answer(500, f"internal error ({type(error).__name__}); see the server's log")
