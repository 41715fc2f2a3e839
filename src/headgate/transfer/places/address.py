"""The parts of a source's URL, and names that are safe for local files."""

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
"""Bytes of a file name; file systems allow 255, and suffixes are added."""


class SourceAddress(msgspec.Struct, frozen=True):
    url: str
    scheme: str
    host: str
    port: int
    path: str
    """Path from the root of the server, unescaped."""
    user: str = ""
    password: str = ""

    def __repr__(self) -> str:
        return f"Address({without_secrets(self.url)!r})"

    def inside(self, name: str) -> str:
        parts = urlsplit(self.url)
        path = f"{self.path.rstrip('/')}/{name}"
        return parts._replace(path=quote(path, safe="/~"), query="", fragment="").geturl()


def parse_address(url: str) -> SourceAddress:
    """The parts of an `ftp:`, `ftps:` or `sftp:` URL; BadSource if it is incomplete."""
    try:
        parts = urlsplit(checked(url))
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise BadSource(f"{without_secrets(url)} is not a URL: {error}") from None
    if not host:
        raise BadSource(f"{without_secrets(url)} has no host")
    path = unquote(_raw_path(parts))
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    for what, text in (("path", path), ("user", user), ("password", password)):
        if _CONTROL.search(text):
            raise BadSource(f"{without_secrets(url)} has a control character in its {what}")
    return SourceAddress(
        url, parts.scheme, host, port or PORTS[parts.scheme], path or "/", user, password
    )


def checked(url: str) -> str:
    """The URL; BadSource for control characters, which some programs drop and others send."""
    if _CONTROL.search(url):
        raise BadSource("a URL may not contain line breaks or other control characters")
    return url


def _raw_path(parts: SplitResult) -> str:
    # These schemes have no query: an unescaped question mark belongs to the name.
    query = f"?{parts.query}" if parts.query else ""
    fragment = f"#{parts.fragment}" if parts.fragment else ""
    return f"{parts.path}{query}{fragment}"


def plain_name(text: str) -> str:
    """The last part of a path or of a remote name, made safe for a local file."""
    last = text.replace("\\", "/").rstrip("/").rpartition("/")[2]
    fit = _UNFIT.sub("_", last).encode("utf-8", "replace")[-_LONGEST:].decode("utf-8", "ignore")
    return fit if fit.strip(" .") else "unnamed"


def is_plain(name: str) -> bool:
    return name not in {"", ".", ".."} and "/" not in name and not _CONTROL.search(name)
