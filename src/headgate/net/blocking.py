"""The HTTP client for plain functions, which run in threads and do not await."""

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
    def __init__(self, client: "BlockingClient", response: OpenResponse) -> None:
        self._client = client
        self._response = response
        self.status_code = response.status_code
        self.headers = response.headers
        self.url = response.url
        self.kind = response.kind
        self.kept = response.kept

    def raise_for_status(self) -> "BlockingStream":
        self._response.raise_for_status()
        return self

    def iter_bytes(self) -> Iterator[bytes]:
        pieces = self._response.aiter_bytes()

        async def piece() -> bytes | None:
            return await anext(pieces, None)

        while (arrived := self._client.wait(piece())) is not None:
            yield arrived

    def read(self) -> bytes:
        return self._client.wait(self._response.aread())

    def keep(self, note: str) -> None:
        """Declare that the body is safe in `kept_in`; the next response has `note` as `kept`."""
        self._client.wait(self._response.keep(note))


class BlockingClient:
    __slots__ = ("_client", "_loop")

    def __init__(self, client: HttpClient, loop: asyncio.AbstractEventLoop) -> None:
        self._client = client
        self._loop = loop

    def request(self, method: str, url: str, **options: Unpack[Options]) -> ReadResponse:
        """Send one request; `ports.http.Options` documents the options."""
        return self.wait(self._client.request(method, url, **options))

    def get(self, url: str, **options: Unpack[Options]) -> ReadResponse:
        return self.request("GET", url, **options)

    def head(self, url: str, **options: Unpack[Options]) -> ReadResponse:
        return self.request("HEAD", url, **options)

    def post(self, url: str, **options: Unpack[Options]) -> ReadResponse:
        return self.request("POST", url, **options)

    def put(self, url: str, **options: Unpack[Options]) -> ReadResponse:
        return self.request("PUT", url, **options)

    def patch(self, url: str, **options: Unpack[Options]) -> ReadResponse:
        return self.request("PATCH", url, **options)

    def delete(self, url: str, **options: Unpack[Options]) -> ReadResponse:
        return self.request("DELETE", url, **options)

    @contextmanager
    def stream(self, method: str, url: str, **options: Unpack[Options]) -> Iterator[BlockingStream]:
        """Send, and read the body piece by piece; the permit is held until the block ends."""
        streaming = self._client.stream(method, url, **options)
        response = self.wait(streaming.__aenter__())
        try:
            yield BlockingStream(self, response)
        finally:
            self.wait(streaming.__aexit__(None, None, None))

    def spend(self, cost: Cost) -> None:
        self.wait(self._spend(cost))

    async def _spend(self, cost: Cost) -> None:
        self._client.spend(cost)

    def wait(self, work: Coroutine[Any, Any, Answer]) -> Answer:
        """Run the coroutine on the loop and block this thread until it ends."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()
