"""Files over HTTP: one GET, its redirects followed here, so that each hop is checked.

There is no HEAD: many servers refuse it, and a presigned URL is signed for GET alone.
"""

import http.client
import socket
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
from headgate.ports.place import FoundFile
from headgate.transfer.places.address import checked, plain_name
from headgate.transfer.places.carrier import Kept, Opening
from headgate.transfer.places.dialing import Dialer
from headgate.transfer.places.reply import UNSATISFIABLE, Reply

REDIRECTS: Final = 5
_MOVED: Final = frozenset({301, 302, 303, 307, 308})


class _Target(NamedTuple):
    """Where one request goes."""

    origin: UrlOrigin
    rest: str
    authorization: str = ""


class WebCarrier:
    """Reads `http:` and `https:` URLs, a connection for each request."""

    def __init__(self, dialer: Dialer) -> None:
        self._dialer = dialer

    def find(self, url: str) -> FoundFile:
        """The file as the head of the answer tells of it."""
        with self._answer(url, {}) as reply:
            return _found(url, reply)

    def files(self, url: str) -> Iterator[FoundFile]:
        """The web has no folders."""
        raise BadSource(f"{without_secrets(url)} cannot be listed; HTTP knows single files alone")

    @contextmanager
    def open(self, url: str, kept: Kept) -> Iterator[Opening]:
        """Begin to read, in the middle if the server still has what is kept."""
        with ExitStack() as stack:
            reply = stack.enter_context(self._answer(url, _range_headers(kept)))
            if not reply.goes_on(kept):
                stack.close()
                reply = stack.enter_context(self._answer(url, {}))
            if reply.status == UNSATISFIABLE:  # all of it is here already
                found = FoundFile(url, _name(url, reply), kept.size, kept.version)
                yield Opening(found, kept.size, iter(()))
            else:
                found = _found(url, reply, kept.version if reply.offset else "")
                yield Opening(found, reply.offset, reply.pieces(), self._version_now(url, found))

    def _version_now(self, url: str, found: FoundFile) -> Callable[[], str] | None:
        """A plain web server may send a file that is changed meanwhile, old and new mixed."""
        if not found.version.startswith('"'):
            return None  # neither a weak ETag nor a date stays the same for the same bytes

        def ask() -> str:
            try:
                return self.find(url).version
            except (BadSource, OSError):
                return found.version  # a link may have expired; what came was complete

        return ask

    @contextmanager
    def _answer(self, url: str, headers: Mapping[str, str]) -> Iterator[Reply]:
        target = parse_target(url)
        with _as_os_errors(), ExitStack() as stack:
            for _ in range(REDIRECTS + 1):
                reply = stack.enter_context(self._asked(target, headers))
                if reply.status not in _MOVED or not reply.location:
                    reply.raise_for_status(bool(headers))
                    yield reply
                    return
                stack.close()
                target = _next(target, reply.location)
            raise BadSource(f"{without_secrets(url)} leads to more than {REDIRECTS} redirects")

    @contextmanager
    def _asked(self, target: _Target, headers: Mapping[str, str]) -> Iterator[Reply]:
        origin = target.origin
        connection = http.client.HTTPConnection(origin.host, origin.port)
        try:
            connection.sock = self._connected(origin)
            sent = {"Host": origin.key, "User-Agent": "headgate", "Accept": "*/*", **headers}
            if target.authorization:
                sent["Authorization"] = target.authorization
            connection.request("GET", target.rest, headers=sent)
            with connection.getresponse() as response:
                yield Reply(response, f"{origin}{target.rest}")
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
    """Where a URL leads; a user and a password in it become a header."""
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
    """Where a redirect leads; what opens one host stays there."""
    following = parse_target(urljoin(f"{target.origin}{target.rest}", location))
    if target.origin.scheme == "https" and following.origin.scheme == "http":
        raise BadSource(f"{target.origin} leads from https to http, which anybody could read")
    if following.origin == target.origin:
        return following._replace(authorization=target.authorization)
    return following._replace(authorization="")


def _range_headers(kept: Kept) -> dict[str, str]:
    # A weak ETag promises no equal bytes, so nothing can be added to what is kept.
    if not kept.size or kept.version.startswith("W/"):
        return {}
    return {"Range": f"bytes={kept.size}-", "If-Range": kept.version}


def _found(url: str, reply: Reply, known: str = "") -> FoundFile:
    changed = reply.headers.get("last-modified", "")
    return FoundFile(
        url,
        _name(url, reply),
        reply.size,
        reply.version or known,
        _moment(changed),
        whole=True,
    )


def _name(url: str, reply: Reply) -> str:
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
        raise ConnectionError("the answer was cut off") from None
    except http.client.RemoteDisconnected:
        raise ConnectionError("the server hung up without an answer") from None
    except http.client.HTTPException as error:
        words = f"the server does not speak HTTP as it should ({type(error).__name__})"
        raise SourceUnreachable(words) from None
