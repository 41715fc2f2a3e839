"""The same client for plain functions, which run in threads: no `await` before a request."""

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, Unpack

from headgate.net.client import HttpClient
from headgate.net.response import OpenResponse, ReadResponse
from headgate.ports.gate import Cost
from headgate.ports.http import Options

Answer = TypeVar("Answer")


class BlockingStream:
    """An answer whose body a plain function reads piece by piece."""

    def __init__(self, client: "BlockingClient", response: OpenResponse) -> None:
        self._client = client
        self._response = response
        self.status_code = response.status_code
        self.headers = response.headers
        self.url = response.url
        self.kind = response.kind
        self.kept = response.kept

    def raise_for_status(self) -> "BlockingStream":
        """Itself, if it is a success."""
        self._response.raise_for_status()
        return self

    def iter_bytes(self) -> Iterator[bytes]:
        """The body as it arrives."""
        pieces = self._response.aiter_bytes()

        async def piece() -> bytes | None:
            return await anext(pieces, None)

        while (arrived := self._client.wait(piece())) is not None:
            yield arrived

    def read(self) -> bytes:
        """The rest of the body."""
        return self._client.wait(self._response.aread())

    def keep(self, note: str) -> None:
        """Say that the body is safe in `kept_in`; `note` comes back as `kept` the next time."""
        self._client.wait(self._response.keep(note))


class BlockingClient:
    """Lends the loop's client to one thread."""

    __slots__ = ("_client", "_loop")

    def __init__(self, client: HttpClient, loop: asyncio.AbstractEventLoop) -> None:
        self._client = client
        self._loop = loop

    def request(self, method: str, url: str, **options: Unpack[Options]) -> ReadResponse:
        """Send one request; for the options see `ports.http.Options`."""
        return self.wait(self._client.request(method, url, **options))

    def get(self, url: str, **options: Unpack[Options]) -> ReadResponse:
        """Fetch."""
        return self.request("GET", url, **options)

    def head(self, url: str, **options: Unpack[Options]) -> ReadResponse:
        """Ask for the headers alone."""
        return self.request("HEAD", url, **options)

    def post(self, url: str, **options: Unpack[Options]) -> ReadResponse:
        """Send."""
        return self.request("POST", url, **options)

    def put(self, url: str, **options: Unpack[Options]) -> ReadResponse:
        """Store."""
        return self.request("PUT", url, **options)

    def patch(self, url: str, **options: Unpack[Options]) -> ReadResponse:
        """Change."""
        return self.request("PATCH", url, **options)

    def delete(self, url: str, **options: Unpack[Options]) -> ReadResponse:
        """Remove."""
        return self.request("DELETE", url, **options)

    @contextmanager
    def stream(self, method: str, url: str, **options: Unpack[Options]) -> Iterator[BlockingStream]:
        """Send, and read the body piece by piece; its place at the gates is held meanwhile."""
        streaming = self._client.stream(method, url, **options)
        response = self.wait(streaming.__aenter__())
        try:
            yield BlockingStream(self, response)
        finally:
            self.wait(streaming.__aexit__(None, None, None))

    def spend(self, cost: Cost) -> None:
        """What the last request really cost, where only an estimate was reserved."""
        self.wait(self._spend(cost))

    async def _spend(self, cost: Cost) -> None:
        self._client.spend(cost)

    def wait(self, work: Coroutine[Any, Any, Answer]) -> Answer:
        """Let the loop do the work, and wait for it here."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()
