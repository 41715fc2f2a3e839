"""Secrets are shown once and kept as digests."""

import pytest

from headgate.app.credentials import (
    csrf_token,
    hash_password,
    new_token,
    password_matches,
    token_digest,
)


def test_tokens_differ_and_say_what_they_are():
    one, other = new_token(), new_token()
    assert one.secret.startswith("hg_")
    assert len({one.secret, other.secret, one.id, other.id, one.digest, other.digest}) == 6
    assert one.digest == token_digest(one.secret)
    assert one.secret not in one.digest


def test_a_password_matches_only_its_own_hash():
    kept = hash_password("correct horse")
    assert "correct" not in kept
    assert kept != hash_password("correct horse")
    assert password_matches("correct horse", kept)
    assert not password_matches("Correct horse", kept)


@pytest.mark.parametrize("kept", [None, "", "rubbish", "scrypt$1$2$3$!$!"])
def test_no_password_matches_a_missing_or_damaged_hash(kept: str | None):
    assert not password_matches("", kept)
    assert not password_matches("anything", kept)


def test_the_csrf_token_does_not_reveal_the_cookie():
    secret = new_token().secret
    assert csrf_token(secret) == csrf_token(secret)
    assert csrf_token(secret) not in {token_digest(secret), secret}
