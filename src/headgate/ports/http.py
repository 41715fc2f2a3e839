"""`ctx.http`: the polite client as handlers see it."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, Self, TypedDict, Unpack

from headgate.core.call import Call, CallKind
from headgate.core.provider import ProviderPolicy
from headgate.ports.gate import Turn

Params = Mapping[str, str | int | float | bool | None]


class Options(TypedDict, total=False):
    """What a request may be given beside its URL."""

    params: Params | None
    headers: Mapping[str, str] | None
    json: Any
    """A value that is sent as JSON."""
    data: Mapping[str, str] | None
    """A form."""
    content: bytes | str | None
    """A body as it is."""
    timeout: float | None
    """Seconds for the whole exchange, without the time spent before gates."""
    follow_redirects: bool
    cost: Mapping[str, float] | None
    """An estimate of what it takes of each budget; `ctx.spend` tells the actual figure."""
    max_bytes: int | None
    """A larger answer is not taken into memory; `net.body_bytes` holds in any case."""
    fresh: bool
    """Ask the server even if the cache could answer."""
    light: bool
    """A small look-up: it is paced, but takes no place among the transfers."""
    through: str
    """A provider that named the URL: its `concurrency` holds for this transfer too."""
    kept_in: str
    """For `stream`: the caller keeps bodies himself, in a place of this name.

    The cache then remembers heads alone, and what `StreamedResponse.keep` was told of the body.
    With `Range` and `If-Range` it asks for the rest, and `keep` is about the whole.
    """
    anew: bool
    """With `kept_in`: what was kept is gone, so ask for the whole of it without a condition."""


class Response(Protocol):
    """An answer with its body."""

    @property
    def status_code(self) -> int:
        """The status."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """By name, in any case; what came twice is joined by a comma."""
        ...

    @property
    def url(self) -> str:
        """Where it came from in the end."""
        ...

    @property
    def content(self) -> bytes:
        """The body."""
        ...

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
        """The body as a value; a transient fault if it is no JSON."""
        ...

    def raise_for_status(self) -> Self:
        """Itself, if it is a success.

        Left to itself, the exception ends the attempt as it should: 404 and 410 as NOT_FOUND,
        408, 425 and 5xx as worth another try, every other status as a permanent error.
        """
        ...


class StreamedResponse(Protocol):
    """An answer whose body is read piece by piece."""

    @property
    def status_code(self) -> int:
        """The status."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """By name, in any case."""
        ...

    @property
    def url(self) -> str:
        """Where it came from in the end."""
        ...

    @property
    def kind(self) -> CallKind:
        """How it was come by."""
        ...

    @property
    def kept(self) -> str:
        """What `keep` was told when the body was fetched; none comes then. Empty if one comes."""
        ...

    async def keep(self, note: str) -> None:
        """Say that the body, read to its end, is safe in `kept_in`: remember the head and this.

        To be called before the stream is closed. It does nothing where the answer may not be kept.
        """
        ...

    def raise_for_status(self) -> Self:
        """Itself, if it is a success."""
        ...

    def aiter_bytes(self) -> AsyncIterator[bytes]:
        """The body as it arrives."""
        ...

    async def aread(self) -> bytes:
        """The rest of the body."""
        ...


class Http(Protocol):
    """Cached, paced, capped, retried, recorded. Methods as in other clients."""

    def spend(self, cost: Mapping[str, float]) -> None:
        """What the last request really cost, where only an estimate was reserved."""
        ...

    async def request(self, method: str, url: str, **options: Unpack[Options]) -> Response:
        """Send one request; for the options see `Options`."""
        ...

    async def get(self, url: str, **options: Unpack[Options]) -> Response:
        """Fetch."""
        ...

    async def head(self, url: str, **options: Unpack[Options]) -> Response:
        """Ask for the headers alone."""
        ...

    async def post(self, url: str, **options: Unpack[Options]) -> Response:
        """Send."""
        ...

    async def put(self, url: str, **options: Unpack[Options]) -> Response:
        """Store."""
        ...

    async def patch(self, url: str, **options: Unpack[Options]) -> Response:
        """Change."""
        ...

    async def delete(self, url: str, **options: Unpack[Options]) -> Response:
        """Remove."""
        ...

    def stream(
        self, method: str, url: str, **options: Unpack[Options]
    ) -> AbstractAsyncContextManager[StreamedResponse]:
        """Send, and read the body piece by piece; its place at the gates is held meanwhile."""
        ...


class HttpOpener(Protocol):
    """Makes the client of one attempt. Cheap: every attempt that asks for one gets its own."""

    def declare(self, provider: str, policy: ProviderPolicy) -> None:
        """What a handler says of its provider, where the settings say nothing."""
        ...

    def adopt(self, providers: Mapping[str, ProviderPolicy]) -> None:
        """What holds for services from now on: a handler has thought of the settings already."""
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
        """`provider` is its handler's, empty if it names none; `blocking` is for threads."""
        ...
