"""The output folder of a download: valid names of files, and the lines of its two records."""

import hashlib
import re
import unicodedata
from enum import StrEnum

import msgspec

MANIFEST = "manifest.jsonl"
ATTEMPTS = "attempts.csv"


class FinalOutcome(StrEnum):
    DONE = "done"
    SKIPPED = "skipped"
    NOT_FOUND = "not_found"
    ERROR = "error"


class ManifestLine(msgspec.Struct, frozen=True):
    id: str
    input: str
    outcome: FinalOutcome
    reason: str | None = None
    resolver: str | None = None
    url: str | None = None
    """URL of the plan that decided."""
    final_url: str | None = None
    content_type: str | None = None
    bytes: int | None = None
    sha256: str | None = None
    path: str | None = None
    """Relative to the folder."""
    cache: str | None = None
    started_at: str | None = None
    finished_at: str | None = None


class AttemptStep(msgspec.Struct, frozen=True):
    id: str
    attempt: int
    at: str
    step: str
    """`http-head`, `http-get`, `cache-hit`, `http-304`, `http-200`, `retry` and the like."""
    resolver: str = ""
    host: str = ""
    status: int | None = None
    bytes: int | None = None
    ran_ms: float | None = None
    waited_ms: float | None = None
    reason: str = ""


LONGEST = 120
"""Bytes. The strictest file systems allow 143, and a suffix has to fit in as well."""

_FORBIDDEN = frozenset('<>:"/\\|?*')
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_DEVICES = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE)
_EXTENSION = re.compile(r"\.[A-Za-z0-9]{1,8}$")
_PLAIN = re.compile(r"[A-Za-z0-9_.()+,=-]+")
"""Nearly every name; it needs no further check."""
_OURS = frozenset({"manifest.jsonl", "attempts.csv"})


def file_name(suggested: str, extensions: tuple[str, ...] = ()) -> str:
    """A valid name close to `suggested`, with one of `extensions`; the first is the default."""
    name = _printable(suggested).strip(" .")
    usual = extensions[0] if extensions else ""
    if not name.lower().endswith(extensions or ("",)):
        name += usual
    name = _shortened(name, suggested)
    if not name.strip(" ._") or name == usual:
        name = f"file{usual}"
    if name.startswith("-") or _DEVICES.fullmatch(name) or name.lower() in _OURS:
        name = f"_{name}"
    return name


def name_with_mark(name: str, mark: str) -> str:
    """The name with a mark before its extension, for a file whose name is taken."""
    stem, extension = _split_extension(name)
    return f"{stem}-{mark}{extension}"


def _printable(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return text
    plain = "".join(map(_valid_character, unicodedata.normalize("NFC", text)))
    return re.sub(r"\s+", " ", plain)


def _valid_character(character: str) -> str:
    if character in _FORBIDDEN:
        return "_"
    if character.isspace():
        return " "
    # Direction marks make a name look like another one.
    return "" if unicodedata.category(character) in _INVISIBLE else character


def _split_extension(name: str) -> tuple[str, str]:
    found = _EXTENSION.search(name)
    if found is None or found.start() == 0:
        return name, ""
    return name[: found.start()], found.group()


def _shortened(name: str, whole: str) -> str:
    if len(name.encode()) <= LONGEST:
        return name
    stem, extension = _split_extension(name)
    mark = "-" + hashlib.sha256(whole.encode(errors="surrogatepass")).hexdigest()[:10]
    room = LONGEST - len(mark) - len(extension)
    return stem.encode()[:room].decode(errors="ignore").rstrip(" .") + mark + extension
