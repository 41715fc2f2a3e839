"""The content of a file decides its type, not its name."""

import gzip
import io
import json
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from headgate.core.content_type import HEAD_BYTES, ContentType, content_type_of, stated_type


def zipped(*names, first=b""):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        if first:
            archive.writestr("mimetype", first)
        for name in names:
            archive.writestr(name, "x")
    return file.getvalue()


def image(kind):
    file = io.BytesIO()
    Image.new("RGB", (2, 2)).save(file, kind)
    return file.getvalue()


SAMPLES = [
    (b"", ContentType.EMPTY),
    (b"%PDF-1.7\n...", ContentType.PDF),
    (b"\xef\xbb\xbf\r\n%PDF-1.4", ContentType.PDF),
    (b"junk of a server\n" * 50 + b"%PDF-1.4", ContentType.PDF),
    (b"junk of a server\n" * 80 + b"%PDF-1.4", ContentType.TEXT),
    (b"<!DOCTYPE html><html>", ContentType.HTML),
    (b"\n\n <!-- \xc3\xbc --> <HTML lang=en>", ContentType.HTML),
    (b'<?xml version="1.0"?><!DOCTYPE html PUBLIC "x"><html>', ContentType.HTML),
    (b"<title>Error</title> %PDF-1.4", ContentType.HTML),
    ("\ufeff<html><body>".encode("utf-16-le"), ContentType.HTML),
    (b'<?xml version="1.0"?><!DOCTYPE article PUBLIC "-//NLM//DTD JATS">', ContentType.JATS),
    (b'<article xmlns:xlink="x"><front>', ContentType.JATS),
    (b'<?xml version="1.0"?><records/>', ContentType.XML),
    (b'<svg xmlns="x">', ContentType.SVG),
    (json.dumps({"a": [1]}).encode(), ContentType.JSON),
    (b"[]", ContentType.JSON),
    (b"[1, 2]", ContentType.JSON),
    (b"[1] A. Author, A Title", ContentType.TEXT),
    (b"plain words", ContentType.TEXT),
    ("Gr\xfc\xdfe".encode("latin-1"), ContentType.TEXT),
    ("\ufeffwords".encode("utf-16-be"), ContentType.TEXT),
    (b"%!PS-Adobe-3.0", ContentType.POSTSCRIPT),
    (b"{\\rtf1\\ansi", ContentType.RTF),
    (zipped("a.txt"), ContentType.ZIP),
    (zipped(), ContentType.ZIP),
    (zipped("OPS/a.html", first=b"application/epub+zip"), ContentType.EPUB),
    (zipped("a", first=b"application/vnd.oasis.opendocument.text"), ContentType.ODT),
    (zipped("[Content_Types].xml", "word/document.xml"), ContentType.DOCX),
    (zipped("[Content_Types].xml", "xl/workbook.xml"), ContentType.XLSX),
    (zipped("[Content_Types].xml", "ppt/presentation.xml"), ContentType.PPTX),
    (gzip.compress(b"x", mtime=0), ContentType.GZIP),
    (image("PNG"), ContentType.PNG),
    (image("JPEG"), ContentType.JPEG),
    (image("GIF"), ContentType.GIF),
    (image("WEBP"), ContentType.WEBP),
    (image("TIFF"), ContentType.TIFF),
    (image("BMP"), ContentType.BMP),
    (b"BM,id,name\n1,2,3\n4,5,6\n", ContentType.TEXT),
    (b"PAR1\x15\0\x15", ContentType.PARQUET),
    (b"PAR1,PAR2\n1,2\n", ContentType.TEXT),
    (b"SQLite format 3\0\x10\0", ContentType.SQLITE),
    (b"RIFF\x24\0\0\0WAVEfmt ", ContentType.UNKNOWN),
    (zipped("a.jpg") + b" letters xl/ by chance", ContentType.ZIP),
    (bytes(range(256)), ContentType.UNKNOWN),
]


@pytest.mark.parametrize(("head", "expected"), SAMPLES)
def test_content_is_known_by_its_first_bytes(head, expected):
    assert content_type_of(head) is expected


@given(st.binary(max_size=HEAD_BYTES))
def test_any_bytes_have_a_type(head):
    assert content_type_of(head) in ContentType


def test_files_of_a_known_type_can_be_named():
    nameless = {each for each in ContentType if not each.extensions}
    assert nameless == {ContentType.EMPTY, ContentType.UNKNOWN, ContentType.OLE}


@pytest.mark.parametrize(
    ("header", "name", "expected"),
    [
        ("application/pdf", "", ContentType.PDF),
        ("Application/PDF; qs=0.001", "download", ContentType.PDF),
        ("application/octet-stream", "Paper.PDF", ContentType.PDF),
        ("text/html; charset=utf-8", "paper.pdf", ContentType.PDF),
        ("text/html; charset=utf-8", "paper", ContentType.HTML),
        ("text/xml", "", ContentType.XML),
        ("image/jpg", "", ContentType.JPEG),
        ("application/octet-stream", "", None),
        ("text/plain", "", None),
        ("application/x-nobody-knows", "", None),
        ("", "", None),
    ],
)
def test_headers_and_names_are_promises(header, name, expected):
    assert stated_type(header, name) is expected
