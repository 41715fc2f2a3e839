"""`ctx.http`: the polite client as handlers see it."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Any, Protocol, Self, TypedDict, Unpack

from headgate.core.call import Call, CallKind
from headgate.core.provider import ProviderPolicy
from headgate.ports.gate import Turn

Params = Mapping[str, str | int | float | bool | None]


class Options(TypedDict, total=False):
    params: Params | None
    headers: Mapping[str, str] | None
    json: Any
    data: Mapping[str, str] | None
    """Sent as a form."""
    content: bytes | str | None
    """A body that is sent unchanged."""
    timeout: float | None
    """Seconds for the whole exchange, without the time spent at gates."""
    follow_redirects: bool
    cost: Mapping[str, float] | None
    """An estimate of the amount of each budget that it takes; `ctx.spend` gives the actual
    amount."""
    max_bytes: int | None
    """Largest answer that is read into memory; `net.body_bytes` applies in any case."""
    fresh: bool
    """Ask the server even if the cache could answer."""
    light: bool
    """A small look-up: it is paced, but does not count as a transfer."""
    through: str
    """The provider that named the URL: its `concurrency` applies to this transfer too."""
    kept_in: str
    """For `stream`: the caller stores bodies itself, in a place of this name.¶The cache then stores
    only heads, and the note that `StreamedResponse.keep` got with the body. With `Range` and
    `If-Range` the request asks for the rest, and `keep` is about the whole."""
    refetch: bool
    """With `kept_in`: the stored body is gone, so ask for the whole of it without a condition."""


class Response(Protocol):
    @property
    def status_code(self) -> int: ...

    @property
    def headers(self) -> Mapping[str, str]:
        """By name in any case; values that came twice are joined by a comma."""
        ...

    @property
    def url(self) -> str:
        """The URL after redirects."""
        ...

    @property
    def content(self) -> bytes: ...

    @property
    def text(self) -> str:
        """The body, decoded as its headers say, else as UTF-8."""
        ...

    @property
    def from_cache(self) -> bool:
        """No server was asked for the body."""
        ...

    @property
    def is_success(self) -> bool:
        """A status of 200 to 299."""
        ...

    def json(self) -> Any:
        """The body as a value; a transient fault if it is not JSON."""
        ...

    def raise_for_status(self) -> Self:
        """Itself, if it is a success.

        The exception, unless caught, ends the attempt: 404 and 410 as NOT_FOUND, 408, 425 and 5xx
        as a transient fault, every other status as a permanent error.
        """
        ...


class StreamedResponse(Protocol):
    @property
    def status_code(self) -> int: ...

    @property
    def headers(self) -> Mapping[str, str]:
        """By name in any case."""
        ...

    @property
    def url(self) -> str: ...

    @property
    def kind(self) -> CallKind:
        """Source of the reply: network, cache or revalidation."""
        ...

    @property
    def kept(self) -> str:
        """The note that `keep` got with the body, which is not sent again; empty if one is sent."""
        ...

    async def keep(self, note: str) -> None:
        """Report that the body, read to its end, is stored in `kept_in`: cache the head and `note`.

        Call it before the stream is closed. It does nothing if the answer may not be cached.
        """
        ...

    def raise_for_status(self) -> Self: ...

    def aiter_bytes(self) -> AsyncIterator[bytes]: ...

    async def aread(self) -> bytes: ...


class Http(Protocol):
    """Cached, paced, capped, retried, recorded. Methods as in other clients."""

    def spend(self, cost: Mapping[str, float]) -> None:
        """The actual cost of the last request, where only an estimate was reserved."""
        ...

    async def request(self, method: str, url: str, **options: Unpack[Options]) -> Response: ...

    async def get(self, url: str, **options: Unpack[Options]) -> Response: ...

    async def head(self, url: str, **options: Unpack[Options]) -> Response: ...

    async def post(self, url: str, **options: Unpack[Options]) -> Response: ...

    async def put(self, url: str, **options: Unpack[Options]) -> Response: ...

    async def patch(self, url: str, **options: Unpack[Options]) -> Response: ...

    async def delete(self, url: str, **options: Unpack[Options]) -> Response: ...

    def stream(
        self, method: str, url: str, **options: Unpack[Options]
    ) -> AbstractAsyncContextManager[StreamedResponse]:
        """Send, and read the body in chunks; its slot at the gates is held meanwhile."""
        ...


class HttpOpener(Protocol):
    """Makes the client of one attempt. Cheap: every attempt that needs a client gets its own."""

    untimed: Callable[[], AbstractContextManager[None]]
    """Entered while the HTTP stack is loaded, which blocks the event loop.

    That time counts against the limit of no handler.
    """

    def declare(self, provider: str, policy: ProviderPolicy | None) -> None:
        """Apply a handler's limits where the settings have none, and load the HTTP stack now."""
        ...

    def adopt(self, providers: Mapping[str, ProviderPolicy]) -> None:
        """Apply settings for services; the handler has already merged the operator's settings."""
        ...

    def __call__(
        self,
        turn: Turn,
        provider: str,
        record: Callable[[Call], None],
        *,
        guarded: bool,
        blocking: bool,
    ) -> Http:
        """`provider` is the handler's, empty if it names none; `blocking` is for threads."""
        ...
