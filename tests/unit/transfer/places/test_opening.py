"""Which place a URL names."""

import sys

import pytest

from headgate.core.errors import BadSource, UsageError
from headgate.transfer.places.opening import open_place, scheme_of


@pytest.mark.parametrize(
    ("url", "scheme"),
    [
        ("a.csv", ""),
        ("/data/a:b.csv", ""),
        ("C:\\a.csv", ""),
        ("file:///a.csv", "file"),
        ("FOLDER:/in", "folder"),
        ("S3://bucket/key", "s3"),
    ],
)
def test_the_scheme_tells(url: str, scheme: str):
    assert scheme_of(url) == scheme


def test_the_message_for_an_unknown_scheme_names_the_known_ones():
    with pytest.raises(UsageError, match=r"gs://me:\*\*\*@b/k cannot be read; use file, http,"):
        open_place("gs://me:s3cret@b/k")


@pytest.mark.parametrize(
    ("url", "library", "extra"), [("s3://b/k", "s3fs", "s3"), ("sftp://h/x", "paramiko", "sftp")]
)
def test_what_is_not_installed_is_named(monkeypatch, url: str, library: str, extra: str):
    monkeypatch.delitem(sys.modules, f"headgate.transfer.places.{extra}", raising=False)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(UsageError, match=rf'need .*: pip install "headgate\[{extra}\]"'):
        open_place(url)


@pytest.mark.parametrize(
    "url",
    ["s3://", "s3://B/k", "s3://me:s3cret@bucket/k", "s3://a/k", "s3://b_b/k", "s3://arn:aws/k"],
)
def test_a_bucket_has_the_name_of_a_bucket(url: str):
    with pytest.raises(BadSource, match="has no valid bucket") as caught:
        open_place(url).stat(url)
    assert "s3cret" not in str(caught.value)
