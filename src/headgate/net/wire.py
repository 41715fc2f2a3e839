"""The wire over aiohttp: one request out, one reply in, and nothing it was not told to do."""

import asyncio
from collections.abc import AsyncIterator

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from headgate.core.ending import AttemptOver
from headgate.core.url import shown
from headgate.net.failure import FailureKind, WireFailure
from headgate.net.guard import GuardedResolver, guarded_socket
from headgate.ports.wire import Headers, Patience, WireRequest

AUTOMATIC = ("User-Agent", "Accept", "Accept-Encoding", "Content-Type")
"""What aiohttp would add by itself; a request carries what its maker put there."""
TROUBLE = (aiohttp.ClientError, OSError, asyncio.TimeoutError)


class AiohttpReply:
    """The head of a reply over aiohttp."""

    __slots__ = ("_patience", "_response", "_url", "status")

    def __init__(self, response: aiohttp.ClientResponse, request: WireRequest) -> None:
        self._response = response
        self._url = request.url
        self._patience = request.patience
        self.status = response.status

    @property
    def headers(self) -> Headers:
        """As they came."""
        return [(name.lower(), value) for name, value in self._response.headers.items()]

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body as it arrives, with its content encoding undone."""
        try:
            async for chunk in self._response.content.iter_any():
                yield chunk
        except TROUBLE as error:
            raise failure_of(error, self._url, self._patience) from None

    async def close(self) -> None:
        """Give the connection back, or drop it if the body was not read to its end."""
        self._response.release()


class AiohttpWire:
    """Sends requests over one shared pool of connections, and guarded ones over another."""

    def __init__(self, *, allow_private: bool = False) -> None:
        self._allow_private = allow_private
        self._open: aiohttp.ClientSession | None = None
        self._guarded: aiohttp.ClientSession | None = None
        self._timeouts: dict[Patience, aiohttp.ClientTimeout] = {}

    async def send(self, request: WireRequest) -> AiohttpReply:
        """Return when the head of the reply is there; WireFailure or AddressRefused otherwise."""
        try:
            response = await self._session(request).request(
                request.method,
                URL(request.url, encoded=True),
                headers=CIMultiDict(request.headers),
                data=request.body,
                allow_redirects=False,
                timeout=self._timeout(request.patience),
            )
        except AttemptOver:
            raise
        except TROUBLE as error:
            # Without its cause: aiohttp's words name the whole URL, in which a key may stand.
            raise failure_of(error, request.url, request.patience) from None
        return AiohttpReply(response, request)

    async def close(self) -> None:
        """Close every connection."""
        for session in (self._open, self._guarded):
            if session is not None:
                await session.close()
        self._open = self._guarded = None

    def _session(self, request: WireRequest) -> aiohttp.ClientSession:
        if request.guarded and not self._allow_private:
            if self._guarded is None:
                self._guarded = _session(
                    aiohttp.TCPConnector(
                        limit=0, resolver=GuardedResolver(), socket_factory=guarded_socket
                    )
                )
            return self._guarded
        if self._open is None:
            self._open = _session(
                aiohttp.TCPConnector(limit=0, resolver=aiohttp.ThreadedResolver())
            )
        return self._open

    def _timeout(self, patience: Patience) -> aiohttp.ClientTimeout:
        found = self._timeouts.get(patience)
        if found is None:
            found = aiohttp.ClientTimeout(
                total=patience.total_s,
                connect=patience.connect_s,
                sock_read=patience.read_s,
            )
            if len(self._timeouts) < 1_000:
                self._timeouts[patience] = found
        return found


def _session(connector: aiohttp.TCPConnector) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        skip_auto_headers=AUTOMATIC,
        trust_env=False,
    )


def failure_of(error: BaseException, url: str, patience: Patience) -> WireFailure:
    """What an error of aiohttp means, in words that tell no secrets."""
    place = shown(url)
    match error:
        case aiohttp.ConnectionTimeoutError():
            words = f"no connection to {place} within {patience.connect_s:g} s"
            return WireFailure(FailureKind.TIMEOUT, words, sent=False)
        case aiohttp.SocketTimeoutError():
            words = f"{place} was silent for {patience.read_s:g} s"
            return WireFailure(FailureKind.TIMEOUT, words, sent=True)
        case asyncio.TimeoutError():
            words = f"{place} took longer than {patience.total_s or 0:g} s"
            return WireFailure(FailureKind.TIMEOUT, words, sent=True)
        case aiohttp.ClientConnectorDNSError():
            return WireFailure(FailureKind.DNS, f"no address is known for {place}", sent=False)
        case aiohttp.ClientSSLError():
            words = f"no secure connection to {place}: {_why(error)}"
            return WireFailure(FailureKind.TLS, words, sent=False)
        case aiohttp.ClientConnectorError():
            words = f"no connection to {place}: {_why(error)}"
            return WireFailure(FailureKind.CONNECT, words, sent=False)
        case aiohttp.ClientPayloadError():
            return WireFailure(FailureKind.CUT, f"{place} cut its answer short", sent=True)
        case aiohttp.ClientConnectionError() | OSError():
            words = f"{place} closed the connection without an answer"
            return WireFailure(FailureKind.CUT, words, sent=True)
        case _:
            words = f"{place} does not speak HTTP as it should: {type(error).__name__}"
            return WireFailure(FailureKind.PROTOCOL, words, sent=True)


def _why(error: aiohttp.ClientConnectorError | aiohttp.ClientSSLError) -> str:
    cause = getattr(error, "os_error", None) or getattr(error, "certificate_error", None)
    return str(getattr(cause, "strerror", None) or getattr(cause, "reason", None) or "refused")
