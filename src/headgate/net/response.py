"""Responses as handlers see them."""

import codecs
import json
from collections.abc import AsyncIterator, Mapping
from email.message import Message
from typing import Any, Self

import msgspec

from headgate.core.call import CallKind
from headgate.core.fault import AttemptOver, Fault, FaultClass, is_retryable_status
from headgate.core.outcome import NotFound, Outcome
from headgate.core.url import short_url
from headgate.net.cache import CacheReply
from headgate.net.fields import Fields
from headgate.ports.wire import Headers

_decode = msgspec.json.Decoder().decode


class BadStatus(AttemptOver):
    """The response is not a success; uncaught, this error ends the attempt correctly."""

    def __init__(self, response: "ResponseHead") -> None:
        super().__init__(meaning_of(response.status_code, response.url))
        self.response = response


class BodyTooLarge(AttemptOver):
    """The response is larger than what may be held in memory."""

    def __init__(self, url: str, limit: int) -> None:
        reason = (
            f"{short_url(url)} answered with more than {limit:,} bytes. Stream it with"
            "  ctx.http.stream(), or raise a limit: reply_bytes of the lookup, max_bytes of the"
            " request, net.body_bytes in the settings"
        )
        super().__init__(Fault(FaultClass.PERMANENT, reason))


def meaning_of(status: int, url: str) -> Outcome | Fault:
    reason = f"{short_url(url)} answered {status}"
    if status in {404, 410}:
        return NotFound(reason)
    if status == 429:
        return Fault(FaultClass.THROTTLED, reason)
    if is_retryable_status(status):
        return Fault(FaultClass.TRANSIENT, reason)
    return Fault(FaultClass.PERMANENT, reason)


class ResponseHead:
    __slots__ = ("_fields", "_headers", "status_code", "url")

    def __init__(self, status: int, headers: Headers, url: str) -> None:
        self.status_code = status
        self.url = url
        """The URL after all redirects."""
        self._headers = headers
        self._fields: Fields | None = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.status_code} {short_url(self.url)}>"

    @property
    def headers(self) -> Mapping[str, str]:
        if self._fields is None:
            self._fields = Fields(self._headers)
        return self._fields

    @property
    def is_success(self) -> bool:
        return 200 <= self.status_code < 300

    def raise_for_status(self) -> Self:
        """Return the response if it is a success; raise BadStatus otherwise."""
        if not self.is_success:
            raise BadStatus(self)
        return self

    async def aclose(self) -> None:
        """Release the connection and the permit, if they are still held."""


class ReadResponse(ResponseHead):
    __slots__ = ("content", "from_cache")

    def __init__(
        self, status: int, headers: Headers, url: str, content: bytes, *, from_cache: bool = False
    ) -> None:
        super().__init__(status, headers, url)
        self.content = content
        self.from_cache = from_cache
        """Whether the body came from the cache."""

    @property
    def text(self) -> str:
        return self.content.decode(self._charset(), errors="replace")

    def json(self) -> Any:
        try:
            return _decode(self.content)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return self._lenient_json()

    def _lenient_json(self) -> Any:
        """Accept what other clients read as well: NaN, a byte order mark, UTF-16."""
        try:
            return json.loads(self.content)
        except (ValueError, RecursionError):
            reason = (
                f"{short_url(self.url)} answered {self.status_code} with a body that is not JSON"
            )
            raise AttemptOver(Fault(FaultClass.TRANSIENT, reason)) from None

    def _charset(self) -> str:
        message = Message()
        message["content-type"] = self.headers.get("content-type", "")
        named = message.get_param("charset", "utf-8")
        try:
            return codecs.lookup(str(named)).name
        except LookupError:
            return "utf-8"


class OpenResponse(ResponseHead):
    __slots__ = ("_reply",)

    def __init__(self, reply: CacheReply, url: str) -> None:
        super().__init__(reply.status, reply.headers, url)
        self._reply = reply

    @property
    def kind(self) -> CallKind:
        return self._reply.kind

    @property
    def kept(self) -> str:
        """The note that was given to `keep`; the caller then has the body, and none comes."""
        return self._reply.kept

    async def keep(self, note: str) -> None:
        """Declare that the body is safe in `kept_in`; the next response has `note` as `kept`."""
        await self._reply.keep(note)

    def aiter_bytes(self) -> AsyncIterator[bytes]:
        return self._reply.chunks()

    async def aread(self) -> bytes:
        return b"".join([chunk async for chunk in self._reply.chunks()])

    async def aclose(self) -> None:
        await self._reply.close()
