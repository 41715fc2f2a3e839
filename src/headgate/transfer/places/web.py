"""Files over HTTP: a GET whose redirects are followed here, so that each hop is checked.

HEAD is not used: many servers refuse it, and a presigned URL is valid only for GET.
"""

import http.client
import re
import socket
import zlib
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Final, NamedTuple
from urllib.parse import unquote, urljoin, urlsplit

from headgate.core.errors import BadSource, SourceUnreachable
from headgate.core.redact_values import without_secrets
from headgate.core.url import BadUrl, UrlOrigin, normalize_rest, parse_origin, split_origin
from headgate.ports.source import FoundFile
from headgate.transfer.places.address import checked, plain_name
from headgate.transfer.places.driver import BLOCK, KeptCopy, Opening
from headgate.transfer.places.sockets import GuardedSockets

_CONTENT_RANGE: Final = re.compile(r"bytes (?:(\d+)-\d+|\*)/(\d+|\*)", re.IGNORECASE)
_GZIP: Final = frozenset({"gzip", "x-gzip"})
_PLAIN: Final = frozenset({"", "identity"})
UNSATISFIABLE: Final = 416


class GetReply:
    def __init__(self, response: http.client.HTTPResponse, url: str) -> None:
        self._response = response
        self.url = url
        """URL after all redirects."""
        self.status = response.status
        self.headers = response.headers
        self.location = response.headers.get("location", "")

    @property
    def offset(self) -> int:
        return (self._range()[0] or 0) if self.status == 206 else 0

    @property
    def size(self) -> int | None:
        """Size of the file; None if the reply does not state it."""
        if self.status == 206:
            return self._range()[1]
        return None if self._is_packed() else self._response.length

    @property
    def version(self) -> str:
        """ETag or date that changes with the file; empty if there is neither."""
        return self.headers.get("etag") or self.headers.get("last-modified") or ""

    def continues(self, kept: KeptCopy) -> bool:
        """True if the body starts at 0 or right after the kept copy; some servers get it wrong."""
        if self.status == UNSATISFIABLE:
            return self._range() == (None, kept.size)
        if self.status == 206:
            return self._range()[0] == kept.size and self.version in {"", kept.version}
        return True

    def raise_for_status(self, ranged: bool) -> None:  # noqa: FBT001 (a property of the request)
        """Raise unless the reply contains a file."""
        status, place = self.status, without_secrets(self.url)
        if status == 200 or (ranged and status in {206, UNSATISFIABLE}):
            self._raise_if_cut()
            return
        if status in {404, 410}:
            raise FileNotFoundError
        if status in {401, 403}:
            raise PermissionError(f"the server answered {status}")
        if status in {408, 425, 429} or status >= 500:
            raise SourceUnreachable(f"{place} cannot be read now: the server answered {status}")
        raise BadSource(f"{place} answered {status}, which is not a file")

    def pieces(self) -> Iterator[bytes]:
        encoding = self.headers.get("content-encoding", "").strip().lower()
        if encoding not in _PLAIN | _GZIP or (encoding in _GZIP and self.status == 206):
            raise BadSource(
                f"the server compressed the file with {encoding}, which was not requested"
            )
        body = iter(lambda: self._response.read1(BLOCK), b"")
        return _unpacked(body) if encoding in _GZIP else body

    def _raise_if_cut(self) -> None:
        """A header that breaks off looks like one without a length and with an empty body."""
        response = self._response
        if response.length is None and not response.chunked and not response.peek(1):
            raise ConnectionError("the reply was cut off")

    def _is_packed(self) -> bool:
        return self.headers.get("content-encoding", "").strip().lower() not in _PLAIN

    def _range(self) -> tuple[int | None, int | None]:
        found = _CONTENT_RANGE.fullmatch(self.headers.get("content-range", "").strip())
        if found is None:
            raise SourceUnreachable(
                "the server sent a part of the file without a valid Content-Range"
            )
        start, total = found.groups()
        return int(start) if start else None, int(total) if total != "*" else None


def _unpacked(body: Iterator[bytes]) -> Iterator[bytes]:
    """Some servers compress without being asked; a block may unpack to many, yielded singly."""
    gzip = zlib.decompressobj(16 + zlib.MAX_WBITS)
    try:
        for packed in body:
            piece = gzip.decompress(packed, BLOCK)
            while piece:
                yield piece
                piece = gzip.decompress(gzip.unconsumed_tail, BLOCK)
    except zlib.error:
        raise SourceUnreachable("the compressed reply is damaged") from None
    if not gzip.eof:
        raise ConnectionError("the reply was cut off")


REDIRECTS: Final = 5
_MOVED: Final = frozenset({301, 302, 303, 307, 308})


class _Target(NamedTuple):
    """Destination of one request."""

    origin: UrlOrigin
    rest: str
    authorization: str = ""


