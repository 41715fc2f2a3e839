"""Failures that say the same but for particulars are of one kind."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.core.fault import REASON_LIMIT
from headgate.core.signature import SIGNATURE_LIMIT, signature_of

ALIKE = [
    ("no answer within 30 s", "no answer within 2.5 s"),
    ("HTTP 503 from https://a.example/x?id=1", "HTTP 503 from http://b.example:8080/y/z#top"),
    ("KeyError: 'sku'", 'KeyError: "price"'),
    ("row 17: 3 columns, not 4", "row 100,018: 12 columns, not 4"),
    ("trace 4cf92f3577c34da6a3ce929d0e0e4736", "trace 00f067aa0c0902d7"),
    (
        "request 123e4567-e89b-12d3-a456-426614174000 failed",
        "request 00000000-0000-0000-0000-0000000000ff failed",
    ),
    ("cannot read /data/in/a.csv", "cannot read /srv/b.csv"),
    ("cannot read C:\\data\\a.csv", "cannot read ../x/y.csv"),
    ("no mailbox ann@example.org", "no mailbox bob.b@mail.example.com"),
    ("order AB12-99X1 is closed", "order ZZ77-01Q9 is closed"),
    ("at 2026-11-16 08:00:01", "at 2025-01-02 23:59:59"),
    ("object at 0x7f10c522d850", "object at 0x7f10c5220000"),
    ("two\n  lines", "two lines"),
]
UNLIKE = [
    ("no answer within 30 s", "no route within 30 s"),
    ("the host's name is unknown", "the host's port is closed"),
    ("connection reset", "connection refused"),
    ("decided by default", "defaced by decided"),
]


@pytest.mark.parametrize(("one", "another"), ALIKE)
def test_particulars_make_no_difference(one, another):
    assert signature_of("timeout", one) == signature_of("timeout", another)


@pytest.mark.parametrize(("one", "another"), UNLIKE)
def test_other_words_make_a_difference(one, another):
    assert signature_of("timeout", one) != signature_of("timeout", another)


def test_another_class_makes_a_difference():
    assert signature_of("timeout", "no answer") != signature_of("permanent", "no answer")


def test_words_stay_readable():
    signature = signature_of(
        "transient", "HTTP 503 from https://a.example/x for 'A 1' after 3 tries"
    )
    assert signature == "transient: HTTP <n> from <url> for <value> after <n> tries"


@pytest.mark.parametrize("reason", [None, "", "  \n"])
def test_without_words_the_class_is_the_kind(reason):
    assert signature_of("poison", reason) == "poison"


@given(st.sampled_from(["timeout", "bad_row"]), st.text(max_size=REASON_LIMIT))
def test_it_is_short_and_settled(error_class, reason):
    signature = signature_of(error_class, reason)
    assert len(signature) <= SIGNATURE_LIMIT
    assert signature.startswith(error_class)
    assert signature == signature_of(error_class, reason)


@pytest.mark.parametrize(
    "text", ["a" * 2_000, "'" * 2_000, "/a" * 1_000, "1a" * 1_000, "a@" * 1_000]
)
def test_no_reason_takes_long(text):
    for _ in range(50):
        signature_of("permanent", text)
