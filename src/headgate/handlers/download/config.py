"""The config of a download job."""

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
    AUTO = "auto"
    """A work is named by its identifier, a URL by its server or its path."""
    IDENTIFIER = "identifier"
    """Every file is named by its identifier."""
    SERVER = "server"
    """Every file is named by the server or the path of the URL."""


class DownloadConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    out: str
    """The folder for the files: an absolute path. It is made if it does not exist."""
    email: Email = ""
    """A contact address for services and hosts; empty: `download.email` of the settings."""
    resolvers: tuple[Name, ...] = ()
    """Resolvers to ask, in this order; empty: all that are on, and only `direct` for URLs."""
    types: tuple[str, ...] = ()
    """Accepted types: `pdf`, `.html`, `text/html`; empty: what the resolver promises, or any."""
    min_bytes: Bytes = SizeBounds().min_bytes
    """Least bytes of a file; a smaller one is refused."""
    min_pdf_bytes: Bytes = SizeBounds().min_pdf_bytes
    """Least bytes of a PDF; a smaller one holds no page."""
    max_bytes: Annotated[int, Meta(ge=1, le=10**15)] = SizeBounds().max_bytes
    """Most bytes of a file; a larger one is refused."""
    head: bool = False
    """Request the headers first, and the body only if they fit."""
    names: NameStyle = NameStyle.AUTO
    """How files are named: `auto`, `identifier` or `server`."""
    timeout_s: Seconds = 3_600.0
    """Most seconds for one file, without the time spent waiting at gates."""
    least_bytes_s: Patience = 100.0
    """Least bytes per second over a minute; a slower transfer stops and resumes later."""

    @property
    def allowed(self) -> frozenset[ContentType]:
        """The accepted types; empty: any."""
        return frozenset(kind for name in self.types for kind in types_named(name))

    @property
    def bounds(self) -> SizeBounds:
        return SizeBounds(self.min_bytes, self.min_pdf_bytes, self.max_bytes)


def parse(config: Mapping[str, Any]) -> DownloadConfig:
    """Parse the config of a job; UsageError if it is not valid."""
    if not config.get("out"):
        raise UsageError(f"{NAME} needs `out` in the job's config: the folder for its files")
    try:
        parsed = msgspec.convert(config, DownloadConfig)
    except msgspec.ValidationError as error:
        raise UsageError(f"{NAME}: {error}".replace("`$.", "`")) from None
    if not Path(parsed.out).is_absolute() or "\0" in parsed.out:
        raise UsageError(f"{NAME}: out = {parsed.out!r} must be an absolute path")
    if parsed.max_bytes < parsed.min_bytes:
        raise UsageError(f"{NAME}: max_bytes is less than min_bytes, so no file would fit")
    for name in parsed.types:
        if not types_named(name):
            known = ", ".join(kind.extensions[0][1:] for kind in ContentType if kind.extensions)
            raise UsageError(f"{NAME}: unknown type {name!r}; the types are {known}")
    return parsed


def types_named(name: str) -> tuple[ContentType, ...]:
    """The types behind `pdf`, `.pdf` or `application/pdf`; `xml` has several."""
    name = name.strip().lower()
    ending = f".{name.removeprefix('.')}"
    return tuple(kind for kind in ContentType if kind == name or ending in kind.extensions)
