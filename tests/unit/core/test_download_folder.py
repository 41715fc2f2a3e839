"""Names that every file system accepts, close to the suggested ones."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.core.download_folder import LONGEST, file_name, name_with_mark


@pytest.mark.parametrize(
    ("suggested", "extension", "expected"),
    [
        ("paper.pdf", ".pdf", "paper.pdf"),
        ("page.htm", (".html", ".htm"), "page.htm"),
        ("page.php", (".html", ".htm"), "page.php.html"),
        ("Paper.PDF", ".pdf", "Paper.PDF"),
        ("paper", ".pdf", "paper.pdf"),
        ("paper.php", ".pdf", "paper.php.pdf"),
        ("10.1000/xyz:1", ".pdf", "10.1000_xyz_1.pdf"),
        ("../../etc/passwd", "", "_.._etc_passwd"),
        (".htaccess", "", "htaccess"),
        ("-rf", "", "_-rf"),
        ("a\tb\nc  d", "", "a b c d"),
        ("", ".pdf", "file.pdf"),
        ("...", "", "file"),
        ("name. . ", "", "name"),
        ("CON", ".pdf", "_CON.pdf"),
        ("nul.txt", "", "_nul.txt"),
        ("console.txt", "", "console.txt"),
        ("manifest.jsonl", "", "_manifest.jsonl"),
        ("Attempts.csv", "", "_Attempts.csv"),
        ("Gru\u0308n.pdf", "", "Gr\xfcn.pdf"),
        ("fdp\u202e.exe", "", "fdp.exe"),
        ("a\0b\x7f", "", "ab"),
    ],
)
def test_names_are_made_safe(suggested, extension, expected):
    wanted = extension if isinstance(extension, tuple) else (extension,) if extension else ()
    assert file_name(suggested, wanted) == expected


def test_a_long_name_is_cut_and_told_apart_by_its_whole():
    first, second = file_name("\xfc" * 300 + "1.pdf"), file_name("\xfc" * 300 + "2.pdf")
    assert first != second
    assert first.endswith(".pdf")
    assert max(len(name.encode()) for name in (first, second)) <= LONGEST


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a.pdf", "a-12.pdf"), ("a", "a-12"), ("v1. the end", "v1. the end-12"), (".x", ".x-12")],
)
def test_a_mark_stands_before_the_extension(name, expected):
    assert name_with_mark(name, "12") == expected


@given(st.text(), st.sampled_from([(), (".pdf",), (".html", ".htm")]))
def test_any_text_becomes_a_safe_name(suggested, extensions):
    name = file_name(suggested, extensions)
    assert 0 < len(name.encode()) <= LONGEST + 1
    assert not set(name) & set('<>:"/\\|?*\0')
    assert name[0] not in ".- "
    assert name[-1] not in ". "
    assert name.lower().endswith(extensions or ("",))
    assert unicodedata.is_normalized("NFC", name)
    assert file_name(name, extensions) == name
