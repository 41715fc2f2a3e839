"""Identifiers: a DOI, an arXiv id, a PMCID or a URL, in one normal form."""

import re
from collections.abc import Mapping
from contextlib import suppress
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final
from urllib.parse import unquote

import msgspec

from headgate.core.fault import AttemptOver, Fault, FaultClass
from headgate.core.url import BadUrl, normalize

MOST_CHARS: Final = 2_000
COLUMNS: Final = ("doi", "arxiv", "arxiv_id", "pmcid", "pmc", "url", "id", "identifier")
"""Columns that may hold an identifier, in order of precedence."""

_INVISIBLE: Final = re.compile("[\u00ad\u200b-\u200d\u2060\ufeff]")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_WRAPPED: Final = {"<": ">", '"': '"', "'": "'", "[": "]", "(": ")"}
_CLOSING: Final = {")": "(", "]": "[", "}": "{", ">": "<"}
_PUNCTUATION: Final = ".,;:\"'"
_UPPER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}

_DOI: Final = re.compile(r"10\.[0-9]{4,9}(?:\.[0-9]+)*/\S+")
_QUOTED_DOI: Final = re.compile(r"10\.[0-9]{4,9}(?:\.[0-9]+)*%2f", re.IGNORECASE)
_DOI_PREFIX: Final = re.compile(r"(?:urn:doi:|info:doi/|doi\s*[:=]?\s*)(?=10\.)", re.IGNORECASE)
_DOI_URL: Final = re.compile(r"(?:https?://)?(?:dx\.|www\.)?doi\.org/+(?=10\.)", re.IGNORECASE)
_ARXIV_DOI: Final = re.compile(r"10\.48550/arxiv\.(.+)")

_NEW_ARXIV: Final = re.compile(r"([0-9]{2})([0-9]{2})\.([0-9]{4,5})(v[1-9][0-9]*)?", re.IGNORECASE)
_OLD_ARXIV: Final = re.compile(
    r"([a-z]+(?:-[a-z]+)?)(?:\.[a-z]{2})?/([0-9]{2})([0-9]{2})([0-9]{3})(v[1-9][0-9]*)?",
    re.IGNORECASE,
)
_VERSION: Final = re.compile(r"v[0-9]+$")
_ARXIV_PREFIX: Final = re.compile(r"arxiv\s*:\s*", re.IGNORECASE)
_ARXIV_URL: Final = re.compile(
    r"(?:https?://)?(?:www\.|export\.)?arxiv\.org/(?:abs|pdf|html|ps|format)/", re.IGNORECASE
)

_PMCID: Final = re.compile(
    r"(?:pmcid\s*:\s*)?pmc\s*:?\s*0*([1-9][0-9]{0,11})(?:\.[0-9]+)?", re.IGNORECASE
)
_PMC_URL: Final = re.compile(
    r"(?:https?://)?(?:(?:www\.)?ncbi\.nlm\.nih\.gov/pmc|pmc\.ncbi\.nlm\.nih\.gov"
    r"|(?:www\.)?europepmc\.org)/(?:articles?/|abstract/)(?:pmc/)?(pmc[0-9]+)/?(?:#.*)?",
    re.IGNORECASE,
)
_SCHEME: Final = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)


class IdentifierKind(StrEnum):
    DOI = "doi"
    ARXIV = "arxiv"
    PMCID = "pmcid"
    URL = "url"


class BadIdentifier(AttemptOver):
    """A row without a readable identifier; no retry will change that."""

    code = "bad-identifier"

    def __init__(self, given: str, problem: str) -> None:
        shown = f"{given[:100]!r} " if given else ""
        super().__init__(Fault(FaultClass.PERMANENT, f"{shown}{problem}"))


class Identifier(msgspec.Struct, frozen=True):
    """An identifier. Equal ones have the same `key`, whatever their spelling."""

    kind: IdentifierKind
    value: str
    given: str = ""
    """The spelling in the row."""

    @property
    def key(self) -> str:
        """For example `doi:10.1234/abc`."""
        return f"{self.kind}:{self.value}"

    @property
    def doi(self) -> str:
        """The DOI, also one that arXiv gave; empty if none is known."""
        if self.kind is IdentifierKind.DOI:
            return self.value
        if self.kind is IdentifierKind.ARXIV:
            return f"10.48550/arxiv.{self.unversioned}"
        return ""

    @property
    def unversioned(self) -> str:
        """An arXiv id without its version; any other identifier unchanged."""
        return _VERSION.sub("", self.value) if self.kind is IdentifierKind.ARXIV else self.value


def identifier_of(row: Mapping[str, Any]) -> Identifier:
    """Return the identifier of a row; BadIdentifier if none can be read.

    The first readable column counts: a damaged DOI beside a good URL does not stop the row.
    """
    filled = _filled(row)
    if not filled:
        raise BadIdentifier("", f"the row has nothing in any of {', '.join(COLUMNS)}")
    problems: list[BadIdentifier] = []
    for name, text in filled:
        try:
            return _of_column(name, text)
        except BadIdentifier as error:
            problems.append(error)
    raise problems[0]


