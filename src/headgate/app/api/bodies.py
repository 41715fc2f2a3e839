"""Request bodies: size and pace are limited after the identity check and before parsing."""

import asyncio
import json
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

from fastapi import Request, Response
from fastapi.dependencies.models import Dependant
from starlette.requests import ClientDisconnect

from headgate.app.api.identity import client_of, identify, require_user
from headgate.app.api.problems import ProblemResponse
from headgate.app.api.state import state_of
from headgate.app.api.struct_route import StructRoute
from headgate.core.body_limits import LEAST_BYTES_PER_S, body_deadline_s

KB, MB = 1_024, 1_048_576
UNCOUNTED = 64 * KB
"""Bytes that a request may hold without a reservation. The connection limit bounds their sum."""
IN_THREAD_BYTES = 64 * KB
"""Bodies over this size, in bytes, are parsed in a thread."""


class BodyLimit(NamedTuple):
    size: int
    """In bytes."""
    values: int
    """Counted by commas. Validating many values takes far longer than reading them."""


USUAL = BodyLimit(1 * MB, 25_000)
Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])
Handle = Callable[[Request], Coroutine[Any, Any, Response]]


def takes(size: int, values: int = USUAL.values) -> Callable[[Endpoint], Endpoint]:
    """Declare the body limit of an endpoint."""

    def declare(endpoint: Endpoint) -> Endpoint:
        endpoint.body_limit = BodyLimit(size, values)  # type: ignore[attr-defined]
        return endpoint

    return declare


def limit_of(endpoint: Callable[..., Any]) -> BodyLimit:
    limit: BodyLimit = getattr(endpoint, "body_limit", USUAL)
    return limit


class BodyReader:
    def __init__(self, request: Request, limit: BodyLimit) -> None:
        app_state = state_of(request)
        self._request = request
        self._limit = limit
        self._room = app_state.room
        self._grace_s = app_state.settings.server.body_s
        self._clock = app_state.clock
        self._owner = ""
        self._taken = 0

    async def read(self, owner: str) -> bytearray:
        """Read the whole body. Raises 413 over the size limit and 408 below the minimum pace."""
        stated = self._request.headers.get("content-length", "")
        if stated.isdigit() and (len(stated) > 18 or int(stated) > self._limit.size):
            raise self._too_long()
        self._owner = owner
        body, values = bytearray(), 0
        began_s = self._clock.monotonic()
        chunks = aiter(self._request.stream())
        while True:
            left_s = began_s + body_deadline_s(len(body), self._grace_s) - self._clock.monotonic()
            chunk = await self._next(chunks, left_s)
            if chunk is None:
                return body
            values += chunk.count(b",")
            if len(body) + len(chunk) > self._limit.size or values > self._limit.values:
                raise self._too_long()
            self._count(len(body) + len(chunk))
            body += chunk

    def release(self) -> None:
        self._room.free(self._owner, self._taken)
        self._taken = 0

    async def _next(self, chunks: Any, left_s: float) -> bytes | None:
        try:
            async with asyncio.timeout(max(left_s, 0.0)):
                piece: bytes | None = await anext(chunks, None)
                return piece
        except TimeoutError:
            pace = LEAST_BYTES_PER_S // KB
            raise ProblemResponse(
                408, f"the request body arrived too slowly; send at least {pace} kB per second"
            ) from None
        except ClientDisconnect as error:
            raise ProblemResponse(
                400, "the connection was closed before the request was complete"
            ) from error

    def _count(self, size: int) -> None:
        more = size - UNCOUNTED - self._taken
        if more > 0:
            self._room.take(self._owner, more)
            self._taken += more

    def _too_long(self) -> ProblemResponse:
        size, values = self._limit
        shown = f"{size // MB} MB" if size >= MB else f"{size // KB} kB"
        return ProblemResponse(
            413, f"the request body is too large: the limit is {shown} and {values:,} values"
        )


class _ReadRequest(Request):
    """A request whose body was read before."""

    taken = bytearray()

    async def body(self) -> bytes:
        return self.taken  # type: ignore[return-value]

    async def json(self) -> Any:
        if len(self.taken) <= IN_THREAD_BYTES:
            return json.loads(self.taken)
        return await state_of(self).threads.bodies.run(json.loads, self.taken)


class BoundedRoute(StructRoute):
    """Checks the identity, reads the body within its limit, then hands over to FastAPI."""

    def get_route_handler(self) -> Handle:
        answer = super().get_route_handler()
        limit, protected = limit_of(self.endpoint), needs_identity(self.dependant)
        reads = self.body_field is not None

        async def bounded(request: Request) -> Response:
            matching = request.state.matching = BodyReader(request, limit)
            try:
                if not reads:
                    return await answer(request)
                owner = client_of(request, state_of(request))
                if protected:
                    owner = (await require_user(request, state_of(request))).name
                whole = _ReadRequest(request.scope, request.receive)
                whole.taken = await matching.read(owner)
                require_text(whole.taken)
                return await answer(whole)
            finally:
                matching.release()

        return bounded


def needs_identity(dependant: Dependant) -> bool:
    if dependant.call is identify:
        return True
    return any(needs_identity(each) for each in dependant.dependencies)


async def body_of(request: Request, owner: str) -> bytearray:
    matching: BodyReader = request.state.matching
    return await matching.read(owner)


NUL = "\x00"
WRITTEN = b"\\u0000"
"""NUL as JSON writes it. JSON cannot contain it as a byte."""
NO_NUL = r"^[^\u0000]*$"
OTHERWISE_BOUND = frozenset({"pattern", "enum", "const", "format", "contentMediaType"})
"""Schema keys of strings whose content is checked in another way."""
REFUSED = "text must not contain the character NUL (U+0000)"


def require_text(body: bytes | bytearray) -> None:
    """Refuse JSON with NUL in a text. The parser refuses what is not JSON."""
    if WRITTEN not in body:
        return
    with suppress(ValueError, RecursionError):
        if holds_nul(json.loads(body)):
            raise ProblemResponse(422, REFUSED)


def holds_nul(value: Any) -> bool:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            if NUL in one:
                return True
        elif isinstance(one, Mapping):
            waiting += [*one, *one.values()]
        elif isinstance(one, list):
            waiting += one
    return False


def describe_text(document: dict[str, Any]) -> None:
    """Say in the OpenAPI document that texts of requests must not contain NUL."""
    waiting: list[Any] = []
    for operation in (each for path in document["paths"].values() for each in path.values()):
        queries = (each for each in operation.get("parameters", ()) if each["in"] == "query")
        waiting += [*queries, operation.get("requestBody", {})]
    seen: set[str] = set()
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting += one
        elif isinstance(one, dict):
            if one.get("type") == "string" and OTHERWISE_BOUND.isdisjoint(one):
                one["pattern"] = NO_NUL
            waiting += [value for name, value in one.items() if name not in {"examples", "enum"}]
            name = str(one.get("$ref", "")).rpartition("/")[2]
            if name and name not in seen:
                seen.add(name)
                waiting.append(document["components"]["schemas"][name])
