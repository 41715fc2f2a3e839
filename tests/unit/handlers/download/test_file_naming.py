"""What files are called."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.core.content_type import ContentType
from headgate.handlers.download.config import NameStyle
from headgate.handlers.download.expected import disposition_name, name_for
from headgate.handlers.download.identifier import read_identifier

DOI = read_identifier("10.5555/abc(1)")
URL = read_identifier("https://example.org/a/full%20text.pdf?x=1")


@pytest.mark.parametrize(
    ("identifier", "style", "told", "name"),
    [
        (DOI, NameStyle.AUTO, 'filename="x.pdf"', "10.5555_abc(1).pdf"),
        (DOI, NameStyle.SERVER, 'filename="x.pdf"', "x.pdf"),
        (DOI, NameStyle.SERVER, "", "b.pdf"),
        (URL, NameStyle.AUTO, 'attachment; filename="x.pdf"', "x.pdf"),
        (URL, NameStyle.AUTO, "", "b.pdf"),
        (URL, NameStyle.IDENTIFIER, 'filename="x.pdf"', "full text.pdf"),
    ],
)
def test_names_follow_the_style(identifier, style, told, name):
    found = name_for(identifier, style, "https://host.example/b.pdf", told, ContentType.PDF)
    assert found == name


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("", ""),
        ("inline", ""),
        ("attachment; filename=plain.pdf", "plain.pdf"),
        ('attachment; filename="with \\"quotes\\".pdf"', 'with "quotes".pdf'),
        ("attachment; filename=\"a.pdf\"; filename*=UTF-8''%C3%A4.pdf", "ä.pdf"),
        ("attachment; filename*=unknown''%C3%A4.pdf; filename=b.pdf", "b.pdf"),
        ("attachment; filename*=utf-8''%FF.pdf; filename=b.pdf", "b.pdf"),
        ('attachment; filename="C:\\\\dir\\\\c.pdf"', "c.pdf"),
        ('attachment; filename="/etc/passwd"', "passwd"),
        ("attachment; filename=Gr\xc3\xb6\xc3\x9fe.pdf", "Größe.pdf"),
    ],
)
def test_the_name_in_a_header(header, name):
    assert disposition_name(header) == name


@given(st.text(max_size=300))
def test_no_header_leads_out_of_the_folder(header):
    for told in (header, f'attachment; filename="{header}"', f"x; filename*=utf-8''{header}"):
        name = name_for(URL, NameStyle.SERVER, "https://h.example/", told, ContentType.PDF)
        assert "/" not in name
        assert name not in {"", ".", ".."}
        assert not name.startswith(".")
