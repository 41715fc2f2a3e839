"""The type of a body or a file by its bytes, independent of its header and its name.

`_SIGNATURES` is the only table of magic bytes.
"""

import re
from enum import StrEnum
from typing import NamedTuple

HEAD_BYTES = 4_096
PDF_MARK_WITHIN = 1_024
"""Bytes before the PDF mark that readers of PDF accept; some servers send them."""


class ContentType(StrEnum):
    """The types that are told apart; the value is the media type."""

    PDF = "application/pdf"
    HTML = "text/html"
    JATS = "application/jats+xml"
    XML = "application/xml"
    JSON = "application/json"
    TEXT = "text/plain"
    POSTSCRIPT = "application/postscript"
    RTF = "application/rtf"
    EPUB = "application/epub+zip"
    DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
    ODT = "application/vnd.oasis.opendocument.text"
    OLE = "application/x-ole-storage"
    ZIP = "application/zip"
    GZIP = "application/gzip"
    BZIP2 = "application/x-bzip2"
    XZ = "application/x-xz"
    ZSTD = "application/zstd"
    TAR = "application/x-tar"
    PNG = "image/png"
    JPEG = "image/jpeg"
    GIF = "image/gif"
    WEBP = "image/webp"
    TIFF = "image/tiff"
    SVG = "image/svg+xml"
    BMP = "image/bmp"
    DJVU = "image/vnd.djvu"
    PARQUET = "application/vnd.apache.parquet"
    SQLITE = "application/vnd.sqlite3"
    EMPTY = "application/x-empty"
    UNKNOWN = "application/octet-stream"

    @property
    def extensions(self) -> tuple[str, ...]:
        """Usual file extensions of this type, the most common first; empty if none is known."""
        return _EXTENSIONS.get(self, ())


_EXTENSIONS = {
    ContentType.PDF: (".pdf",),
    ContentType.HTML: (".html", ".htm", ".xhtml"),
    ContentType.JATS: (".xml", ".nxml"),
    ContentType.XML: (".xml", ".nxml", ".rdf", ".rss", ".atom", ".xsd", ".gml", ".kml"),
    ContentType.JSON: (".json", ".jsonl", ".geojson", ".ipynb"),
    ContentType.TEXT: (
        *(".txt", ".csv", ".tsv", ".tex", ".bib", ".ris", ".md", ".rst", ".log"),
        *(".yaml", ".yml", ".toml", ".ini", ".fasta", ".fa", ".nt", ".ttl", ".py", ".r"),
    ),
    ContentType.POSTSCRIPT: (".ps", ".eps"),
    ContentType.RTF: (".rtf",),
    ContentType.EPUB: (".epub",),
    ContentType.DOCX: (".docx", ".docm"),
    ContentType.XLSX: (".xlsx", ".xlsm"),
    ContentType.PPTX: (".pptx", ".pptm"),
    ContentType.ODT: (".odt",),
    ContentType.ZIP: (".zip", ".jar", ".whl", ".kmz", ".npz"),
    ContentType.GZIP: (".gz", ".tgz", ".svgz"),
    ContentType.BZIP2: (".bz2", ".tbz"),
    ContentType.XZ: (".xz", ".txz"),
    ContentType.ZSTD: (".zst",),
    ContentType.TAR: (".tar",),
    ContentType.PNG: (".png",),
    ContentType.JPEG: (".jpg", ".jpeg"),
    ContentType.GIF: (".gif",),
    ContentType.WEBP: (".webp",),
    ContentType.TIFF: (".tif", ".tiff"),
    ContentType.SVG: (".svg",),
    ContentType.BMP: (".bmp",),
    ContentType.DJVU: (".djvu", ".djv"),
    ContentType.PARQUET: (".parquet", ".pq"),
    ContentType.SQLITE: (".sqlite", ".sqlite3", ".db"),
}
_ALIASES = {
    "application/x-pdf": ContentType.PDF,
    "application/xhtml+xml": ContentType.HTML,
    "text/xml": ContentType.XML,
    "text/json": ContentType.JSON,
    "image/jpg": ContentType.JPEG,
    "image/x-png": ContentType.PNG,
    "image/x-ms-bmp": ContentType.BMP,
    "application/x-sqlite3": ContentType.SQLITE,
    "application/x-gzip": ContentType.GZIP,
    "application/x-zip-compressed": ContentType.ZIP,
}
_BY_MEDIA_TYPE = {**{str(each): each for each in ContentType}, **_ALIASES}
_SAYS_NOTHING = frozenset({ContentType.UNKNOWN, ContentType.EMPTY, ContentType.TEXT})


def stated_type(header: str, name: str = "") -> ContentType | None:
    """The type that a `Content-Type` header or a file name declares; None if neither does.

    A name that ends in .pdf outweighs the header: error pages come with a header of their own.
    """
    if name.lower().endswith(".pdf"):
        return ContentType.PDF
    media = header.partition(";")[0].strip().lower()
    stated = _BY_MEDIA_TYPE.get(media)
    return None if stated in _SAYS_NOTHING else stated


class _Signature(NamedTuple):
    """Bytes at an offset, and for some types further bytes at another offset."""

    type: ContentType
    mark: bytes
    at: int = 0
    further: bytes = b""
    further_at: int = 0


