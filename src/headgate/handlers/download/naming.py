"""What a file is called: by what was asked for, or as the server or the URL calls it."""

import re
from typing import Final
from urllib.parse import unquote, urlsplit

from headgate.core.content_type import ContentType
from headgate.core.file_name import file_name
from headgate.handlers.download.config import NameStyle
from headgate.handlers.download.identifier import Identifier, Kind

_EXTENDED: Final = re.compile(r"(?:^|;)\s*filename\*\s*=\s*([\w-]+)'[^']*'([^;\s]+)", re.IGNORECASE)
_QUOTED: Final = re.compile(r'(?:^|;)\s*filename\s*=\s*"((?:[^"\\]|\\.)*)"', re.IGNORECASE)
_PLAIN: Final = re.compile(r"(?:^|;)\s*filename\s*=\s*([^\";\s][^;]*)", re.IGNORECASE)


def name_for(
    identifier: Identifier, style: NameStyle, url: str, disposition: str, found: ContentType
) -> str:
    """The name of a file that came from `url`, ending as its content calls for."""
    by_identifier = style is NameStyle.IDENTIFIER or (
        style is NameStyle.AUTO and identifier.kind is not Kind.URL
    )
    if by_identifier and identifier.kind is not Kind.URL:
        suggested = identifier.value
    elif by_identifier:
        suggested = _in_url(identifier.value)
    else:
        suggested = told_name(disposition) or _in_url(url)
    return file_name(suggested, found.extensions)


def told_name(disposition: str) -> str:
    """The name in a `Content-Disposition` header, without folders; empty if there is none."""
    if extended := _EXTENDED.search(disposition):
        try:
            return _last(unquote(extended[2], extended[1], "strict"))
        except (LookupError, UnicodeDecodeError):
            pass  # the plain one beside it may do
    if quoted := _QUOTED.search(disposition):
        return _last(re.sub(r"\\(.)", r"\1", _decoded(quoted[1])))
    plain = _PLAIN.search(disposition)
    return _last(_decoded(plain[1].strip())) if plain else ""


def _in_url(url: str) -> str:
    parts = urlsplit(url)
    return _last(unquote(parts.path)) or parts.netloc


def _decoded(text: str) -> str:
    """Headers come as Latin-1, but most servers mean UTF-8."""
    try:
        return text.encode("latin-1").decode()
    except UnicodeError:
        return text


def _last(path: str) -> str:
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2]
