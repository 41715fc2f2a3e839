"""The type of a body by its bytes, independent of its header and its name."""

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
    DJVU = "image/vnd.djvu"
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
    ContentType.DJVU: (".djvu", ".djv"),
}
_ALIASES = {
    "application/x-pdf": ContentType.PDF,
    "application/xhtml+xml": ContentType.HTML,
    "text/xml": ContentType.XML,
    "text/json": ContentType.JSON,
    "image/jpg": ContentType.JPEG,
    "image/x-png": ContentType.PNG,
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


class _Sign(NamedTuple):
    at: int
    mark: bytes
    type: ContentType


_SIGNS = (
    _Sign(0, b"\x89PNG\r\n\x1a\n", ContentType.PNG),
    _Sign(0, b"\xff\xd8\xff", ContentType.JPEG),
    _Sign(0, b"GIF87a", ContentType.GIF),
    _Sign(0, b"GIF89a", ContentType.GIF),
    _Sign(8, b"WEBP", ContentType.WEBP),
    _Sign(0, b"II*\0", ContentType.TIFF),
    _Sign(0, b"MM\0*", ContentType.TIFF),
    _Sign(0, b"AT&TFORM", ContentType.DJVU),
    _Sign(0, b"%!PS", ContentType.POSTSCRIPT),
    _Sign(0, b"\xc5\xd0\xd3\xc6", ContentType.POSTSCRIPT),
    _Sign(0, b"{\\rtf", ContentType.RTF),
    _Sign(0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", ContentType.OLE),
    _Sign(0, b"\x1f\x8b", ContentType.GZIP),
    _Sign(0, b"BZh", ContentType.BZIP2),
    _Sign(0, b"\xfd7zXZ\0", ContentType.XZ),
    _Sign(0, b"\x28\xb5\x2f\xfd", ContentType.ZSTD),
    _Sign(257, b"ustar", ContentType.TAR),
)
_ZIP = (b"PK\3\4", b"PK\5\6")
_ZIPPED = (
    (b"mimetypeapplication/epub+zip", ContentType.EPUB),
    (b"mimetypeapplication/vnd.oasis.opendocument.text", ContentType.ODT),
    (b"word/", ContentType.DOCX),
    (b"xl/", ContentType.XLSX),
    (b"ppt/", ContentType.PPTX),
)
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
    if head.startswith(_ZIP):
        return _zipped(head)
    for sign in _SIGNS:
        if head.startswith(sign.mark, sign.at):
            return sign.type
    text = _plain(head)
    if _HTML.match(text):
        return ContentType.HTML
    if b"%PDF-" in head[:PDF_MARK_WITHIN]:
        return ContentType.PDF
    return _textual(text)


def _zipped(head: bytes) -> ContentType:
    return next((kind for mark, kind in _ZIPPED if mark in head), ContentType.ZIP)


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