_BMP_HEADER_SIZES = (12, 40, 52, 56, 64, 108, 124)
"""Sizes in bytes of the header behind `BM`; a text may also begin with `BM`."""
_SIGNATURES = (
    _Signature(ContentType.ZIP, b"PK\3\4"),
    _Signature(ContentType.ZIP, b"PK\5\6"),
    _Signature(ContentType.PNG, b"\x89PNG\r\n\x1a\n"),
    _Signature(ContentType.JPEG, b"\xff\xd8\xff"),
    _Signature(ContentType.GIF, b"GIF87a"),
    _Signature(ContentType.GIF, b"GIF89a"),
    _Signature(ContentType.WEBP, b"RIFF", further=b"WEBP", further_at=8),
    _Signature(ContentType.TIFF, b"II*\0"),
    _Signature(ContentType.TIFF, b"MM\0*"),
    *(
        _Signature(ContentType.BMP, b"BM", further=size.to_bytes(4, "little"), further_at=14)
        for size in _BMP_HEADER_SIZES
    ),
    _Signature(ContentType.DJVU, b"AT&TFORM"),
    _Signature(ContentType.PDF, b"%PDF-"),
    _Signature(ContentType.POSTSCRIPT, b"%!PS"),
    _Signature(ContentType.POSTSCRIPT, b"\xc5\xd0\xd3\xc6"),
    _Signature(ContentType.RTF, b"{\\rtf"),
    _Signature(ContentType.OLE, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
    _Signature(ContentType.GZIP, b"\x1f\x8b"),
    _Signature(ContentType.BZIP2, b"BZh"),
    _Signature(ContentType.XZ, b"\xfd7zXZ\0"),
    _Signature(ContentType.ZSTD, b"\x28\xb5\x2f\xfd"),
    _Signature(ContentType.PARQUET, b"PAR1"),
    _Signature(ContentType.SQLITE, b"SQLite format 3\0"),
    _Signature(ContentType.TAR, b"ustar", 257),
)
_ZIPPED = (
    (re.compile(b"mimetypeapplication/epub\\+zip"), ContentType.EPUB),
    (re.compile(rb"mimetypeapplication/vnd\.oasis\.opendocument\.text"), ContentType.ODT),
    # A name follows the 30 bytes of its header; elsewhere the letters may be chance.
    (re.compile(rb"PK\x03\x04.{26}word/", re.DOTALL), ContentType.DOCX),
    (re.compile(rb"PK\x03\x04.{26}xl/", re.DOTALL), ContentType.XLSX),
    (re.compile(rb"PK\x03\x04.{26}ppt/", re.DOTALL), ContentType.PPTX),
)
ZIPPED = frozenset({ContentType.ZIP, *(kind for _, kind in _ZIPPED)})
"""Types that are zip archives."""
IMAGES = frozenset(
    {
        ContentType.PNG,
        ContentType.JPEG,
        ContentType.GIF,
        ContentType.WEBP,
        ContentType.TIFF,
        ContentType.BMP,
    }
)
"""Types of images whose size can be read."""
_HTML = re.compile(
    rb"(?:<\?xml[^>]*>|<!--.*?-->|\s)*"
    rb"<(?:!doctype\s+html|html|head|body|title|meta|script|style|div|p|h1|table|center)[\s>/]",
    re.IGNORECASE | re.DOTALL,
)
_XML = re.compile(rb"<(?:\?xml|!doctype|!--|[a-z_][\w.:-]*[\s>/])", re.IGNORECASE)
_JATS = re.compile(
    rb"<!doctype\s+article|-//NLM//DTD|<(?:pmc-)?article(?:set)?[\s>]", re.IGNORECASE
)
_SVG = re.compile(rb"<svg[\s>]", re.IGNORECASE)
_JSON = re.compile(
    rb"\{\s*[\"}]|\[\s*(?:[\[{\"]|\]\s*$|(?:-?\d[\d.eE+-]*|true|false|null)\s*(?:,|\]\s*$))"
)
_CONTROLS = bytes(set(range(32)) - {9, 10, 12, 13, 27})
_BYTE_ORDERS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}


def content_type_of(head: bytes) -> ContentType:
    """The type of a body by its first bytes: `HEAD_BYTES` of them, or all if there are fewer."""
    if not head:
        return ContentType.EMPTY
    if found := signature_in(head):
        return found
    text = _plain(head)
    if _HTML.match(text):
        return ContentType.HTML
    if b"%PDF-" in head[:PDF_MARK_WITHIN]:
        return ContentType.PDF
    return _textual(text)


def signature_in(head: bytes) -> ContentType | None:
    """The type by the magic bytes alone; None if there are none, as in any text."""
    for each in _SIGNATURES:
        if head.startswith(each.mark, each.at) and head.startswith(each.further, each.further_at):
            return _refined(each.type, head)
    return None


def _refined(found: ContentType, head: bytes) -> ContentType | None:
    if found is ContentType.ZIP:
        return next((kind for mark, kind in _ZIPPED if mark.search(head)), found)
    if found is ContentType.PARQUET and b"\0" not in head:  # a text may begin with PAR1
        return None
    return found


def _plain(head: bytes) -> bytes:
    """Text in any encoding as UTF-8, without byte order mark and leading blanks."""
    encoding = _BYTE_ORDERS.get(head[:2])
    if encoding:
        head = head[2:].decode(encoding, "ignore").encode(errors="ignore")
    return head.removeprefix(b"\xef\xbb\xbf").lstrip()


def _textual(text: bytes) -> ContentType:
    if text.translate(None, _CONTROLS) != text:
        return ContentType.UNKNOWN
    if _XML.match(text):
        if _SVG.search(text):
            return ContentType.SVG
        return ContentType.JATS if _JATS.search(text) else ContentType.XML
    return ContentType.JSON if _JSON.match(text) else ContentType.TEXT
