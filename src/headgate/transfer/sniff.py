"""What the bytes of a file say, independent of its name: its format and its encoding."""

import codecs
import re
from pathlib import Path

import msgspec

from headgate.core.content_type import IMAGES, ZIPPED, ContentType, signature_in
from headgate.core.errors import BadSource
from headgate.transfer.files import open_content, open_file
from headgate.transfer.formats.registry import FORMATS, Format
from headgate.transfer.lines import find_encoding

_HEAD = 64 * 1024
_WITH_ONE_TYPE = {
    ContentType(each.content[0]): each for each in FORMATS.values() if len(each.content) == 1
}
"""The format by the type of its files, where they all have the same."""
_NOUNS = {
    ContentType.ZIP: "a zip archive",
    ContentType.GZIP: "a gzip file",
    ContentType.PDF: "a PDF document",
    ContentType.SQLITE: "an SQLite database",
    **dict.fromkeys(IMAGES, "an image"),
    **{kind: each.noun for kind, each in _WITH_ONE_TYPE.items()},
}
"""Types that no text has. Other signatures are short enough to begin a text."""
_WORKBOOK_ENTRY = re.compile(rb"PK\x03\x04.{26}(?:\[Content_Types\]\.xml|xl/)", re.DOTALL)
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_MANY_NULS = 0.2
_BLOCK = 1024 * 1024
_SCANNED = 64 * _BLOCK
"""Bytes of a file that are examined."""
_MULTIBYTE = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
_LETTERS = re.compile(rb"[A-Za-z0-9\x80-\xff]")
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]")
_WESTERN_SHARE = 0.4
"""Largest share of non-ASCII letters among letters and digits in Western languages."""


def check_content(
    path: Path, expected: Format, encoding: str | None = None, most_bytes: int = _HEAD
) -> None:
    """Raise BadSource if the bytes of a file clearly do not have the expected format.

    For a gzip file, its content is checked; `most_bytes` limits how much is unpacked.
    """
    with open_content(path, max(most_bytes, _HEAD)) as file:
        head = file.read(_HEAD)
    found = _type_of(path, head)
    if found is ContentType.OLE:
        raise BadSource(_old_container(path, expected))
    if expected.content:
        if found not in expected.content and head:
            raise BadSource(_wrong(path, expected, found))
    elif found in _NOUNS:
        raise BadSource(_wrong(path, expected, found))
    elif encoding is None:
        _check_text(path, head)


def is_zip(path: Path) -> bool:
    with open_file(path) as file:
        return signature_in(file.read(4)) is ContentType.ZIP


def _type_of(path: Path, head: bytes) -> ContentType | None:
    found = signature_in(head)
    if found in ZIPPED:
        return ContentType.XLSX if _is_workbook(path, head) else ContentType.ZIP
    return found


def _is_workbook(path: Path, head: bytes) -> bool:
    if _WORKBOOK_ENTRY.search(head):
        return True
    import zipfile  # noqa: PLC0415  few files are archives

    try:
        with zipfile.ZipFile(path) as archive:
            return "xl/workbook.xml" in archive.namelist()
    except zipfile.BadZipFile:
        return False


def _wrong(path: Path, expected: Format, found: ContentType | None) -> str:
    if found not in _NOUNS:
        return f"{path} is not {expected.noun} by its content; check its name and format"
    advice = ""
    if found in _WITH_ONE_TYPE:
        advice = f"; give it the ending {_WITH_ONE_TYPE[found].endings[0]}"
    if found is ContentType.GZIP:
        advice = "; give it an ending such as .csv.gz, or unpack it first"
    return f"{path} should be {expected.noun}, but is {_NOUNS[found]} by its content{advice}"


def _old_container(path: Path, expected: Format) -> str:
    if ContentType.XLSX in expected.content and _holds(path, _ENCRYPTED):
        return f"{path} is protected by a password: save it without one"
    return f"{path} is an old Office file (.xls, .doc, …): save it as .xlsx"


def _holds(path: Path, words: bytes) -> bool:
    rest = b""
    with open_file(path) as file:
        while block := file.read(1024 * 1024):
            if words in rest + block:
                return True
            rest = block[-len(words) :]
    return False


def _check_text(path: Path, head: bytes) -> None:
    marked = head.startswith((b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff"))
    if marked or head.count(0) <= len(head) * _MANY_NULS:
        return
    if head[:2].count(0) == 1:
        name = "utf-16-le" if head[1] == 0 else "utf-16-be"
        raise BadSource(
            f"{path} looks like UTF-16 without a byte order mark: state the encoding ({name})"
        )
    raise BadSource(f"{path} is not text: many of its bytes are NUL")


class Misread(msgspec.Struct, frozen=True):
    fits: str | None
    """A matching encoding; None if the bytes do not tell."""


def misread(path: Path, most_bytes: int) -> Misread | None:
    """Check a file that would be read as UTF-8; None if it is UTF-8.

    A file that is UTF-8 except for a few damaged rows counts as UTF-8. `most_bytes` limits how
    much is unpacked.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    with open_content(path, most_bytes) as file:
        start = find_encoding(file, path, None).start
        if start:
            return None
        file.seek(0)
        for _ in range(0, _SCANNED, _BLOCK):
            block = file.read(_BLOCK)
            try:
                decoder.decode(block, final=len(block) < _BLOCK)
            except UnicodeDecodeError:
                return judged(block)
            if len(block) < _BLOCK:
                return None
    return None


def judged(data: bytes) -> Misread | None:
    """Judge bytes that are not valid UTF-8; None if they are UTF-8 with some damage."""
    beyond = len(_BEYOND_ASCII.findall(data))
    whole = sum(len(each) for each in _MULTIBYTE.findall(data))
    if whole > beyond - whole:
        return None
    if beyond > len(_LETTERS.findall(data)) * _WESTERN_SHARE:
        return Misread(None)
    try:
        data.decode("cp1252")
    except UnicodeDecodeError:
        return Misread("latin-1")
    return Misread("cp1252")