class WebDriver:
    """Reads `http:` and `https:` URLs, with one connection for each request."""

    def __init__(self, dialer: GuardedSockets) -> None:
        self._dialer = dialer

    def find(self, url: str) -> FoundFile:
        with self._get(url, {}) as reply:
            return _found(url, reply)

    def files(self, url: str) -> Iterator[FoundFile]:
        """Always raises: HTTP has no folders."""
        raise BadSource(f"{without_secrets(url)} cannot be listed; HTTP has only single files")

    @contextmanager
    def open(self, url: str, kept: KeptCopy) -> Iterator[Opening]:
        """Begin to read, after the kept copy if the server still has its version."""
        with ExitStack() as stack:
            reply = stack.enter_context(self._get(url, _range_headers(kept)))
            if not reply.continues(kept):
                stack.close()
                reply = stack.enter_context(self._get(url, {}))
            if reply.status == UNSATISFIABLE:  # the copy is complete already
                found = FoundFile(url, _name(url, reply), kept.size, kept.version)
                yield Opening(found, kept.size, iter(()))
            else:
                found = _found(url, reply, kept.version if reply.offset else "")
                yield Opening(found, reply.offset, reply.pieces(), self._version_now(url, found))

    def _version_now(self, url: str, found: FoundFile) -> Callable[[], str] | None:
        """A plain web server may send a mix of old and new bytes while a file is replaced."""
        if not found.version.startswith('"'):
            return None  # a weak ETag or a date may change for the same bytes

        def ask() -> str:
            try:
                return self.find(url).version
            except (BadSource, OSError):
                return found.version  # the link may have expired; the copy is complete

        return ask

    @contextmanager
    def _get(self, url: str, headers: Mapping[str, str]) -> Iterator[GetReply]:
        target = parse_target(url)
        with _as_os_errors(), ExitStack() as stack:
            for _ in range(REDIRECTS + 1):
                reply = stack.enter_context(self._request(target, headers))
                if reply.status not in _MOVED or not reply.location:
                    reply.raise_for_status(bool(headers))
                    yield reply
                    return
                stack.close()
                target = _next(target, reply.location)
            raise BadSource(f"{without_secrets(url)} redirects more than {REDIRECTS} times")

    @contextmanager
    def _request(self, target: _Target, headers: Mapping[str, str]) -> Iterator[GetReply]:
        origin = target.origin
        connection = http.client.HTTPConnection(origin.host, origin.port)
        try:
            connection.sock = self._connected(origin)
            sent = {"Host": origin.key, "User-Agent": "headgate", "Accept": "*/*", **headers}
            if target.authorization:
                sent["Authorization"] = target.authorization
            connection.request("GET", target.rest, headers=sent)
            with connection.getresponse() as response:
                yield GetReply(response, f"{origin}{target.rest}")
        finally:
            connection.close()

    def _connected(self, origin: UrlOrigin) -> socket.socket:
        connection = self._dialer.dial(origin.host, origin.port)
        if origin.scheme == "http":
            return connection
        try:
            return self._dialer.tls().wrap_socket(connection, server_hostname=origin.host)
        except BaseException:
            connection.close()
            raise


def parse_target(url: str) -> _Target:
    try:
        where, rest = split_origin(checked(url))
        scheme, _, authority = where.partition("://")
        credentials, _, place = authority.rpartition("@")
        origin = parse_origin(f"{scheme}://{place}")
    except BadUrl as error:
        raise BadSource(str(error)) from None
    return _Target(origin, normalize_rest(rest), _basic(credentials))


def _basic(credentials: str) -> str:
    if not credentials:
        return ""
    user, _, password = credentials.partition(":")
    pair = f"{unquote(user)}:{unquote(password)}"
    return f"Basic {b64encode(pair.encode()).decode()}"


def _next(target: _Target, location: str) -> _Target:
    """The destination of a redirect; credentials are not sent to another host."""
    following = parse_target(urljoin(f"{target.origin}{target.rest}", location))
    if target.origin.scheme == "https" and following.origin.scheme == "http":
        raise BadSource(f"{target.origin} redirects from https to http, which is not encrypted")
    if following.origin == target.origin:
        return following._replace(authorization=target.authorization)
    return following._replace(authorization="")


def _range_headers(kept: KeptCopy) -> dict[str, str]:
    # A weak ETag does not promise equal bytes, so nothing can be appended to the kept copy.
    if not kept.size or kept.version.startswith("W/"):
        return {}
    return {"Range": f"bytes={kept.size}-", "If-Range": kept.version}


def _found(url: str, reply: GetReply, known: str = "") -> FoundFile:
    changed = reply.headers.get("last-modified", "")
    return FoundFile(
        url,
        _name(url, reply),
        reply.size,
        reply.version or known,
        _moment(changed),
        whole=True,
    )


def _name(url: str, reply: GetReply) -> str:
    path = urlsplit(reply.url).path.rstrip("/") or urlsplit(url).path
    return plain_name(reply.headers.get_filename() or unquote(path))


def _moment(changed: str) -> int | None:
    try:
        return int(parsedate_to_datetime(changed).astimezone(UTC).timestamp()) * 1_000_000
    except ValueError:
        return None


@contextmanager
def _as_os_errors() -> Iterator[None]:
    try:
        yield
    except http.client.IncompleteRead:
        raise ConnectionError("the reply was cut off") from None
    except http.client.RemoteDisconnected:
        raise ConnectionError("the server closed the connection without a reply") from None
    except http.client.HTTPException as error:
        words = f"the server's reply is not valid HTTP ({type(error).__name__})"
        raise SourceUnreachable(words) from None
