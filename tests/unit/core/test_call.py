"""The record of a call has its target, and no secret."""

import pytest

from headgate.core.call import LONGEST_URL, url_for_record


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("https://host.example/a/b", "https://host.example/a/b"),
        ("https://host.example/a?page=2", "https://host.example/a?page=2"),
        (
            "https://host.example/a?api_key=s3cret&page=2",
            "https://host.example/a?api_key=***&page=2",
        ),
        ("https://me:s3cret@host.example/a", "https://me:***@host.example/a"),
        ("https://me:s3cret@host.example", "https://me:***@host.example"),
        ("https://s3cret@host.example/@me", "https://***@host.example/@me"),
        ("https://host.example/a#token=s3cret", "https://host.example/a#token=***"),
        ("https://host.example/?key=a@b&q=1", "https://host.example/?key=***&q=1"),
        ("https://host.example/@me", "https://host.example/@me"),
        (
            "https://host.example/works?mailto=me@example.org",
            "https://host.example/works?mailto=me@example.org",
        ),
    ],
)
def test_a_url_is_kept_without_its_secrets(url: str, kept: str):
    assert url_for_record(url) == kept


def test_a_url_is_cut_at_a_sane_length():
    assert len(url_for_record("https://host.example/" + "a" * 10_000)) == LONGEST_URL
