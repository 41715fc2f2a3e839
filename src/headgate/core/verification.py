"""Decides whether a body is the requested file, while it arrives and from a small part of it."""

import re
from collections.abc import Mapping
from enum import StrEnum

import msgspec

from headgate.core.content_type import HEAD_BYTES, ContentType, content_type_of
from headgate.core.errors import HeadgateError

TAIL_BYTES = 2_048
"""Number of last bytes kept, to find the mark that ends a PDF."""

_MIB = 1024 * 1024


class Flaw(StrEnum):
    """Why a body is not stored; the value is stored as the reason."""

    BAD_STATUS = "bad-status"
    EMPTY = "empty-body"
    TOO_SMALL = "too-small"
    TOO_LARGE = "too-large"
    SIZE_MISMATCH = "size-mismatch"
    CUT_OFF = "pdf-without-end"
    HTML_INSTEAD = "html-instead"
    WRONG_TYPE = "wrong-type"
    CHECKSUM = "checksum-mismatch"
    BOMB = "decompression-bomb"

    @property
    def sentence(self) -> str:
        return _SENTENCES[self]


_SENTENCES = {
    Flaw.BAD_STATUS: "The server did not answer with the file.",
    Flaw.EMPTY: "The server sent no bytes.",
    Flaw.TOO_SMALL: "The file is smaller than a real one can be.",
    Flaw.TOO_LARGE: "The file is larger than is allowed.",
    Flaw.SIZE_MISMATCH: "The file does not have the length that was announced.",
    Flaw.CUT_OFF: "The PDF lacks its end; it was probably cut off.",
    Flaw.HTML_INSTEAD: "A web page came in place of the file, such as an error or a log-in page.",
    Flaw.WRONG_TYPE: "The content has another type than the one requested.",
    Flaw.CHECKSUM: "The content does not have the checksum that was given.",
    Flaw.BOMB: "The body decompresses to far more than was sent.",
}


class Finding(msgspec.Struct, frozen=True):
    flaw: Flaw
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.flaw}: {self.detail}" if self.detail else str(self.flaw)


class Unfit(HeadgateError):
    def __init__(self, finding: Finding) -> None:
        super().__init__(f"{finding.flaw.sentence} {finding.detail}".strip())
        self.finding = finding


class Checksum(msgspec.Struct, frozen=True):
    algorithm: str
    digest: str

    @classmethod
    def parse(cls, text: str) -> "Checksum":
        """Read `sha256:…`, `md5:…` or bare hex, recognised by its length; ValueError for others."""
        name, _, digest = text.strip().lower().rpartition(":")
        name = name.replace("-", "") or _BY_LENGTH.get(len(digest), "")
        if _LENGTHS.get(name) != len(digest) or not re.fullmatch(r"[0-9a-f]+", digest):
            known = ", ".join(_LENGTHS)
            raise ValueError(
                f"{text!r} is not a checksum; write it as NAME:HEX, with one of {known}"
            )
        return cls(name, digest)


_LENGTHS = {"sha256": 64, "sha512": 128, "sha1": 40, "md5": 32}
_BY_LENGTH = {length: name for name, length in _LENGTHS.items()}