def identifier_text(row: Mapping[str, Any]) -> str:
    """The spelling of a row's identifier; if none can be read, the first column that is filled."""
    filled = _filled(row)
    for name, text in filled if len(filled) > 1 else ():
        with suppress(BadIdentifier):
            return _of_column(name, text).given
    return filled[0][1] if filled else ""


def is_identifier_column(name: str) -> bool:
    return _column(name) in COLUMNS


def read_identifier(text: str) -> Identifier:
    """Return the identifier of a bare line; BadIdentifier if it is not one."""
    given = text
    text = _cleaned(text)
    found = _as_pmcid(text) or _as_arxiv(text) or _as_doi(text)
    if found is not None:
        return msgspec.structs.replace(found, given=given)
    return _as_url(text, given)


def _filled(row: Mapping[str, Any]) -> list[tuple[str, str]]:
    given = {_column(name): _text(value) for name, value in row.items()}
    return [(name, given[name]) for name in COLUMNS if given.get(name)]


def _of_column(name: str, text: str) -> Identifier:
    if name == "url":
        # In the column `url`, a URL means that page, even if it looks like a DOI.
        return _as_url(_cleaned(text), text)
    if name in {"pmcid", "pmc"} and text.isascii() and text.isdigit():
        return msgspec.structs.replace(read_identifier(f"PMC{text}"), given=text)
    return read_identifier(text)


def _as_doi(text: str) -> Identifier | None:
    address = _DOI_URL.match(text)
    if address:
        # In a URL, ? and # end the path; a DOI that contains one has it quoted.
        text = unquote(re.split(r"[?#]", text[address.end() :])[0])
    else:
        text = _DOI_PREFIX.sub("", text, count=1) if _DOI_PREFIX.match(text) else text
        text = unquote(text) if _QUOTED_DOI.match(text) else text
    text = _without_tail(text)
    if not _DOI.fullmatch(text) or not text.isprintable():
        return None
    value = text.translate(_UPPER)
    arxiv = _ARXIV_DOI.fullmatch(value)
    return (_arxiv_id(arxiv[1]) if arxiv else None) or Identifier(IdentifierKind.DOI, value)


def _as_arxiv(text: str) -> Identifier | None:
    address = _ARXIV_URL.match(text)
    if address:
        text = re.split(r"[?#]", text[address.end() :])[0].removesuffix(".pdf").rstrip("/")
    else:
        prefix = _ARXIV_PREFIX.match(text)
        text = text[prefix.end() :] if prefix else text
    return _arxiv_id(_without_tail(text))


def _arxiv_id(text: str) -> Identifier | None:
    new = _NEW_ARXIV.fullmatch(text)
    if new:
        year, month, number, version = new.groups()
        value = f"{year}{month}.{number}"
    else:
        old = _OLD_ARXIV.fullmatch(text)
        if old is None:
            return None
        archive, year, month, number, version = old.groups()
        # The subject class does not belong to the id: math.GT/0309136 is math/0309136.
        value = f"{archive.lower()}/{year}{month}{number}"
    if not 1 <= int(month) <= 12:
        return None
    return Identifier(IdentifierKind.ARXIV, value + (version or "").lower())


def _as_pmcid(text: str) -> Identifier | None:
    address = _PMC_URL.fullmatch(text)
    match = _PMCID.fullmatch(_without_tail(address[1] if address else text))
    return Identifier(IdentifierKind.PMCID, f"PMC{match[1]}") if match else None


def _as_url(text: str, given: str) -> Identifier:
    scheme = _SCHEME.match(text)
    if scheme is None:
        raise BadIdentifier(given, "is neither a DOI, an arXiv id, a PMCID nor a URL with http://")
    if scheme[1].lower() not in {"http", "https"}:
        raise BadIdentifier(given, f"is a {scheme[1]} URL: only http and https are supported")
    try:
        return Identifier(IdentifierKind.URL, normalize(text), given)
    except BadUrl as error:
        raise BadIdentifier("", str(error)) from None


def _cleaned(text: str) -> str:
    """Strip what copying leaves at the edges and between the letters."""
    given = text
    text = _INVISIBLE.sub("", text).strip()
    while len(text) > 1 and _WRAPPED.get(text[0]) == text[-1]:
        text = text[1:-1].strip()
    if not text:
        raise BadIdentifier("", "the identifier is empty")
    if len(text) > MOST_CHARS:
        raise BadIdentifier(given, f"is longer than {MOST_CHARS:,} characters")
    if _SURROGATE.search(text):
        raise BadIdentifier("", "the identifier contains an unpaired surrogate")
    return text


def _without_tail(text: str) -> str:
    """Strip the punctuation of a surrounding sentence."""
    while text and (text[-1] in _PUNCTUATION or _unopened(text)):
        text = text[:-1]
    return text


def _unopened(text: str) -> bool:
    opening = _CLOSING.get(text[-1])
    return opening is not None and text.count(text[-1]) > text.count(opening)


@lru_cache(maxsize=256)
def _column(name: str) -> str:
    return re.sub(r"[\s-]+", "_", str(name).strip().lower())


def _text(value: Any) -> str:
    if value is None or isinstance(value, bool | Mapping | list):
        return ""
    return str(value).strip()
