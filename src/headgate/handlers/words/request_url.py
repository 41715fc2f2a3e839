"""The URL of a request. Values of rows are quoted, and cannot change the host or the path."""

import re
from typing import Final, NamedTuple
from urllib.parse import quote, unquote

from headgate.core.errors import UsageError
from headgate.core.url import BadUrl, parse_origin, split_origin
from headgate.handlers.words.template import Part, Placeholder, Row, Template, Unasked

_SCHEME: Final = re.compile(r"https?://", re.IGNORECASE)
_END: Final = re.compile(r"[/?#\\]")
_ODD: Final = re.compile(r"[\x00-\x20\x7f\\]")
_SEPARATORS: Final = re.compile(r"[/\\]")
_HOST: Final = re.compile(r"[\w.-]+(:\d{1,5})?|\[[0-9A-Fa-f:.]+\](:\d{1,5})?")
_DOTS: Final = frozenset({".", ".."})


class RequestUrl(NamedTuple):
    origin: Template
    path: Template
    query: Template

    @property
    def placeholders(self) -> list[Placeholder]:
        return [*self.origin.placeholders, *self.path.placeholders, *self.query.placeholders]

    @property
    def fixed(self) -> str:
        """The origin, if no row changes it; else empty."""
        return "" if self.origin.placeholders else self.origin.text({})

    def url(self, row: Row) -> str:
        """Return the URL for a row; Unasked if a value would change the host or the path."""
        path = "".join(self._in_path(part, row) for part in self.path.parts)
        if any(unquote(segment) in _DOTS for segment in path.split("/")):
            raise Unasked(f"{self.path.where}: a value of . or .. would lead to another path")
        query = "".join(self._quoted(part, row) for part in self.query.parts)
        return f"{self._where_to(row)}{path}{query}"

    def _where_to(self, row: Row) -> str:
        """The origin; a row gives a whole URL, or a host in the place of one."""
        first, *_ = self.origin.parts
        whole = isinstance(first, Placeholder)
        for part in self.origin.parts[1 if whole else 0 :]:
            value = "" if isinstance(part, str) else part.text(row, self.origin.where)
            if value and not _HOST.fullmatch(value):
                raise Unasked(f"{self.origin.where}: {value[:100]!r} is not a host")
        text = self.origin.text(row)
        if not whole or not (self.path.parts or self.query.parts):
            return text
        if "?" in text or "#" in text:
            raise Unasked(f"{self.origin.where}: {text[:100]!r} is not the beginning of a URL")
        return text.removesuffix("/")

    def _in_path(self, part: Part, row: Row) -> str:
        if isinstance(part, Placeholder):
            value = part.text(row, self.path.where)
            # Some servers treat even the quoted form as a parent folder.
            if not _DOTS.isdisjoint(_SEPARATORS.split(value)):
                raise Unasked(f"{self.path.where}: {value[:100]!r} would lead to another path")
        return self._quoted(part, row)

    def _quoted(self, part: Part, row: Row) -> str:
        if isinstance(part, str):
            return part
        return quote(part.text(row, self.path.where), safe="")


def request_url(template: Template, *, host_from_data: bool) -> RequestUrl:
    """Split a URL; UsageError if it is not valid, or if rows could change its host."""
    where = template.where
    origin, rest = _split_origin(template)
    if any(isinstance(part, Placeholder) for part in origin):
        if not host_from_data:
            raise UsageError(
                f"{where}: a column is in the place of the host, so rows would choose the host; put"
                "  it after the / behind the host, or allow it: host_from_data = true",
            )
    else:
        _check_origin("".join(map(str, origin)), where)
    path, query = _split_at(rest, "?")
    _check_rest(path, query, where)
    return RequestUrl(Template(origin, where), Template(path, where), Template(query, where))


def _split_origin(template: Template) -> tuple[list[Part], list[Part]]:
    first = template.parts[0] if template.parts else ""
    if isinstance(first, Placeholder):
        # The column gives a URL, or the beginning of one; what follows is path and query.
        return [first], list(template.parts[1:])
    scheme = _SCHEME.match(first)
    if scheme is None:
        raise UsageError(f"{template.where}: a URL begins with http:// or https://")
    origin: list[Part] = [scheme[0]]
    parts = [first[scheme.end() :], *template.parts[1:]]
    for index, part in enumerate(parts):
        if isinstance(part, str) and (end := _END.search(part)):
            place = end.start()
            return [*origin, part[:place]], [part[place:], *parts[index + 1 :]]
        origin.append(part)
    return origin, ["/"]


def _split_at(parts: list[Part], mark: str) -> tuple[list[Part], list[Part]]:
    for index, part in enumerate(parts):
        if isinstance(part, str) and mark in part:
            before, _, after = part.partition(mark)
            return [*parts[:index], before], [mark + after, *parts[index + 1 :]]
    return parts, []


def _check_origin(origin: str, where: str) -> None:
    try:
        parse_origin(split_origin(origin)[0])
    except BadUrl as error:
        raise UsageError(f"{where}: {error}") from None


def _check_rest(path: list[Part], query: list[Part], where: str) -> None:
    literal = "".join(part if isinstance(part, str) else "x" for part in [*path, *query])
    if "#" in literal:
        raise UsageError(f"{where}: the part after # is never sent; leave it out")
    if odd := _ODD.search(literal):
        raise UsageError(
            f"{where}: {odd[0]!r} is not allowed in a URL; write it as %{ord(odd[0]):02X}"
        )
    segments = "".join(part if isinstance(part, str) else "x" for part in path).split("/")
    if not _DOTS.isdisjoint(map(unquote, segments)):
        raise UsageError(f"{where}: write the path without . and ..")
