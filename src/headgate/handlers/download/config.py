"""What a download job may be told."""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from headgate.core.bounds import Patience, Seconds
from headgate.core.content_type import ContentType
from headgate.core.errors import UsageError
from headgate.core.provider import Name
from headgate.core.verification import SizeBounds
from headgate.handlers.download.resolvers.options import Email

NAME: Final = "download"
Bytes = Annotated[int, Meta(ge=0, le=10**15)]


class NameStyle(StrEnum):
    """What files are called."""

    AUTO = "auto"
    """A work by its identifier, a URL as its server or its path calls it."""
    IDENTIFIER = "identifier"
    """All by what was asked for."""
    SERVER = "server"
    """All as the server or the path of the URL calls them."""


class DownloadConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The config of a job of `download`."""

    out: str
    """The folder for the files: an absolute path. It is made if it is not there."""
    email: Email = ""
    """Whom services and hosts may write to; empty: `download.email` of the settings."""
    resolvers: tuple[Name, ...] = ()
    """Whom to ask for places, in this order; empty: all that are on, but nobody about URLs."""
    types: tuple[str, ...] = ()
    """What is kept: `pdf`, `.html`, `text/html`; empty: what the resolver promises, or anything."""
    min_bytes: Bytes = SizeBounds().min_bytes
    """A smaller file is refused."""
    min_pdf_bytes: Bytes = SizeBounds().min_pdf_bytes
    """The same for a PDF: less than this holds no page."""
    max_bytes: Annotated[int, Meta(ge=1, le=10**15)] = SizeBounds().max_bytes
    """A larger file is refused."""
    head: bool = False
    """Ask for the headers first, and for the body only where these fit."""
    names: NameStyle = NameStyle.AUTO
    """What files are called: `auto`, `identifier` or `server`."""
    timeout_s: Seconds = 3_600.0
    """How long one file may take, without the time spent before gates."""
    least_bytes_s: Patience = 100.0
    """A transfer that is slower than this for a minute is given up, to be gone on with later."""

    @property
    def allowed(self) -> frozenset[ContentType]:
        """The types that are kept; none: any."""
        return frozenset(kind for name in self.types for kind in types_named(name))

    @property
    def bounds(self) -> SizeBounds:
        """How large a file may be."""
        return SizeBounds(self.min_bytes, self.min_pdf_bytes, self.max_bytes)


def parse(config: Mapping[str, Any]) -> DownloadConfig:
    """The config of a job; UsageError says what is wrong with it."""
    if not config.get("out"):
        raise UsageError(f"{NAME} needs `out` in the config of the job: the folder for its files")
    try:
        parsed = msgspec.convert(config, DownloadConfig)
    except msgspec.ValidationError as error:
        raise UsageError(f"{NAME}: {error}".replace("`$.", "`")) from None
    if not Path(parsed.out).is_absolute() or "\0" in parsed.out:
        raise UsageError(f"{NAME}: out = {parsed.out!r} must be an absolute path")
    if parsed.max_bytes < parsed.min_bytes:
        raise UsageError(f"{NAME}: max_bytes is less than min_bytes, so no file would do")
    for name in parsed.types:
        if not types_named(name):
            known = ", ".join(kind.extensions[0][1:] for kind in ContentType if kind.extensions)
            raise UsageError(f"{NAME}: no type is called {name!r}; there are {known}")
    return parsed


def types_named(name: str) -> tuple[ContentType, ...]:
    """The types behind `pdf`, `.pdf` or `application/pdf`: XML may be any of its kinds."""
    name = name.strip().lower()
    ending = f".{name.removeprefix('.')}"
    return tuple(kind for kind in ContentType if kind == name or ending in kind.extensions)
