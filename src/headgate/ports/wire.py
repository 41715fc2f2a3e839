"""The wire: one request out, one reply in. No redirects, no retries, no cookies, no cache."""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Protocol

import msgspec

Headers = Sequence[tuple[str, str]]
"""Names in lower case, in order of arrival; a name may come more than once."""


class WireTimeouts(msgspec.Struct, frozen=True):
    connect_s: float = 10.0
    read_s: float = 30.0
    """Longest silence in seconds between two chunks of a reply."""
    total_s: float | None = 300.0


class WireRequest(msgspec.Struct, frozen=True):
    method: str
    url: str
    headers: Headers = ()
    body: bytes | None = None
    patience: WireTimeouts = WireTimeouts()
    guarded: bool = False
    """The address comes from data: private and local ones are refused at connect time."""


class WireReply(Protocol):
    """The head of a reply; the caller may read the body and must close the reply."""

    @property
    def status(self) -> int: ...

    @property
    def headers(self) -> Headers: ...

    def chunks(self) -> AsyncIterator[bytes]:
        """The body as it arrives, with its content encoding removed."""
        ...

    async def close(self) -> None:
        """Return the connection to the pool, or drop it if the body was not read to its end."""
        ...


class ServerReply(WireReply, Protocol):
    async def read(self, limit: int) -> bytes | None:
        """The whole body; None if it is larger than `limit`."""
        ...


class Wire(Protocol):
    async def send(
        self, request: WireRequest, recalled: Callable[[], bool] | None = None
    ) -> ServerReply:
        """Return when the head of the reply is there; WireFailure or AddressRefused otherwise.

        `recalled` is called once there is a connection, which may take long: Recalled if it is
        true.
        """
        ...

    async def close(self) -> None: ...
