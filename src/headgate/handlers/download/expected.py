"""What is known of a file before it arrives: from its row, its plan and the reply's head."""

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import msgspec

from headgate.core.content_type import ContentType, stated_type
from headgate.core.download_folder import file_name
from headgate.core.fault import AttemptOver, Fault, FaultClass
from headgate.core.verification import Checksum, Expected, SizeBounds, stated_length
from headgate.handlers.download.config import NameStyle
from headgate.handlers.download.identifier import Identifier, IdentifierKind
from headgate.handlers.download.plan import Plan

MOST_INPUTS = 20
"""Most inputs of one file that are remembered; further ones are not."""


class CachedFileNote(msgspec.Struct, frozen=True):
    """The note in the HTTP cache: where the body is, what it is, and its inputs."""

    path: str
    """Relative to the folder."""
    sha256: str
    bytes: int
    content_type: str
    inputs: tuple[str, ...] = ()
    """Keys of the identifiers that led to this file; for these an unchanged file is skipped."""

    def encoded(self) -> str:
        return msgspec.json.encode(self).decode()

    def known_to(self, key: str) -> "CachedFileNote | None":
        """The note with one more input; None if it has the input already, or is full."""
        if key in self.inputs or len(self.inputs) >= MOST_INPUTS:
            return None
        return msgspec.structs.replace(self, inputs=(*self.inputs, key))


def read_note(text: str) -> CachedFileNote | None:
    try:
        return msgspec.json.decode(text, type=CachedFileNote)
    except msgspec.DecodeError:
        return None


CHECKSUMS: Final = ("checksum", "sha256", "sha512", "sha1", "md5")
"""The columns of a row that may hold a checksum."""


class BadChecksum(AttemptOver):
    """A row whose checksum cannot be read; no retry will change that."""

    code = "bad-checksum"

    def __init__(self, problem: str) -> None:
        super().__init__(Fault(FaultClass.PERMANENT, problem))


def checksum_in(row: Mapping[str, Any]) -> Checksum | None:
    for column in CHECKSUMS:
        text = str(row.get(column) or "").strip()
        if text:
            named = text if ":" in text or column == "checksum" else f"{column}:{text}"
            try:
                return Checksum.parse(named)
            except ValueError as error:
                raise BadChecksum(str(error)) from None
    return None


class RowExpectations(msgspec.Struct, frozen=True):
    allowed: frozenset[ContentType]
    """Accepted types; empty: what the resolver promises."""
    bounds: SizeBounds


class ExpectedFile:
    __slots__ = ("_checksum", "_row_expectations")

    def __init__(self, row_expectations: RowExpectations, row: Mapping[str, Any]) -> None:
        self._row_expectations = row_expectations
        self._checksum = checksum_in(row)

    def checksum(self, plan: Plan) -> Checksum | None:
        """The checksum of the row, else the one of the service."""
        if self._checksum is not None or not plan.checksum:
            return self._checksum
        try:
            return Checksum.parse(plan.checksum)
        except ValueError:
            return None  # the algorithm is unknown

    def allowed(self, plan: Plan) -> frozenset[ContentType]:
        """The accepted types; empty: any."""
        return self._row_expectations.allowed or frozenset(map(ContentType, plan.types))

    def expected(self, plan: Plan, status: int, headers: Mapping[str, str]) -> Expected:
        name = plan.url.partition("?")[0].partition("#")[0]
        return Expected(
            promised=stated_type(headers.get("content-type", ""), name),
            allowed=self.allowed(plan),
            length=stated_length(status, headers),
            checksum=self.checksum(plan),
            bounds=self._row_expectations.bounds,
        )

    def will_do(self, plan: Plan, note: CachedFileNote) -> bool:
        """Whether a file that was fetched for another config fits this one."""
        allowed, checksum = self.allowed(plan), self.checksum(plan)
        if allowed and note.content_type not in allowed:
            return False
        bounds = self._row_expectations.bounds
        if not bounds.min_bytes <= note.bytes <= bounds.max_bytes:
            return False
        return checksum is None or checksum == Checksum("sha256", note.sha256)


_EXTENDED: Final = re.compile(r"(?:^|;)\s*filename\*\s*=\s*([\w-]+)'[^']*'([^;\s]+)", re.IGNORECASE)
_QUOTED: Final = re.compile(r'(?:^|;)\s*filename\s*=\s*"((?:[^"\\]|\\.)*)"', re.IGNORECASE)
_PLAIN: Final = re.compile(r"(?:^|;)\s*filename\s*=\s*([^\";\s][^;]*)", re.IGNORECASE)


def name_for(
    identifier: Identifier, style: NameStyle, url: str, disposition: str, found: ContentType
) -> str:
    """The name of a file from `url`, with the extension of its content."""
    by_identifier = style is NameStyle.IDENTIFIER or (
        style is NameStyle.AUTO and identifier.kind is not IdentifierKind.URL
    )
    if by_identifier and identifier.kind is not IdentifierKind.URL:
        suggested = identifier.value
    elif by_identifier:
        suggested = _in_url(identifier.value)
    else:
        suggested = disposition_name(disposition) or _in_url(url)
    return file_name(suggested, found.extensions)


def disposition_name(disposition: str) -> str:
    """The name in a `Content-Disposition` header, without folders; empty if it has none."""
    if extended := _EXTENDED.search(disposition):
        try:
            return _last(unquote(extended[2], extended[1], "strict"))
        except (LookupError, UnicodeDecodeError):
            pass  # the plain name beside it may be usable
    if quoted := _QUOTED.search(disposition):
        return _last(re.sub(r"\\(.)", r"\1", _decoded(quoted[1])))
    plain = _PLAIN.search(disposition)
    return _last(_decoded(plain[1].strip())) if plain else ""


def _in_url(url: str) -> str:
    parts = urlsplit(url)
    return _last(unquote(parts.path)) or parts.netloc


def _decoded(text: str) -> str:
    """Decode a header: headers arrive as Latin-1, but most servers mean UTF-8."""
    try:
        return text.encode("latin-1").decode()
    except UnicodeError:
        return text


def _last(path: str) -> str:
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2]
