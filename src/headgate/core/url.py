"""URLs in one normal form: the same target has the same text."""

import re
from functools import lru_cache
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Final, Protocol
from urllib.parse import quote

import msgspec

from headgate.core.fault import AttemptOver, Fault, FaultClass

DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_AUTHORITY: Final = re.compile(r"(https?)://([^/?#\\]*)", re.IGNORECASE)
_ODD: Final = re.compile(r"[^A-Za-z0-9_~:@!$&'()*+,;=/?.%-]|%(?![0-9A-F]{2})|/\.")
"""Text that needs normalizing: a character to quote, a lone or lower-case escape, perhaps a dot
segment."""
_HOST: Final = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*")
_NUMBER: Final = re.compile(r"0x[0-9a-f]*|[0-9]+")
_PORT: Final = re.compile(r"[0-9]{1,5}")
_ESCAPE: Final = re.compile(r"%([0-9A-Fa-f]{2})")
_SAFE_IN_PATH: Final = "/:@!$&'()*+,;=-._~%"
_SAFE_IN_QUERY: Final = _SAFE_IN_PATH + "?"


class BadUrl(AttemptOver):
    """A URL that cannot be fetched; no retry will change that."""

    code = "bad-url"

    def __init__(self, url: str, problem: str) -> None:
        super().__init__(
            Fault(FaultClass.PERMANENT, f"{short_url(url)!r} is not a URL to fetch: {problem}")
        )


class SuffixList(Protocol):
    def privatesuffix(self, domain: str) -> str | None:
        """The registered name that a domain belongs to; None for a public suffix itself."""
        ...


class UrlOrigin(msgspec.Struct, frozen=True):
    scheme: str
    host: str
    """A name in lower case and ASCII, or an address in its usual form (IPv6 without brackets)."""
    port: int
    is_address: bool = False

    @property
    def key(self) -> str:
        """`host:port` without the default port: the name of gates and records."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return name if self.port == DEFAULT_PORTS[self.scheme] else f"{name}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.key}"


def split_origin(url: str) -> tuple[str, str]:
    """Scheme and authority of a URL, as written, and the rest; BadUrl without them."""
    url = url.strip()
    match = _AUTHORITY.match(url)
    if match is None:
        raise BadUrl(url, "it must begin with http:// or https://")
    return match[0], url[match.end() :]


@lru_cache(maxsize=4_096)
def parse_origin(where: str) -> UrlOrigin:
    scheme, _, authority = where.partition("://")
    if "@" in authority:
        raise BadUrl(where, "it may not carry a user or a password; declare a credential instead")
    scheme = scheme.lower()
    name, port = _split_port(where, authority)
    host, is_address = _host(where, name)
    return UrlOrigin(scheme, host, DEFAULT_PORTS[scheme] if port is None else port, is_address)


def normalize_rest(rest: str) -> str:
    """Path and query, quoted where they must be, without dot segments and fragment."""
    if rest.startswith("/") and not _ODD.search(rest):
        return rest
    path, question, query = rest.partition("#")[0].partition("?")
    path = _without_dots("/" + _requoted(path, _SAFE_IN_PATH).removeprefix("/"))
    return f"{path}{question}{_requoted(query, _SAFE_IN_QUERY)}"


def normalize(url: str) -> str:
    """The URL in its normal form; BadUrl if it has none."""
    where, rest = split_origin(url)
    return f"{parse_origin(where)}{normalize_rest(rest)}"


def host_key(text: str) -> str:
    """A `host` or `host:port` as a user writes it, in the form of `UrlOrigin.key`."""
    return parse_origin(f"https://{text.strip()}").key


def registrable_domain(origin: UrlOrigin, suffixes: SuffixList) -> str:
    """The registered name, which groups its hosts; an address is its own domain."""
    if origin.is_address:
        return origin.host
    return suffixes.privatesuffix(origin.host) or origin.host


def short_url(url: str) -> str:
    """A URL for messages: without password and query, at most 200 characters."""
    where, _, _ = url.partition("?")
    scheme, separator, rest = where.partition("://")
    authority, slash, path = rest.partition("/")
    return f"{scheme}{separator}{authority.rpartition('@')[2]}{slash}{path}"[:200]


def _split_port(where: str, authority: str) -> tuple[str, int | None]:
    name, colon, port = authority.rpartition(":")
    if not colon or "]" in port:
        return authority, None
    if not port:
        return name, None
    if not _PORT.fullmatch(port) or not 0 < int(port) < 65_536:
        raise BadUrl(where, f"{port!r} is not a port")
    return name, int(port)


def _host(where: str, name: str) -> tuple[str, bool]:
    if name.startswith("[") and name.endswith("]"):
        return _ipv6(where, name[1:-1]), True
    host = _in_ascii(where, name).removesuffix(".")
    labels = host.split(".")
    # As browsers do: a host whose last label is a number is an address, in any notation.
    if _NUMBER.fullmatch(labels[-1]):
        return _ipv4(where, labels), True
    if len(host) > 253 or not _HOST.fullmatch(host):
        raise BadUrl(where, "it names no host" if not host else f"{host!r} is not a host name")
    return host, False


def _in_ascii(where: str, name: str) -> str:
    if name.isascii():
        return name.lower()
    import idna  # noqa: PLC0415  its tables take a while to load, and few hosts need them

    try:
        return idna.encode(name, uts46=True, transitional=False).decode()
    except idna.IDNAError as error:
        raise BadUrl(where, f"{name!r} is not a host name: {error}") from error


def _ipv6(where: str, name: str) -> str:
    try:
        return IPv6Address(name).compressed
    except AddressValueError as error:
        raise BadUrl(where, f"{name!r} is not an IPv6 address") from error


def _ipv4(where: str, labels: list[str]) -> str:
    """The address behind 127.1, 2130706433, 0x7f.1 or 0177.0.0.1, as every C library reads it."""
    problem = f"{'.'.join(labels)!r} is not an IPv4 address"
    if len(labels) > 4 or not all(_NUMBER.fullmatch(label) for label in labels):
        raise BadUrl(where, problem)
    try:
        *first, last = (_number(label) for label in labels)
    except ValueError as error:
        raise BadUrl(where, problem) from error
    if any(part > 255 for part in first) or last >= 256 ** (4 - len(first)):
        raise BadUrl(where, problem)
    value = sum(part << (24 - 8 * place) for place, part in enumerate(first)) + last
    return str(IPv4Address(value))


def _number(label: str) -> int:
    if label.startswith("0x"):
        return int(label[2:] or "0", 16)
    return int(label, 8 if label.startswith("0") else 10)


def _without_dots(path: str) -> str:
    if "/." not in path:
        return path
    kept: list[str] = []
    segments = path.split("/")[1:]
    for segment in segments:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in {".", ".."}:
        kept.append("")
    return "/" + "/".join(kept)


def _requoted(text: str, safe: str) -> str:
    """Quotes every character that needs it, and nothing twice."""
    quoted = quote(text, safe=safe, errors="replace")
    parts = _ESCAPE.sub(lambda match: f"%{match[1].upper()}", quoted)
    # A lone % is not an escape, but a percent sign.
    return re.sub(r"%(?![0-9A-F]{2})", "%25", parts)
