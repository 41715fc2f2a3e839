"""The config of a download job, and the messages for invalid ones."""

import pytest

from headgate.core.content_type import ContentType
from headgate.core.errors import UsageError
from headgate.handlers.download.config import DownloadConfig, parse, types_named
from headgate.handlers.download.handler import DownloadDeps, host_of, of_config
from headgate.handlers.download.resolvers.options import ResolverPolicy
from headgate.handlers.registry import resolve


def test_a_folder_is_all_that_is_needed():
    config = parse({"out": "/papers"})
    assert config == DownloadConfig("/papers")
    assert (config.allowed, config.bounds.min_pdf_bytes) == (frozenset(), 1_024)


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({}, "needs `out`"),
        ({"out": ""}, "needs `out`"),
        ({"out": "papers"}, "must be an absolute path"),
        ({"out": "/a\0b"}, "must be an absolute path"),
        ({"out": 5}, "Expected `str`, got `int` - at `out`"),
        ({"out": "/a", "colour": "red"}, "unknown field `colour`"),
        ({"out": "/a", "email": "nobody"}, "at `email`"),
        ({"out": "/a", "types": ["pdg"]}, "unknown type 'pdg'; the types are pdf, html"),
        ({"out": "/a", "min_bytes": -1}, "at `min_bytes`"),
        ({"out": "/a", "min_bytes": 9, "max_bytes": 8}, "max_bytes is less than min_bytes"),
        ({"out": "/a", "names": "odd"}, "at `names`"),
        ({"out": "/a", "resolvers": ["unpaywal"]}, "did you mean unpaywall?"),
        ({"out": "/a", "resolvers": ["unpaywall"]}, "needs an e-mail address"),
        ({"out": "/a", "resolvers": ["core"]}, "needs a key: set CORE_API_KEY"),
    ],
)
def test_invalid_options_are_reported_before_anything_is_fetched(config, words):
    with pytest.raises(UsageError) as caught:
        resolve("download").configured(config)
    assert words in str(caught.value)


def test_types_go_by_ending_or_by_media_type():
    assert types_named("pdf") == types_named(".PDF") == types_named("application/pdf")
    assert types_named("pdf") == (ContentType.PDF,)
    assert set(types_named("xml")) == {ContentType.XML, ContentType.JATS}
    assert types_named("nonsense") == ()


def test_an_address_of_the_settings_holds_where_the_job_has_none():
    known = DownloadDeps(ResolverPolicy(email="all@example.org"))
    spec = of_config({"out": "/a", "resolvers": ["unpaywall"]}, known)
    assert "unpaywall" in spec.providers
    assert spec.provider == "files"
    assert spec.guarded


def test_rows_wait_for_the_host_of_their_url_and_others_for_none():
    assert host_of({"url": "HTTPS://Example.ORG:443/a.pdf"}) == "example.org"
    assert host_of({"id": "http://example.org:8080/a"}) == "example.org:8080"
    assert host_of({"doi": "10.5555/abc"}) == ""
    assert host_of({"title": "nothing"}) == ""
    assert host_of({"url": "http://[broken/"}) == ""
