"""Failures that say the same but for particulars are of one kind."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.core.fault import REASON_LIMIT
from headgate.core.signature import SIGNATURE_LIMIT, VARIANT_LIMIT, kind_of, parts_of, signature_of

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
    ("row 404: bad", "row 17: bad"),
    ("returned 200 rows", "returned 12 rows"),
    ("no answer within 500 ms", "no answer within 30 ms"),
    ("zip code 20095 is unknown", "zip code 80331 is unknown"),
    ("product 403 has no price", "product 7 has no price"),
]
UNLIKE = [
    ("no answer within 30 s", "no route within 30 s"),
    ("the host's name is unknown", "the host's port is closed"),
    ("connection reset", "connection refused"),
    ("decided by default", "defaced by decided"),
    ("https://a.example/1 answered 401", "https://a.example/2 answered 403"),
    ("HTTP 500 from https://a.example/1", "HTTP 503 from https://a.example/1"),
    ("the service replied with status code: 400", "the service replied with status code: 402"),
    ("404 Client Error: Not Found for url: http://a.example", "410 Client Error: Gone for url: x"),
    ("shop: 409", "shop: 423"),
    ("upstream failed (502)", "upstream failed (504)"),
    ("exit code 1", "exit code 137"),
    ("[Errno 111] refused", "[Errno 113] refused"),
    ("killed by signal 9", "killed by signal 11"),
]


@pytest.mark.parametrize(("one", "another"), ALIKE)
def test_values_of_single_rows_make_no_difference(one, another):
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
    assert signature == "transient: HTTP 503 from <url> for <value> after <n> tries"


@pytest.mark.parametrize(
    ("one", "another"),
    [
        ("KeyError: 'birth_date'", "KeyError: 'surname'"),
        ('no field "a b" in the answer', 'no field "c" in the answer'),
        ("unknown country `XK`", "unknown country `DE`"),
    ],
)
def test_a_quoted_name_makes_a_variant(one, another):
    (signature, variant), (same, other) = kind_of("permanent", one), kind_of("permanent", another)
    assert signature == same
    assert variant == f"permanent: {one}"
    assert other == f"permanent: {another}"


def test_a_long_quotation_is_not_a_variant():
    assert kind_of("permanent", f"bad text '{'x' * 200}' here")[1] is None


@given(st.sampled_from(["timeout", "bad_row"]), st.text("ab'\"`0 :/@", max_size=600))
def test_a_group_is_found_by_the_name_that_it_is_shown_under(error_class, reason):
    signature, variant = kind_of(error_class, reason)
    assert parts_of(variant or signature) == (signature, variant)
    assert len(variant or "") <= VARIANT_LIMIT


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
