"""A cache over a real wire and a real server, on a clock that the test advances."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from headgate.core.call import CallKind
from headgate.core.provider import CachePolicy
from headgate.net.cache import CacheReply, CallerBody, HttpCache
from headgate.net.failure import FailureKind, WireFailure
from headgate.net.fields import folded
from headgate.net.wire import AiohttpWire
from headgate.ports.wire import ServerReply, WireRequest
from headgate.testing import FakeClock
from headgate.transfer.blobs import LocalBlobs
from tests.kit.provider import Provider


class Got(NamedTuple):
    """An answer that was read to its end."""

    kind: CallKind
    status: int
    body: bytes
    headers: dict[str, str]


async def read(reply: CacheReply) -> Got:
    """The whole answer."""
    try:
        body = b"".join([chunk async for chunk in reply.chunks()])
    finally:
        await reply.close()
    return Got(reply.kind, reply.status, body, folded(reply.headers))


class Rig:
    """What a test holds: the server, the cache, and a way to ask."""

    def __init__(self, provider: Provider, folder: Path) -> None:
        self.provider = provider
        self.folder = folder
        self.clock = FakeClock()
        self.blobs_folder = folder / "blobs"
        self.blobs = LocalBlobs(self.blobs_folder, self.clock)
        self.warnings: list[str] = []
        self.wire = AiohttpWire()
        self.cache = self.another_cache()
        self.let_out = asyncio.Event()
        """Requests wait for this before they leave."""
        self.let_out.set()
        self.unanswered = 0
        """So many of the next requests get no answer."""
        self.sent: list[WireRequest] = []
        self.statuses: list[int] = []

    def another_cache(self, **options: Any) -> HttpCache:
        """As another process would have it."""

        def warn(event: str, **facts: Any) -> None:
            self.warnings.append(event)

        return HttpCache(self.folder, self.blobs, self.clock, warn=warn, **options)

    async def send(self, request: WireRequest) -> ServerReply:
        """The rest of the stack, reduced to the wire."""
        self.sent.append(request)
        await self.let_out.wait()
        if self.unanswered:
            self.unanswered -= 1
            raise WireFailure(FailureKind.CUT, "no answer", sent=True)
        reply = await self.wire.send(request)
        self.statuses.append(reply.status)
        return reply

    async def ask(
        self,
        path: str = "/",
        *,
        method: str = "GET",
        partition: str = "ann",
        cache: HttpCache | None = None,
        policy: CachePolicy | None = None,
        caller_body: CallerBody | None = None,
        **headers: str,
    ) -> CacheReply:
        """The reply, its body unread."""
        named = tuple((name.replace("_", "-"), value) for name, value in headers.items())
        request = WireRequest(method, self.provider.url(path), named)
        return await (cache or self.cache).fetch(
            request,
            self.send,
            partition=partition,
            policy=policy or CachePolicy(),
            caller_body=caller_body,
        )

    async def get(self, path: str = "/", **options: Any) -> Got:
        """The answer, read to its end."""
        return await read(await self.ask(path, **options))


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as provider:
        yield provider


@pytest.fixture
async def rig(provider: Provider, tmp_path: Path) -> AsyncIterator[Rig]:
    rig = Rig(provider, tmp_path)
    async with rig.cache:
        yield rig
    await rig.wire.close()
    await rig.blobs.close()
