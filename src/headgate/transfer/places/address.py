"""What the URL of a source says: who, where, which file."""

import re
from typing import Final
from urllib.parse import SplitResult, quote, unquote, urlsplit

import msgspec

from headgate.core.errors import BadSource
from headgate.core.redact_values import without_secrets

PORTS: Final = {"ftp": 21, "ftps": 990, "sftp": 22}
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_UNFIT: Final = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|]')
_LONGEST = 200
"""Bytes of a file name; file systems take 255, and endings are added."""


class SourceAddress(msgspec.Struct, frozen=True):
    """A file or folder on a server."""

    url: str
    scheme: str
    host: str
    port: int
    path: str
    """From the root of the server, its escapes undone."""
    user: str = ""
    password: str = ""

    def __repr__(self) -> str:
        return f"Address({without_secrets(self.url)!r})"

    def inside(self, name: str) -> str:
        """The URL of a file in this folder."""
        parts = urlsplit(self.url)
        path = f"{self.path.rstrip('/')}/{name}"
        return parts._replace(path=quote(path, safe="/~"), query="", fragment="").geturl()


def parse_address(url: str) -> SourceAddress:
    """The parts of an `ftp:`, `ftps:` or `sftp:` URL; BadSource if it has not all of them."""
    try:
        parts = urlsplit(checked(url))
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise BadSource(f"{without_secrets(url)} is no URL: {error}") from None
    if not host:
        raise BadSource(f"{without_secrets(url)} names no host")
    path = unquote(_raw_path(parts))
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    for what, text in (("path", path), ("user", user), ("password", password)):
        if _CONTROL.search(text):
            raise BadSource(f"{without_secrets(url)} has a control character in its {what}")
    return SourceAddress(
        url, parts.scheme, host, port or PORTS[parts.scheme], path or "/", user, password
    )


def checked(url: str) -> str:
    """The URL, or BadSource if it holds what some would drop and others send along."""
    if _CONTROL.search(url):
        raise BadSource("a URL may not hold line breaks or other control characters")
    return url


def _raw_path(parts: SplitResult) -> str:
    # These schemes know no query: a question mark that nobody escaped belongs to the name.
    query = f"?{parts.query}" if parts.query else ""
    fragment = f"#{parts.fragment}" if parts.fragment else ""
    return f"{parts.path}{query}{fragment}"


def plain_name(text: str) -> str:
    """The last part of a path or a name from elsewhere, fit for a local file."""
    last = text.replace("\\", "/").rstrip("/").rpartition("/")[2]
    fit = _UNFIT.sub("_", last).encode("utf-8", "replace")[-_LONGEST:].decode("utf-8", "ignore")
    return fit if fit.strip(" .") else "unnamed"


def is_plain(name: str) -> bool:
    """Whether a folder may list this as the name of a file in it."""
    return name not in {"", ".", ".."} and "/" not in name and not _CONTROL.search(name)
