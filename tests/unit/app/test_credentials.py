"""Secrets are shown once and kept as digests."""

import pytest

from headgate.app.credentials import csrf_of, digest_of, fits, hash_password, mint


def test_tokens_differ_and_say_what_they_are():
    one, other = mint(), mint()
    assert one.secret.startswith("hg_")
    assert len({one.secret, other.secret, one.id, other.id, one.digest, other.digest}) == 6
    assert one.digest == digest_of(one.secret)
    assert one.secret not in one.digest


def test_a_password_fits_what_was_kept_of_it_and_nothing_else():
    kept = hash_password("correct horse")
    assert "correct" not in kept
    assert kept != hash_password("correct horse")
    assert fits("correct horse", kept)
    assert not fits("Correct horse", kept)


@pytest.mark.parametrize("kept", [None, "", "rubbish", "scrypt$1$2$3$!$!"])
def test_nothing_fits_what_is_not_there_or_damaged(kept: str | None):
    assert not fits("", kept)
    assert not fits("anything", kept)


def test_the_proof_of_a_page_does_not_show_the_cookie():
    secret = mint().secret
    assert csrf_of(secret) == csrf_of(secret)
    assert csrf_of(secret) not in {digest_of(secret), secret}
