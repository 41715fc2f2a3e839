"""Detect a file's format from its first bytes, independent of its name."""

from io import BytesIO
from pathlib import Path

from headgate.core.errors import BadSource
from headgate.transfer.formats.image_head import read_head
from headgate.transfer.places.gzip import open_content
from headgate.transfer.places.local import open_file

_HEAD = 64 * 1024
_SIGNS = (
    (b"PK\3\4", "zip"),
    (b"PK\5\6", "zip"),
    (b"PAR1", "parquet"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "ole"),
    (b"\x1f\x8b", "gzip"),
    (b"%PDF-", "pdf"),
    (b"SQLite format 3\0", "sqlite"),
)
_NAMES = {
    "zip": "a zip archive",
    "xlsx": "an Excel workbook",
    "parquet": "a Parquet file",
    "gzip": "a gzip file",
    "pdf": "a PDF document",
    "sqlite": "an SQLite database",
    "image": "an image",
}
_FITTING = {"xlsx": {"xlsx"}, "parquet": {"parquet"}, "images": {"zip", "image"}}
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_MANY_NULS = 0.2


def check_content(
    path: Path, expected: str, encoding: str | None = None, most_bytes: int = _HEAD
) -> None:
    """Raise BadSource if the bytes of a file clearly do not have the expected format.

    For a gzip file, its content is checked; `most_bytes` limits how much is unpacked.
    """
    with open_content(path, max(most_bytes, _HEAD)) as file:
        head = file.read(_HEAD)
    found = _kind(path, head)
    if found == "ole":
        raise BadSource(_old_container(path, expected))
    if expected in _FITTING:
        if found not in _FITTING[expected] and head:
            raise BadSource(_wrong(path, expected, found))
    elif found:
        raise BadSource(_wrong(path, expected, found))
    elif encoding is None:
        _check_text(path, head)


def is_zip(path: Path) -> bool:
    """True if a file begins like a zip archive."""
    with open_file(path) as file:
        return file.read(4) in {b"PK\3\4", b"PK\5\6"}


def _kind(path: Path, head: bytes) -> str | None:
    kind = next((name for sign, name in _SIGNS if head.startswith(sign)), None)
    if kind == "zip" and _is_workbook(path, head):
        return "xlsx"
    if kind == "parquet" and b"\0" not in head:  # a text may begin with PAR1
        return None
    return kind or ("image" if read_head(BytesIO(head)) else None)


def _is_workbook(path: Path, head: bytes) -> bool:
    if b"[Content_Types].xml" in head or b"xl/" in head:
        return True
    import zipfile  # noqa: PLC0415  few files are archives

    try:
        with zipfile.ZipFile(path) as archive:
            return "xl/workbook.xml" in archive.namelist()
    except zipfile.BadZipFile:
        return False


def _wrong(path: Path, expected: str, found: str | None) -> str:
    if found is None:
        return f"{path} is not {_article(expected)} by its content; check its name and format"
    advice = f"; give it the ending .{found}" if found in {"xlsx", "parquet"} else ""
    if found == "gzip":
        advice = "; give it an ending such as .csv.gz, or unpack it first"
    return f"{path} should be {_article(expected)}, but is {_NAMES[found]} by its content{advice}"


def _article(name: str) -> str:
    others = {"images": "a zip of images", "list": "a plain list"}
    return _NAMES.get(name) or others.get(name) or name.upper()


def _old_container(path: Path, expected: str) -> str:
    if expected == "xlsx" and _holds(path, _ENCRYPTED):
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