class SizeBounds(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    min_bytes: int = 1
    min_pdf_bytes: int = 1_024
    max_bytes: int = 2_048 * _MIB


class Expected(msgspec.Struct, frozen=True):
    promised: ContentType | None = None
    """The type that the plan, the header or the name declares."""
    allowed: frozenset[ContentType] = frozenset()
    """Empty: any type is accepted."""
    length: int | None = None
    """Bytes as they will be stored; None if unknown, or known only for the compressed form."""
    checksum: Checksum | None = None
    bounds: SizeBounds = SizeBounds()


def check_reply(status: int, expected: Expected, *, resumed: bool = False) -> Finding | None:
    if status not in ({206} if resumed else {200, 203}):
        return Finding(Flaw.BAD_STATUS, f"status {status}")
    if expected.length is None:
        return None
    if expected.length == 0:
        return Finding(Flaw.EMPTY)
    if expected.length > expected.bounds.max_bytes:
        return _too_large(expected.length, expected.bounds)
    return None


def stated_length(status: int, headers: Mapping[str, str]) -> int | None:
    """The length of the whole file by its headers, whose names must be in lower case."""
    if headers.get("content-encoding", "identity").strip().lower() not in {"", "identity"}:
        return None  # the length is that of the compressed form
    if status == 206:
        found = re.fullmatch(r"bytes \d+-\d+/(\d+)", headers.get("content-range", "").strip())
        return int(found[1]) if found else None
    length = headers.get("content-length", "").strip()
    return int(length) if length.isascii() and length.isdecimal() else None


def range_start(headers: Mapping[str, str]) -> int | None:
    """The offset at which a 206 begins; None if it does not say."""
    found = re.match(r"bytes (\d+)-", headers.get("content-range", "").strip())
    return int(found[1]) if found else None


class BodyCheck:
    """Checks one body as it arrives. Keeps only its head, its tail and its size."""

    def __init__(self, expected: Expected) -> None:
        self._expected = expected
        self._head = b""
        self._tail = b""
        self._type: ContentType | None = None
        self.size = 0

    @property
    def content_type(self) -> ContentType:
        return self._type or content_type_of(self._head)

    def feed(self, chunk: bytes) -> Finding | None:
        """Check further bytes; a finding means that the rest need not be fetched."""
        self.size += len(chunk)
        self._tail = (chunk if len(chunk) >= TAIL_BYTES else self._tail + chunk)[-TAIL_BYTES:]
        if self._type is None:
            self._head += chunk[: HEAD_BYTES - len(self._head)]
            if len(self._head) == HEAD_BYTES:
                self._type = content_type_of(self._head)
                if finding := self._wrong_type():
                    return finding
        return self._too_long()

    def conclude(self, digests: Mapping[str, str]) -> Finding | None:
        """The verdict on the whole body; `digests` are by name of the algorithm."""
        return (
            (None if self.size else Finding(Flaw.EMPTY))
            or self._wrong_type()
            or self._wrong_size()
            or self._no_end()
            or self._wrong_digest(digests)
        )

    def accept(self, digests: Mapping[str, str]) -> None:
        if finding := self.conclude(digests):
            raise Unfit(finding)

    def _wrong_type(self) -> Finding | None:
        found, promised, allowed = (
            self.content_type,
            self._expected.promised,
            self._expected.allowed,
        )
        welcome = found in allowed or (not allowed and promised in {None, ContentType.HTML})
        if found is ContentType.HTML and not welcome:
            wanted = promised or " or ".join(sorted(allowed))
            return Finding(Flaw.HTML_INSTEAD, f"{wanted} was expected")
        if allowed and found not in allowed:
            return Finding(Flaw.WRONG_TYPE, f"{found}, not {' or '.join(sorted(allowed))}")
        if promised is ContentType.PDF and found is not promised and not allowed:
            return Finding(Flaw.WRONG_TYPE, f"{found}, not {promised}")
        return None

    def _too_long(self) -> Finding | None:
        expected = self._expected
        if self.size > expected.bounds.max_bytes:
            return _too_large(self.size, expected.bounds)
        if expected.length is not None and self.size > expected.length:
            return self._mismatch(expected.length)
        return None

    def _wrong_size(self) -> Finding | None:
        expected, bounds = self._expected, self._expected.bounds
        if expected.length is not None and self.size != expected.length:
            return self._mismatch(expected.length)
        least = bounds.min_bytes
        if self.content_type is ContentType.PDF:
            least = max(least, bounds.min_pdf_bytes)
        if self.size < least:
            return Finding(Flaw.TOO_SMALL, f"{self.size} bytes, at least {least}")
        return self._too_long()

    def _mismatch(self, length: int) -> Finding:
        return Finding(Flaw.SIZE_MISMATCH, f"{self.size} bytes, {length} announced")

    def _no_end(self) -> Finding | None:
        cut = self.content_type is ContentType.PDF and b"%%EOF" not in self._tail
        return Finding(Flaw.CUT_OFF, f"{self.size} bytes") if cut else None

    def _wrong_digest(self, digests: Mapping[str, str]) -> Finding | None:
        wanted = self._expected.checksum
        if wanted is None or digests.get(wanted.algorithm) == wanted.digest:
            return None
        found = digests.get(wanted.algorithm, "not computed")
        return Finding(Flaw.CHECKSUM, f"{wanted.algorithm} {found}, not {wanted.digest}")


def _too_large(size: int, bounds: SizeBounds) -> Finding:
    return Finding(Flaw.TOO_LARGE, f"{size} bytes, at most {bounds.max_bytes}")
