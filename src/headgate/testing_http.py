"""A stand-in for `ctx.http` in tests of handlers: it returns scripted replies and sends nothing."""

from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from fnmatch import fnmatchcase
from typing import Any, Self
from urllib.parse import urlencode

import msgspec

from headgate.net.response import ReadResponse


class Reply(msgspec.Struct, frozen=True):
    """A reply of a fake service; `json` gives the body, else `content` does."""

    status: int = 200
    json: Any = None
    content: str | bytes = b""
    headers: Mapping[str, str] = {}


class Asked(msgspec.Struct, frozen=True):
    """A request that a handler made."""

    method: str
    url: str
    """With its parameters."""
    options: Mapping[str, Any]
    """The other options of the request: `json`, `headers`, `cost` and so on."""


class FakeResponse(ReadResponse):
    """A real response that may also be awaited, so that it suits plain and async handlers."""

    __slots__ = ()

    def __await__(self) -> Generator[None, None, Self]:
        yield from ()
        return self

    async def aread(self) -> bytes:
        return self.content

    async def aiter_bytes(self) -> AsyncIterator[bytes]:
        """The body in one piece."""
        yield self.content


class FakeHttp:
    """Replies by URL.

        FakeHttp({"https://shop.example/prices/A1": {"price": 12.5}, "https://shop.example/*": 404})

    A URL may contain `*`, and may have a method before it (`"POST https://…"`). It is looked up
    with its parameters, then without them. A reply is a `Reply`; a mapping or list, sent as JSON;
    a text or bytes; a status; or an exception, which is raised. A tuple holds the replies to
    successive requests, and its last one is repeated. A function is called with the `Asked` and
    returns any of these.
    """

    def __init__(self, replies: Mapping[str, Any] | Callable[[Asked], Any]) -> None:
        self._replies = replies
        self._turns: dict[str, int] = {}
        self.requests: list[Asked] = []
        """The requests, in order."""
        self.spent: list[Mapping[str, float]] = []
        """The arguments of `ctx.spend`."""

    def request(self, method: str, url: str, **options: Any) -> FakeResponse:
        """Return the reply to a request; LookupError if none is scripted."""
        asked = Asked(method.upper(), _with_params(url, options.get("params")), options)
        self.requests.append(asked)
        return _response(self._scripted(asked), asked)

    def get(self, url: str, **options: Any) -> FakeResponse:
        return self.request("GET", url, **options)

    def head(self, url: str, **options: Any) -> FakeResponse:
        return self.request("HEAD", url, **options)

    def post(self, url: str, **options: Any) -> FakeResponse:
        return self.request("POST", url, **options)

    def put(self, url: str, **options: Any) -> FakeResponse:
        return self.request("PUT", url, **options)

    def patch(self, url: str, **options: Any) -> FakeResponse:
        return self.request("PATCH", url, **options)

    def delete(self, url: str, **options: Any) -> FakeResponse:
        return self.request("DELETE", url, **options)

    @asynccontextmanager
    async def stream(self, method: str, url: str, **options: Any) -> AsyncIterator[FakeResponse]:
        yield self.request(method, url, **options)

    def spend(self, cost: Mapping[str, float]) -> None:
        self.spent.append(dict(cost))

    def _scripted(self, asked: Asked) -> Any:
        if callable(self._replies):
            return self._replies(asked)
        for pattern in _found(self._replies, asked):
            found = self._replies[pattern]
            if isinstance(found, tuple):
                turn = self._turns.get(pattern, 0)
                self._turns[pattern] = turn + 1
                found = found[min(turn, len(found) - 1)]
            return found(asked) if callable(found) and not isinstance(found, type) else found
        known = ", ".join(self._replies) or "none"
        raise LookupError(f"no reply is scripted for {asked.method} {asked.url}; scripted: {known}")


def _found(replies: Mapping[str, Any], asked: Asked) -> Iterator[str]:
    """The patterns that fit a request: exact ones first, then patterns with `*`, in their order."""
    plain = asked.url.partition("?")[0]
    names = [f"{asked.method} {asked.url}", asked.url, f"{asked.method} {plain}", plain]
    yield from (name for name in names if name in replies)
    for pattern in replies:
        if "*" in pattern and any(fnmatchcase(name, _escaped(pattern)) for name in names):
            yield pattern


def _escaped(pattern: str) -> str:
    """A pattern in which only `*` is special: `?` and `[` are parts of URLs."""
    return "".join(f"[{char}]" if char in "?[" else char for char in pattern)


def _with_params(url: str, params: Mapping[str, Any] | None) -> str:
    given = {name: value for name, value in (params or {}).items() if value is not None}
    if not given:
        return url
    texts = {name: str(v).lower() if isinstance(v, bool) else v for name, v in given.items()}
    return f"{url}{'&' if '?' in url else '?'}{urlencode(texts)}"


def _response(scripted: Any, asked: Asked) -> FakeResponse:
    if isinstance(scripted, Exception) or (
        isinstance(scripted, type) and issubclass(scripted, Exception)
    ):
        raise scripted
    reply = _reply(scripted)
    headers: list[tuple[str, str]] = [
        (name.lower(), value) for name, value in reply.headers.items()
    ]
    content = reply.content.encode() if isinstance(reply.content, str) else reply.content
    if reply.json is not None:
        content = msgspec.json.encode(reply.json)
        headers = [("content-type", "application/json"), *headers]
    return FakeResponse(reply.status, headers, asked.url, content)


def _reply(scripted: Any) -> Reply:
    match scripted:
        case Reply():
            return scripted
        case bool():
            raise TypeError(
                f"a reply is a Reply, a mapping, a list, a text or a status: {scripted}"
            )
        case int():
            return Reply(scripted)
        case str() | bytes():
            return Reply(content=scripted)
        case Mapping() | Sequence():
            return Reply(json=scripted)
        case _:
            raise TypeError(
                f"a reply is a Reply, a mapping, a list, a text or a status, not {scripted!r}"
            )
