"""A body is kept only if it is the requested file; otherwise there is a reason."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.core.content_type import ContentType
from headgate.core.verification import (
    BodyCheck,
    Checksum,
    Expected,
    Finding,
    Flaw,
    SizeBounds,
    Unfit,
    check_reply,
    range_start,
    stated_length,
)

PDF = b"%PDF-1.7\n" + b"1 0 obj <<>> endobj\n" * 400 + b"%%EOF\n"
HTML = b"<!doctype html><html><title>Log in</title>" + b"<p>words</p>" * 600 + b"</html>"
MD5 = hashlib.new("md5", PDF, usedforsecurity=False).hexdigest()
A_PDF = Expected(promised=ContentType.PDF)


def judged(content, expected, step=1_000):
    inspection = BodyCheck(expected)
    for place in range(0, len(content), step):
        if finding := inspection.feed(content[place : place + step]):
            return finding.flaw
    digests = {name: hashlib.new(name, content).hexdigest() for name in ("sha256", "md5")}
    finding = inspection.conclude(digests)
    return finding and finding.flaw


@pytest.mark.parametrize(
    ("content", "expected", "flaw"),
    [
        (PDF, A_PDF, None),
        (b"\r\n" + PDF, A_PDF, None),
        (PDF + b"\0" * 1_000, A_PDF, None),
        (PDF, Expected(), None),
        (PDF, Expected(length=len(PDF)), None),
        (b"", Expected(), Flaw.EMPTY),
        (PDF[:-6], A_PDF, Flaw.CUT_OFF),
        (PDF[:-6], Expected(), Flaw.CUT_OFF),
        (PDF[:-6], Expected(length=len(PDF)), Flaw.SIZE_MISMATCH),
        (PDF + b"more", Expected(length=len(PDF)), Flaw.SIZE_MISMATCH),
        (b"%PDF-1.7 %%EOF", A_PDF, Flaw.TOO_SMALL),
        (b"short", Expected(bounds=SizeBounds(min_bytes=6)), Flaw.TOO_SMALL),
        (b"short", Expected(), None),
        (PDF, Expected(bounds=SizeBounds(max_bytes=5_000)), Flaw.TOO_LARGE),
        (HTML, A_PDF, Flaw.HTML_INSTEAD),
        (HTML[:100], A_PDF, Flaw.HTML_INSTEAD),
        (HTML, Expected(promised=ContentType.PNG), Flaw.HTML_INSTEAD),
        (HTML, Expected(allowed=frozenset({ContentType.PDF})), Flaw.HTML_INSTEAD),
        (HTML, Expected(), None),
        (HTML, Expected(promised=ContentType.HTML), None),
        (HTML, Expected(ContentType.PDF, frozenset({ContentType.HTML})), None),
        (b"words " * 1_000, A_PDF, Flaw.WRONG_TYPE),
        (b"words", Expected(promised=ContentType.PNG), None),
        (b"words", Expected(allowed=frozenset({ContentType.JSON})), Flaw.WRONG_TYPE),
        (PDF, Expected(allowed=frozenset({ContentType.PDF, ContentType.XML})), None),
        (PDF, Expected(checksum=Checksum("md5", MD5)), None),
        (PDF, Expected(checksum=Checksum("md5", "0" * 32)), Flaw.CHECKSUM),
        (PDF, Expected(checksum=Checksum("sha1", "0" * 40)), Flaw.CHECKSUM),
    ],
)
@pytest.mark.parametrize("step", [7, 3_000, 100_000])
def test_bodies_are_judged_by_their_content(content, expected, flaw, step):
    assert judged(content, expected, step) == flaw


def fed(content, expected, step):
    """How many bytes were looked at before the rest could be left."""
    inspection = BodyCheck(expected)
    for place in range(0, len(content), step):
        if inspection.feed(content[place : place + step]):
            break
    return inspection.size


def test_a_page_in_disguise_is_seen_long_before_its_end():
    assert fed(HTML * 100, A_PDF, 1_000) == 5_000


def test_an_endless_body_is_left_at_the_limit():
    assert fed(PDF * 100, Expected(bounds=SizeBounds(max_bytes=10_000)), 1_000) == 11_000


@given(st.lists(st.integers(1, 9_000)), st.sampled_from([PDF, HTML, PDF[:-9], b"words"]))
def test_the_verdict_does_not_depend_on_the_pieces(cuts, content):
    inspection = BodyCheck(A_PDF)
    rest, findings = content, []
    for cut in [*cuts, len(content)]:
        findings.append(inspection.feed(rest[:cut]))
        rest = rest[cut:]
    flaws = [each.flaw for each in [*findings, inspection.conclude({})] if each]
    assert (flaws[0] if flaws else None) == judged(content, A_PDF, len(content))
    assert inspection.size == len(content)


def test_accepting_what_is_unfit_raises_with_the_finding():
    inspection = BodyCheck(A_PDF)
    inspection.feed(HTML[:100])
    with pytest.raises(Unfit, match="web page") as caught:
        inspection.accept({})
    assert caught.value.finding == Finding(Flaw.HTML_INSTEAD, "application/pdf was expected")
    assert str(caught.value.finding) == "html-instead: application/pdf was expected"


def test_accepting_what_is_fit_says_nothing():
    inspection = BodyCheck(A_PDF)
    inspection.feed(PDF)
    inspection.accept({})
    assert inspection.content_type is ContentType.PDF


@pytest.mark.parametrize(
    ("status", "expected", "resumed", "flaw"),
    [
        (200, Expected(), False, None),
        (203, Expected(length=5), False, None),
        (206, Expected(), True, None),
        (206, Expected(), False, Flaw.BAD_STATUS),
        (200, Expected(), True, Flaw.BAD_STATUS),
        (404, Expected(), False, Flaw.BAD_STATUS),
        (500, Expected(), False, Flaw.BAD_STATUS),
        (204, Expected(), False, Flaw.BAD_STATUS),
        (200, Expected(length=0), False, Flaw.EMPTY),
        (200, Expected(length=10**10), False, Flaw.TOO_LARGE),
    ],
)
def test_some_replies_need_not_be_read(status, expected, resumed, flaw):
    finding = check_reply(status, expected, resumed=resumed)
    assert (finding and finding.flaw) == flaw


@pytest.mark.parametrize(
    ("status", "headers", "length"),
    [
        (200, {}, None),
        (200, {"content-length": " 12 "}, 12),
        (200, {"content-length": "-1"}, None),
        (200, {"content-length": "\u0663"}, None),
        (200, {"content-length": "12", "content-encoding": "gzip"}, None),
        (200, {"content-length": "12", "content-encoding": "identity"}, 12),
        (206, {"content-length": "2", "content-range": "bytes 10-11/12"}, 12),
        (206, {"content-length": "2", "content-range": "bytes 10-11/*"}, None),
        (206, {"content-length": "2"}, None),
    ],
)
def test_the_length_of_the_whole_is_read_from_the_headers(status, headers, length):
    assert stated_length(status, headers) == length


@pytest.mark.parametrize(
    ("value", "start"), [("bytes 10-11/12", 10), ("bytes */12", None), ("", None)]
)
def test_a_part_says_where_it_begins(value, start):
    assert range_start({"content-range": value}) == start


@pytest.mark.parametrize("prefix", ["", "MD5:", "md5:"])
def test_checksums_are_read_with_and_without_their_names(prefix):
    assert Checksum.parse(prefix + "AB" * 16) == Checksum("md5", "ab" * 16)


@pytest.mark.parametrize("name", ["sha256", "SHA-256"])
def test_a_name_may_be_written_in_either_way(name):
    assert Checksum.parse(f"{name}:{'0' * 64}").algorithm == "sha256"


@pytest.mark.parametrize(
    "text", ["", "md5:", "crc32:01234567", "md5:" + "g" * 32, "sha1:" + "0" * 32]
)
def test_what_is_not_a_checksum_is_refused(text):
    with pytest.raises(ValueError, match="NAME:HEX"):
        Checksum.parse(text)


def test_every_flaw_has_its_sentence():
    assert len({flaw.sentence for flaw in Flaw}) == len(Flaw)
